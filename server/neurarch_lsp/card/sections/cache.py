"""The KV cache: per token, at several lengths, its level, and how it grows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurarch_lsp.card.caching import assumed_crossing, cached_scalars
from neurarch_lsp.render.card_blocks import Facts, Note, Plot, Section, Table
from neurarch_lsp.render.model_numbers import tokens
from neurarch_schemas.accounting.context import declared_context
from neurarch_schemas.accounting.dtypes import size_in_bytes
from neurarch_schemas.accounting.quantities import binary_bytes, decimal_bytes
from neurarch_schemas.config.language_model import language_config

if TYPE_CHECKING:
    from neurarch_lsp.card.assumptions import Assumptions
    from neurarch_schemas.accounting.kv_cache import KVCache
    from neurarch_schemas.analysis import Analysis

LENGTHS = (2048, 8192, 32768, 131072, 1048576)
POINTS = 64
FALLBACK_CONTEXT = 32768


def section(analysis: Analysis, assumed: Assumptions) -> Section | None:
    cache, config = analysis.kv_cache, analysis.config
    if cache is None or config is None:
        return None
    dtype = analysis.cache_dtype(assumed.cache_dtype)
    per_token = size_in_bytes(cache.per_token, dtype)
    constant = size_in_bytes(cache.constant, dtype)
    longest = assumed.context or declared_context(config) or FALLBACK_CONTEXT
    level = cache_level(per_token, assumed)
    rows = [("Per token", f"{binary_bytes(per_token)} in {dtype}: {level}")]
    window = cache.widest_window
    beyond = size_in_bytes(cache.per_token_beyond_windows, dtype)
    if window is not None and window < longest:
        grows = f"{binary_bytes(beyond)} per token: {cache_level(beyond, assumed)}" if beyond else "nothing more"
        rows.append((f"From {window:,} on", f"{grows}, since windows are full"))
    if cache.per_token_expanded != cache.per_token:
        expanded = binary_bytes(size_in_bytes(cache.per_token_expanded, dtype))
        rows.append(("Without latent caching", f"{expanded} per token, in engines that store expanded keys and values"))
    if constant:
        kept = language_config(config).get("mamba_ssm_dtype")
        note = f"; engines keep its recurrent part in {kept}" if isinstance(kept, str) and kept != dtype else ""
        rows.append(("Constant state", f"{binary_bytes(constant)} a sequence in {dtype}, whatever its length{note}"))
    rows += _crossing(analysis, assumed, cache, dtype)
    scalars = cached_scalars(analysis, assumed)
    lengths = [length for length in LENGTHS if length < longest] + [longest]
    sizes = [(length, size_in_bytes(scalars(length), dtype)) for length in lengths]
    table = Table(
        ("tokens", "one sequence", f"batch of {assumed.batch}") if assumed.batch > 1 else ("tokens", "one sequence"),
        tuple(
            (f"{length:,}", decimal_bytes(size), *((decimal_bytes(size * assumed.batch),) if assumed.batch > 1 else ()))
            for length, size in sizes
        ),
        numeric=frozenset({0, 1, 2}),
    )
    points = [(longest * step // POINTS, 0.0) for step in range(POINTS + 1)]
    curve = tuple((float(length), float(size_in_bytes(scalars(length), dtype))) for length, _ in points)
    top = curve[-1][1]
    plot = Plot(
        curve,
        "tokens",
        tuple((longest * part / 4, tokens(longest * part // 4)) for part in range(1, 5)),
        tuple((top * part / 2, decimal_bytes(int(top * part / 2))) for part in range(1, 3)),
        "KV cache of one sequence against its length",
    )
    thresholds = ", ".join(f"{name} from {start} KiB" for name, start in assumed.cache_levels if start)
    return Section(
        "cache",
        "KV cache",
        (Facts(tuple(rows)), table, plot, Note(f"Levels per token: {thresholds}.")),
        {
            "bytes_per_token": per_token,
            "level": level,
            "bytes_per_token_beyond_windows": beyond,
            "thresholds_kib": dict(assumed.cache_levels),
            "constant_bytes": constant,
            "dtype": dtype,
            "at": {str(length): size for length, size in sizes},
        },
    )


def _crossing(analysis: Analysis, assumed: Assumptions, cache: KVCache, dtype: str) -> list[tuple[str, str]]:
    """Keys and values of what another network found, which are there once."""
    crossing = [(each, layers) for each, layers in cache.entries if each.kind == "cross"]
    if not crossing:
        return []
    each = size_in_bytes(sum(one.per_token * layers for one, layers in crossing), dtype)
    lengths = {one.source_length for one, _ in crossing}
    length = next(iter(lengths)) if len(lengths) == 1 else None
    if assumed_crossing(analysis):
        read = f"{assumed.source_length:,} tokens" if assumed.source_length else "as many tokens as the decoder"
        return [
            ("Cross-attention", f"{binary_bytes(each)} besides for each token the encoder reads; {read} are assumed")
        ]
    if not length:
        return [("Cross-attention", f"{binary_bytes(each)} besides for each position it reads; not in the table")]
    read = f"{binary_bytes(each)} for each of the {length:,} positions it reads"
    return [("Cross-attention", f"{decimal_bytes(each * length)} a sequence: {read}")]


def cache_level(bytes_per_token: int, assumed: Assumptions) -> str:
    level = assumed.cache_levels[0][0]
    for name, start in assumed.cache_levels:
        if bytes_per_token >= start * 1024:
            level = name
    return level
