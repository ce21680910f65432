from __future__ import annotations

from collections.abc import Callable, Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Related
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import geometry
from neurarch_rules.facts.cost import cache_dtype
from neurarch_rules.facts.decoder import decoder_config
from neurarch_rules.facts.hardware import memory_bytes
from neurarch_rules.facts.places import place, related
from neurarch_rules.facts.words import binary_bytes, decimal_bytes, grouped
from neurarch_schemas.accounting.dtypes import BITS, size_in_bytes
from neurarch_schemas.accounting.kv_cache import KVCache
from neurarch_schemas.config.model_config import ModelConfig

RULE = RuleInfo(
    name="kv-cache-context-budget",
    severity="warning",
    category="serving",
    summary="The KV cache of one sequence exceeds the memory budget",
)


def check(context: Context) -> Iterator[Finding]:
    cache = context.analysis.kv_cache
    config = decoder_config(context)
    dtype = cache_dtype(context)
    if cache is None or config is None or dtype not in BITS or not cache.per_token:
        return
    serving = context.options.serving
    declared = geometry.positions(config)
    window = declared.value if declared is not None and declared.value > 0 else None
    tokens = serving.context if window is None else min(window, serving.context)
    size: Callable[[int], int] = lambda length: size_in_bytes(cache.at(length), dtype) * serving.batch  # noqa: E731
    budget = int(serving.kv_cache_gb * 1e9)
    key = declared.key if declared is not None else "num_hidden_layers"
    if size(tokens) > budget:
        yield _over_budget(config, key, cache, dtype, tokens, size, budget, serving.batch)
    memory = memory_bytes(serving)
    if memory is None or window is None or context.analysis.weights is None:
        return
    room = memory - _weight_bytes(context)
    if size(window) > room:
        longest = _longest(size, room, window)
        fits = "not one token fits"
        if longest > 0:
            fits = f"{grouped(longest)} tokens fit; limit the serving length (max_model_len) to that"
        yield Finding(
            f"the declared window of {grouped(window)} tokens needs {binary_bytes(size(window))} of KV cache "
            f"({_per_token(cache, dtype)} per token) beside {binary_bytes(_weight_bytes(context))} of weights, but "
            "the GPU memory is "
            f"{binary_bytes(memory)}: {fits}",
            place(config, key),
            _geometry(config),
            severity="info",
        )


def _over_budget(
    config: ModelConfig,
    key: str,
    cache: KVCache,
    dtype: str,
    tokens: int,
    size: Callable[[int], int],
    budget: int,
    batch: int,
) -> Finding:
    longest = _longest(size, budget, tokens)
    sequences = "one sequence" if batch == 1 else f"{batch} sequences"
    fits = f"{grouped(longest)} tokens fit" if longest > 0 else "not one token fits"
    return Finding(
        f"the KV cache of {sequences} of {grouped(tokens)} tokens takes {decimal_bytes(size(tokens))} "
        f"({_per_token(cache, dtype)} per "
        f"token in {dtype}), over the budget of {decimal_bytes(budget)}: {fits}; fewer KV heads, a sliding window or "
        "an 8-bit cache "
        "lower it, [serving] kv-cache-gb raises the budget",
        place(config, key),
        _geometry(config),
    )


def _per_token(cache: KVCache, dtype: str) -> str:
    return binary_bytes(size_in_bytes(cache.per_token, dtype))


def _weight_bytes(context: Context) -> int:
    checkpoint = context.analysis.checkpoint
    if checkpoint is not None and checkpoint.bytes:
        return checkpoint.bytes
    weights = context.analysis.weights
    return 0 if weights is None else weights.bytes


def _geometry(config: ModelConfig) -> tuple[Related, ...]:
    found = (geometry.kv_heads(config) or geometry.heads(config), geometry.layers(config))
    return tuple(related(config, item.key) for item in found if item is not None)


def _longest(size: Callable[[int], int], room: int, most: int) -> int:
    """The longest sequence whose cache fits; sizes grow with the length."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if size(middle) <= room:
            low = middle
        else:
            high = middle - 1
    return low
