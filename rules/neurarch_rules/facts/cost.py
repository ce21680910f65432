"""What a change would do to the model's cost, computed from the trees before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurarch_rules.facts import geometry
from neurarch_rules.facts.words import binary_bytes

if TYPE_CHECKING:
    from neurarch_rules.engine.context import Context
    from neurarch_schemas.analysis import Analysis
    from neurarch_schemas.config.model_config import ModelConfig
    from neurarch_schemas.documents.json_value import JSONValue


def cache_dtype(context: Context) -> str:
    """The dtype an engine keeps the cache in: a float32 checkpoint is served in 16 bits unless asked otherwise."""
    chosen = context.options.serving.kv_cache_dtype
    dtype = context.analysis.cache_dtype(chosen)
    return "float16" if dtype in ("float32", "float64") and chosen is None else dtype


def cache_bytes_per_token(context: Context, analysis: Analysis | None = None) -> int | None:
    from neurarch_schemas.accounting.dtypes import size_in_bytes

    cache = (analysis or context.analysis).kv_cache
    return None if cache is None else size_in_bytes(cache.per_token, cache_dtype(context))


def changed(analysis: Analysis, pointer: str, value: JSONValue) -> Analysis | None:
    """The analysis of the same file with one value replaced; None where the pointer is not written."""
    from neurarch_schemas.analysis import Analysis as Known
    from neurarch_schemas.config.read import read_config
    from neurarch_schemas.documents.pointer import split_pointer

    keys = split_pointer(pointer)
    if not keys or not isinstance(analysis.document.data, dict):
        return None
    data = _with(analysis.document.data, keys, value)
    config = read_config(data, "params" if analysis.kind == "params" else "config")
    return Known(analysis.document, analysis.kind, analysis.folder, config)


def _with(data: dict[str, JSONValue], keys: tuple[str, ...], value: JSONValue) -> dict[str, JSONValue]:
    inner = data.get(keys[0])
    if len(keys) == 1 or not isinstance(inner, dict):
        return {**data, keys[0]: value}
    return {**data, keys[0]: _with(inner, keys[1:], value)}


def cost_change(context: Context, pointer: str, value: JSONValue) -> str:
    """`` (248 -> 124 KiB/token, -0.2 B parameters)`` for one value replaced; "" where the numbers are not known."""
    before = context.analysis
    after = changed(before, pointer, value)
    if after is None or before.parameters is None or after.parameters is None:
        return ""
    parts: list[str] = []
    old, new = cache_bytes_per_token(context), cache_bytes_per_token(context, after)
    if old is not None and new is not None and old != new:
        parts.append(f"{binary_bytes(old)} -> {binary_bytes(new)} per token")
    difference = after.parameters.total - before.parameters.total
    if difference:
        sign = "+" if difference > 0 else "-"
        amount = abs(difference)
        shown = (
            f"{amount / 1e9:.2f} B" if amount >= 5e7 else f"{amount / 1e6:.2f} M" if amount >= 1e4 else f"{amount:,}"
        )
        parts.append(f"{sign}{shown} parameters")
    return f" ({', '.join(parts)})" if parts else ""


def cache_change(context: Context, config: ModelConfig, old: int, new: int) -> str:
    """As ``cost_change`` for KV heads, also where the present number cannot be built: scaled from the head size."""
    size, layers = geometry.head_dim(config), geometry.layers(config)
    if size is None or layers is None or config.pointer:
        return ""
    from neurarch_schemas.accounting.dtypes import size_in_bytes

    dtype = cache_dtype(context)
    per_head = size_in_bytes(2 * size * layers.value, dtype)
    return f" ({binary_bytes(per_head * old)} -> {binary_bytes(per_head * new)} per token)"
