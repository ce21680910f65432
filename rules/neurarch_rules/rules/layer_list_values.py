from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Related
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import geometry
from neurarch_rules.facts.places import as_written, configs, place, related
from neurarch_rules.facts.sources import config_type
from neurarch_rules.facts.spelling import closest
from neurarch_rules.facts.words import either, listed, quoted
from neurarch_schemas.config.model_config import ModelConfig

RULE = RuleInfo(
    name="layer-list-values",
    severity="error",
    category="correctness",
    summary="A per-layer list names a layer type that does not exist, or an index that is no layer",
    needs=("_types", "mlp_only_layers", "full_attn_idxs", "layer_indices", "moe_layers", "_pattern"),
)

INDICES = ("mlp_only_layers", "full_attn_idxs", "attn_layer_indices", "moe_layers", "attention_layer_indices")
LETTERS = {"M": "state space", "*": "attention", "-": "feed-forward", "E": "experts"}
SHARING = ("indexer_types",)


def check(context: Context) -> Iterator[Finding]:
    for config in configs(context):
        if config.is_native:
            for name, allowed in _allowed().items():
                yield from _entries(config, name, [*allowed, *_of_its_own(config, name)])
        yield from _letters(config)
        for name in SHARING:
            yield from _first_shared(config, name)
        for name in INDICES:
            yield from _indices(config, name)


def _letters(config: ModelConfig) -> Iterator[Finding]:
    """A string with one letter a layer."""
    setting = as_written(config, "hybrid_override_pattern")
    if not config.is_native or setting is None or setting.pointer is None or not isinstance(setting.value, str):
        return
    unknown = sorted(set(setting.value) - LETTERS.keys() - {"|"})
    if unknown:
        known = either([f"{letter} ({kind})" for letter, kind in LETTERS.items()])
        yield Finding(
            f"hybrid_override_pattern has the letter {listed([quoted(letter) for letter in unknown])}, which stands "
            f"for no layer: it may be {known}",
            place(config, "hybrid_override_pattern"),
        )


def _allowed() -> dict[str, list[str]]:
    from neurarch_schemas.catalogue.load import enumerations

    known = enumerations()
    return {
        "layer_types": [*known["layer_types"], *known["legacy_layer_types"]],
        "mlp_layer_types": list(known["mlp_layer_types"]),
    }


def _of_its_own(config: ModelConfig, name: str) -> list[str]:
    """Words of a class that has a vocabulary of its own: those it fills in by itself."""
    record = config_type(config)
    values = None if record is None else record.resolved.get(name)
    return list(dict.fromkeys(map(str, values))) if isinstance(values, list | tuple) else []


def _entries(config: ModelConfig, name: str, allowed: list[str]) -> Iterator[Finding]:
    setting = as_written(config, name)
    if setting is None or setting.pointer is None or not isinstance(setting.value, list):
        return
    wrong = [(at, value) for at, value in enumerate(setting.value) if value not in allowed]
    if not wrong:
        return
    at, value = wrong[0]
    guess = closest(value, allowed, 3) if isinstance(value, str) else None
    hint = f": did you mean {quoted(guess)}?" if guess else f"; it may be {either([quoted(item) for item in allowed])}"
    more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
    yield Finding(
        f"{quoted(value)} is not a layer type transformers knows{more}{hint}",
        place(config, name, at),
        tuple(Related(place(config, name, other), f"{quoted(item)} too") for other, item in wrong[1:4]),
    )


def _first_shared(config: ModelConfig, name: str) -> Iterator[Finding]:
    setting = as_written(config, name)
    if setting is None or setting.pointer is None or not isinstance(setting.value, list) or not setting.value:
        return
    if setting.value[0] == "shared":
        yield Finding(
            f"the first entry of {name} is shared, but there is no layer before it whose indexer it could use",
            place(config, name, 0),
            severity=None if config.is_native else "warning",
        )


def _indices(config: ModelConfig, name: str) -> Iterator[Finding]:
    setting, depth = as_written(config, name), geometry.layers(config)
    if setting is None or setting.pointer is None or not isinstance(setting.value, list) or depth is None:
        return
    beyond = [item for item in setting.value if isinstance(item, int) and not -depth.value <= item < depth.value]
    if beyond:
        yield Finding(
            f"{name} names layer {listed(beyond, 4)}, but layers go from 0 to {depth.value - 1}: the entry has no "
            "effect",
            place(config, name),
            (related(config, depth.key),),
            severity="warning",
        )
