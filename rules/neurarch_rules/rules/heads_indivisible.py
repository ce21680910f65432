from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Severity
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import geometry, versions
from neurarch_rules.facts.defaults import are_defaults
from neurarch_rules.facts.places import configs, integer, is_written, place, related
from neurarch_rules.facts.words import divisors, either
from neurarch_schemas.catalogue.load import indivisible_heads
from neurarch_schemas.config.model_config import ModelConfig

RULE = RuleInfo(
    name="heads-indivisible",
    severity="error",
    category="correctness",
    summary="hidden_size is not a multiple of the number of attention heads and no head_dim says otherwise",
    reads=("config", "params"),
)


def check(context: Context) -> Iterator[Finding]:
    for config in configs(context):
        yield from _decoder_heads(config)
        hidden, heads = geometry.hidden_size(config), geometry.heads(config)
        if hidden is None or heads is None or heads.value <= 0 or hidden.value <= 0 or hidden.value % heads.value == 0:
            continue
        if geometry.is_latent(config) or are_defaults(config, hidden.key, heads.key):
            continue
        if not (is_written(config, hidden.key) or is_written(config, heads.key)):
            continue
        found = _finding(context, config, hidden, heads)
        if found is not None:
            yield found


def _decoder_heads(config: ModelConfig) -> Iterator[Finding]:
    """Encoder-decoder families give the decoder its own number of heads."""
    hidden, heads = integer(config, "d_model", "hidden_size"), integer(config, "decoder_attention_heads")
    if hidden is None or heads is None or heads <= 0 or hidden % heads == 0:
        return
    if not is_written(config, "decoder_attention_heads") or integer(config, "d_kv") is not None:
        return
    yield Finding(
        f"{hidden} / {heads} decoder heads is not a whole head size: the decoder cannot be built",
        place(config, "decoder_attention_heads"),
        (related(config, "d_model"),),
        severity=None if config.is_native else "warning",
    )


def _finding(context: Context, config: ModelConfig, hidden: geometry.Named, heads: geometry.Named) -> Finding | None:
    explicit = _explicit_head_dim(config)
    others = [related(config, hidden.key)]
    if explicit is not None:
        if config.model_type not in indivisible_heads("refused"):
            return None
        if versions.excludes(context, versions.V5):
            return None
        return Finding(
            f"{heads.value} heads of {explicit} are fine, but transformers 5 refuses this model type when hidden_size "
            f"({hidden.value}) is not a multiple of {heads.value}: where that head count is meant, keep "
            "transformers below 5 or publish under a type that accepts an explicit head_dim",
            place(config, heads.key),
            tuple(others),
            severity="warning",
        )
    if any(_is_own(config, key) for key in ("head_dim", "kv_channels", "attention_head_size", "d_kv", "head_size")):
        return None
    severity: Severity = "error"
    if not config.is_native or config.model_type in indivisible_heads("floored"):
        severity = "warning"
    floor = hidden.value // heads.value
    used = f"{heads.value * floor} of {hidden.value} are used"
    consequence = "the model cannot be built" if severity == "error" else used
    legal = [count for count in divisors(hidden.value) if abs(count - heads.value) <= max(8, heads.value // 2)]
    advice = f"{either(legal[:6])} heads divide it" if legal else "change one of them"
    if "head_dim" in config or not config.is_native:
        others.append(related(config, "head_dim", "an explicit head_dim would settle the size of a head"))
        advice += ", or head_dim says how large a head is"
    return Finding(
        f"{hidden.value} / {heads.value} heads is not a whole head size ({consequence}); " + advice,
        place(config, heads.key),
        tuple(others),
        severity=severity,
    )


def _explicit_head_dim(config: ModelConfig) -> int | None:
    return integer(config, "head_dim") if is_written(config, "head_dim") else None


def _is_own(config: ModelConfig, key: str) -> bool:
    """Given or a constant of the class, and not computed from hidden_size."""
    setting = config.setting(key)
    return setting is not None and setting.origin != "derived" and integer(config, key) is not None
