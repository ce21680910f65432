from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import geometry
from neurarch_rules.facts.cost import cache_bytes_per_token, cache_dtype
from neurarch_rules.facts.decoder import attention_layers, decoder_config
from neurarch_rules.facts.places import place, related
from neurarch_rules.facts.words import binary_bytes, divisors, nearest
from neurarch_schemas.accounting.dtypes import size_in_bytes

RULE = RuleInfo(
    name="full-mha-serving-cost",
    severity="info",
    category="serving",
    summary="Every attention head caches its own keys and values, and a token costs a lot",
)

LATENT = 576
"""DeepSeek-V3's latent: kv_lora_rank 512 + qk_rope_head_dim 64 scalars per token and layer."""


def check(context: Context) -> Iterator[Finding]:
    config = decoder_config(context)
    heads, kv_heads = (None, None) if config is None else (geometry.heads(config), geometry.kv_heads(config))
    if heads is not None and kv_heads is not None and heads.value != kv_heads.value:
        return
    per_token = cache_bytes_per_token(context)
    limit = context.options.limits.full_mha_kib_per_token * 1024
    if config is None or per_token is None or per_token < limit:
        return
    shapes = attention_layers(context)
    if not shapes or any(
        shape.kind == "latent" or shape.heads != shape.kv_heads or shape.heads < 2 for shape, _ in shapes
    ):
        return
    shape = max(shapes, key=lambda item: item[1])[0]
    layer_count = sum(times for _, times in shapes)
    choices = [count for count in divisors(shape.heads) if count < shape.heads]
    ratios = dict.fromkeys(nearest(max(1, shape.heads // ratio), choices) for ratio in (8, 4))
    savings = [
        f"GQA {shape.heads // count}:1 ({count} KV heads) {binary_bytes(per_token * count // shape.heads)}"
        for count in ratios
        if count is not None
    ]
    latent = size_in_bytes(LATENT * layer_count, cache_dtype(context))
    if latent < per_token:
        savings.append(f"MLA with a latent of {LATENT} {binary_bytes(latent)}")
    key = (geometry.kv_heads(config) or geometry.heads(config) or geometry.Named("num_attention_heads", 0)).key
    yield Finding(
        f"all {shape.heads} heads cache their own keys and values: {binary_bytes(per_token)} per token over "
        f"{layer_count} layers; "
        f"{', '.join(savings)} per token",
        place(config, key),
        tuple(related(config, item.key) for item in (geometry.layers(config),) if item is not None),
    )
