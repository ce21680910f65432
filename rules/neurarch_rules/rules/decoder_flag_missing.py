from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place, Related
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.fixes import set_value
from neurarch_rules.facts.places import place
from neurarch_rules.facts.sources import config_type

RULE = RuleInfo(
    name="decoder-flag-missing",
    severity="warning",
    category="correctness",
    summary="A causal head on an encoder whose is_decoder is not true: attention sees the future",
    needs=("LMHeadModel", "ForCausalLM"),
)


def check(context: Context) -> Iterator[Finding]:
    config = context.analysis.config
    record = None if config is None else config_type(config)
    if config is None or record is None or not config.architecture.endswith(("LMHeadModel", "ForCausalLM")):
        return
    if "is_decoder" not in record.properties or record.declared.get("is_decoder") is not False:
        return
    if not any(name.endswith("ForMaskedLM") for name in record.classes) or config.get("is_decoder") is True:
        return
    yield Finding(
        f"{config.architecture} without is_decoder attends in both directions: a causal language model that sees the "
        "tokens it "
        "has to predict",
        place(config, "is_decoder"),
        (Related(Place("/architectures"), f"architectures names {config.architecture}"),),
        set_value(context.analysis, "", "is_decoder", True, "is_decoder = true", "unsafe"),
    )
