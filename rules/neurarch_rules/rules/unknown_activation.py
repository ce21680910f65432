from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.fixes import replace_value
from neurarch_rules.facts.places import configs, place
from neurarch_rules.facts.sources import readers
from neurarch_rules.facts.spelling import closest
from neurarch_rules.facts.words import quoted
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.config.refusals.activations import ACTIVATIONS
from neurarch_schemas.config.setting import Setting

RULE = RuleInfo(
    name="unknown-activation",
    severity="error",
    category="correctness",
    summary="An activation function that transformers does not have",
    aliases=("activation-unknown",),
    about="key",
)

KEYS = (*ACTIVATIONS, "scoring_func")


def check(context: Context) -> Iterator[Finding]:
    if context.analysis.config is None:
        return
    for config in configs(context):
        yield from _feed_forward(config)
    from neurarch_schemas.catalogue.load import enumerations

    known = [str(name) for name in enumerations()["activations"]]
    for config in configs(context):
        if not config.is_native:
            continue
        for key in KEYS:
            setting = config.setting(key)
            if (
                setting is None
                or setting.pointer is None
                or not isinstance(setting.value, str)
                or setting.value in known
            ):
                continue
            if readers(config, key) == ():
                continue
            guess = _guess(setting, known)
            yield Finding(
                f"transformers has no activation {quoted(setting.value)}, so {config.model_type} cannot be built"
                + (f": did you mean {quoted(guess)}?" if guess else "; register it before loading or use one it has"),
                place(config, key),
                fixes=replace_value(context.analysis, setting.pointer, guess, f'{key} = "{guess}"', "unsafe")
                if guess
                else (),
            )


def _feed_forward(config: ModelConfig) -> Iterator[Finding]:
    """T5 and its family say in one word whether the feed-forward is gated and by which activation: "gated-gelu"."""
    from neurarch_schemas.catalogue.load import enumerations

    setting = config.setting("feed_forward_proj")
    if not config.is_native or setting is None or setting.pointer is None or not isinstance(setting.value, str):
        return
    first, _, last = setting.value.partition("-")
    if (not last or first == "gated") and (last or first) in map(str, enumerations()["activations"]):
        return
    yield Finding(
        f"feed_forward_proj {quoted(setting.value)} is refused: it is an activation transformers has, or that behind "
        '"gated-", as in "gated-gelu"',
        place(config, "feed_forward_proj"),
    )


def _guess(setting: Setting, known: list[str]) -> str | None:
    value = str(setting.value).lower()
    return value if value in known else closest(value, known)
