from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import geometry
from neurarch_rules.facts.decoder import decoder_config
from neurarch_rules.facts.places import integer, is_written, place, related
from neurarch_rules.facts.widths import feed_forward_widths
from neurarch_rules.facts.words import divisors, either

RULE = RuleInfo(
    name="tensor-parallel-indivisible",
    severity="error",
    category="serving",
    summary="A size that cannot be split evenly over the tensor-parallel ranks",
    reads=("config", "params"),
    aliases=("tp-heads", "tp-kv-heads", "tp-vocab"),
    when="serving",
)

PADDING_ENGINES = ("vllm", "sglang", "tensorrt-llm", "trtllm")
"""Engines that pad the vocabulary to a multiple of 64 per rank."""

VISION = ("vision_config", "visual", "vit_config", "vision_tower_config")
REFUSED = ("qwen2_vl", "qwen2_5_vl", "qwen3_vl", "qwen3_5")
"""Towers whose heads vLLM divides without a fallback ("16 is not divisible by 3", its pull request 57119)."""


def check(context: Context) -> Iterator[Finding]:
    ranks = context.options.serving.tensor_parallel
    config = decoder_config(context)
    if ranks is None or ranks <= 1 or config is None:
        return
    heads, kv_heads = geometry.heads(config), geometry.kv_heads(config)
    legal: set[int] | None = None
    if heads is not None and heads.value > 0:
        legal = set(divisors(heads.value))
        if heads.value % ranks:
            yield Finding(
                f"{heads.value} attention heads cannot be split over {ranks} ranks: tensor-parallel may be "
                f"{either(_small(divisors(heads.value)))}",
                place(config, heads.key),
            )
    if kv_heads is not None and heads is not None and kv_heads.value > 0 and not geometry.is_latent(config):
        shared = {count for count in range(1, 65) if kv_heads.value % count == 0 or count % kv_heads.value == 0}
        if ranks not in shared and kv_heads.value != heads.value:
            choices = sorted(shared & (legal or shared))
            yield Finding(
                f"{kv_heads.value} KV heads can neither be split over {ranks} ranks nor copied to them evenly: "
                "tensor-parallel may "
                f"be {either(_small(choices))}",
                place(config, kv_heads.key),
                (related(config, heads.key),),
            )
    for width in feed_forward_widths(context, config):
        if width.value % ranks:
            yield Finding(
                f"the feed-forward width {width.value} cannot be split over {ranks} ranks: tensor-parallel may be "
                f"{either(_small([count for count in divisors(width.value) if legal is None or count in legal]))}",
                place(config, width.key),
            )
    for key in ("linear_num_key_heads", "linear_num_value_heads", "mamba_n_heads", "mamba_num_heads"):
        count = integer(config, key)
        if count is not None and count > 0 and count % ranks and is_written(config, key):
            yield Finding(
                f"{count} heads of the linear-attention or state-space layers cannot be split over {ranks} ranks: "
                f"tensor-parallel may be {either(_small([n for n in divisors(count) if legal is None or n in legal]))}",
                place(config, key),
            )
    yield from _vision(context, ranks)
    vocabulary = integer(config, "vocab_size")
    engine = (context.options.serving.engine or "").lower()
    if vocabulary is not None and vocabulary % ranks and engine not in PADDING_ENGINES:
        padded = -(-vocabulary // (64 * ranks)) * 64 * ranks
        yield Finding(
            f"{vocabulary:,} rows of the embedding cannot be split over {ranks} ranks ({vocabulary:,} % {ranks} = "
            f"{vocabulary % ranks}); pad it to {padded:,}, or use an engine that pads (vLLM, SGLang)",
            place(config, "vocab_size"),
        )


def _vision(context: Context, ranks: int) -> Iterator[Finding]:
    """Engines split the attention of a vision tower too."""
    config = context.analysis.config
    for key in VISION:
        tower = config.nested.get(key) if config is not None else None
        heads = geometry.heads(tower) if tower is not None else None
        if tower is None or heads is None or heads.value <= 0 or heads.value % ranks == 0:
            continue
        yield Finding(
            f"{heads.value} attention heads of the vision tower cannot be split over {ranks} ranks: depending on "
            "tower and release, engines pad them, copy the tower to every rank or stop at start; vLLM copies it with "
            f"--mm-encoder-tp-mode data, or tensor-parallel may be {either(_small(divisors(heads.value)))}",
            place(tower, heads.key),
            severity="error" if tower.model_type.startswith(REFUSED) else "warning",
        )


def _small(choices: list[int]) -> list[int]:
    """At most 64 ranks: what machines have."""
    return [count for count in choices if count <= 64] or [1]
