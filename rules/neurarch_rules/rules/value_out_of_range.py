from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place, Related, Severity
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import geometry
from neurarch_rules.facts.places import as_written, configs, integer, is_written, number, place, related, whole_number
from neurarch_rules.facts.sources import config_type, readers
from neurarch_rules.facts.words import quoted
from neurarch_schemas.config.check_types import is_within
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.documents.json_value import JSONValue
from neurarch_schemas.documents.pointer import join_pointer

RULE = RuleInfo(
    name="value-out-of-range",
    severity="error",
    category="correctness",
    summary="A size, probability or scale outside what it can be",
    reads=("config", "params"),
    aliases=("out-of-range",),
)

POSITIVE = (
    "hidden_size",
    "num_attention_heads",
    "num_key_value_heads",
    "head_dim",
    "vocab_size",
    "max_position_embeddings",
    "embedding_size",
    "num_hidden_groups",
    "block_size",
    "query_pre_attn_scalar",
    "conv_L_cache",
    "linear_conv_kernel_dim",
    "mamba_d_conv",
    "conv_kernel",
)
NOT_NEGATIVE = (
    "num_hidden_layers",
    "intermediate_size",
    "moe_intermediate_size",
    "qk_nope_head_dim",
    "v_head_dim",
    "kv_lora_rank",
    "n_shared_experts",
    "n_routed_experts",
    "num_experts",
    "num_local_experts",
    "num_nextn_predict_layers",
    "q_lora_rank",
    "qk_rope_head_dim",
)
"""Sizes of parts that are left out where they are 0."""
EPSILONS = ("rms_norm_eps", "layer_norm_eps", "layer_norm_epsilon", "norm_eps", "norm_epsilon")


def check(context: Context) -> Iterator[Finding]:
    if context.analysis.kind == "params":
        yield from _params(context.analysis.document.data)
    for config in configs(context):
        for name in (*POSITIVE, *NOT_NEGATIVE):
            yield from _size(config, name)
        for name in config.settings:
            if name.endswith(("dropout", "dropout_prob", "dropout_rate", "pdrop")):
                yield from _probability(config, name)
        for name in EPSILONS:
            value = _written_number(config, name)
            if value is not None and not 0 < value < 1:
                yield Finding(
                    f"{name} {value:g} must be a small positive number: norms divide by a root of the variance plus it",
                    place(config, name),
                    severity="warning",
                )
        yield from _soft_caps(config)
        yield from _patches(config)
        yield from _windows(config)
        yield from _draft_vocabulary(config)
        value = _written_number(config, "initializer_range")
        if value is not None and not 0 <= value <= 1 and not _is_refused(config, "initializer_range", value):
            yield Finding(
                f"initializer_range {value:g} is a standard deviation between 0 and 1",
                place(config, "initializer_range"),
                severity="warning",
            )


PARAMS = ("dim", "n_layers", "n_heads", "n_kv_heads", "head_dim", "hidden_dim", "vocab_size", "multiple_of")
"""Whole numbers of a params.json, which no schema describes."""


def _params(data: JSONValue) -> Iterator[Finding]:
    if not isinstance(data, dict):
        return
    for name in PARAMS:
        value = data.get(name)
        if value is not None and whole_number(value) is None:
            yield Finding(f"{name} must be a whole number, not {quoted(value)}", Place(join_pointer("", name)))
    moe = data.get("moe")
    if not isinstance(moe, dict):
        return
    count, chosen = whole_number(moe.get("num_experts")), whole_number(moe.get("num_experts_per_tok"))
    if count is not None and chosen is not None and not 0 < chosen <= count:
        yield Finding(
            f"{chosen} experts per token of {count}: the router takes the best of the experts there are",
            Place("/moe/num_experts_per_tok"),
            (Related(Place("/moe/num_experts"), f"num_experts is {count}"),),
        )


def _soft_caps(config: ModelConfig) -> Iterator[Finding]:
    for name in ("attn_logit_softcapping", "final_logit_softcapping"):
        value = _written_number(config, name)
        if value is not None and value <= 0 and config.is_native and readers(config, name):
            yield Finding(
                f"{name} is {value:g}: scores are divided by it and become NaN; null switches it off",
                place(config, name),
                severity="warning",
            )
    scaling = _written_number(config, "logits_scaling")
    if scaling is not None and scaling <= 0 and config.is_native and readers(config, "logits_scaling"):
        yield Finding(
            f"logits_scaling is {scaling:g}: the logits are divided by it"
            + (", nothing finite is left" if scaling == 0 else ", the likeliest token becomes the least likely"),
            place(config, "logits_scaling"),
            severity="warning",
        )


def _patches(config: ModelConfig) -> Iterator[Finding]:
    size, patch = integer(config, "image_size"), integer(config, "patch_size")
    if size is None or patch is None or patch <= size or size <= 0 or not config.is_native:
        return
    if is_written(config, "patch_size") or is_written(config, "image_size"):
        yield Finding(
            f"patch_size {patch} is larger than the image of {size} x {size}: not one patch can be cut",
            place(config, "patch_size"),
            (related(config, "image_size"),),
        )


def _windows(config: ModelConfig) -> Iterator[Finding]:
    """Longformer attends to as many tokens on either side."""
    setting = as_written(config, "attention_window")
    if config.model_type not in ("longformer", "led") or setting is None or setting.pointer is None:
        return
    sizes = setting.value if isinstance(setting.value, list) else [setting.value]
    wrong = [size for item in sizes if (size := whole_number(item)) is not None and (size <= 0 or size % 2)]
    if wrong:
        yield Finding(
            f"attention_window {wrong[0]} must be a positive even number, half of it on either side: the model "
            "cannot be built",
            place(config, "attention_window"),
        )


def _draft_vocabulary(config: ModelConfig) -> Iterator[Finding]:
    """A drafting model scores some tokens of the vocabulary it shares with its target."""
    drafted, rows = _written_number(config, "draft_vocab_size"), integer(config, "vocab_size")
    if drafted is not None and rows is not None and drafted > rows > 0:
        yield Finding(
            f"draft_vocab_size {drafted:,.0f} is more than the {rows:,} tokens of the vocabulary it is a part of: "
            "tokens are drafted that the target does not have",
            place(config, "draft_vocab_size"),
            (related(config, "vocab_size"),),
            severity="warning",
        )


def _written_number(config: ModelConfig, name: str) -> float | None:
    setting = as_written(config, name)
    return number(setting.value) if setting is not None and setting.pointer is not None else None


def _is_refused(config: ModelConfig, name: str, value: float) -> bool:
    """The class declares the range itself, and wrong-type says so."""
    record = config_type(config)
    return record is not None and not is_within(record.properties.get(record.canonical(name), {}), value)


def _size(config: ModelConfig, name: str) -> Iterator[Finding]:
    value = _written_number(config, name)
    if (
        value is None
        or value > 0
        or _is_refused(config, name, value)
        or (value == 0 and name in NOT_NEGATIVE and not _is_needed(config, name))
    ):
        return
    if (value == -1 and not config.is_native) or (name == "head_dim" and value == 0 and geometry.is_latent(config)):
        return
    severity: Severity | None = None if config.is_native else "warning"
    if name == "max_position_embeddings":
        severity = "warning"
    yield Finding(
        f"{name} is {value:g}: it must be at least 1"
        + (", and no model can be built and run with it" if severity is None else ""),
        place(config, name),
        severity=severity,
    )


def _is_needed(config: ModelConfig, name: str) -> bool:
    """Latent attention has no values without their size."""
    return name == "v_head_dim" and config.is_native and (integer(config, "kv_lora_rank") or 0) > 0


def _probability(config: ModelConfig, name: str) -> Iterator[Finding]:
    value = _written_number(config, name)
    if value is not None and not 0 <= value <= 1:
        yield Finding(
            f"{name} {value:g} is a probability and must lie between 0 and 1",
            place(config, name),
            severity=None if config.is_native else "warning",
        )
