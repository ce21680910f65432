"""What serving takes, and on which devices the model fits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurarch_lsp.card.caching import cached_scalars
from neurarch_lsp.card.lengths import sequence_length
from neurarch_lsp.card.towers import encoding_operations
from neurarch_lsp.render.card_blocks import Facts, Note, Section, Table
from neurarch_lsp.render.model_numbers import tokens
from neurarch_schemas.accounting.checkpoint import predicted_checkpoint, quantization_fields
from neurarch_schemas.accounting.context import declared_context
from neurarch_schemas.accounting.dtypes import size_in_bytes
from neurarch_schemas.accounting.fit import MOST_SEQUENCES, MOST_TOKENS, Fit, fit
from neurarch_schemas.accounting.generation import generation
from neurarch_schemas.accounting.hardware import Device, devices, find_device
from neurarch_schemas.accounting.quantities import decimal_bytes
from neurarch_schemas.accounting.roofline import bound, compute_dtype
from neurarch_schemas.modules.tree import TOWERS

if TYPE_CHECKING:
    from neurarch_lsp.card.assumptions import Assumptions
    from neurarch_schemas.analysis import Analysis


def section(analysis: Analysis, assumed: Assumptions) -> Section | None:
    weights, config = analysis.weights, analysis.config
    device = find_device(assumed.gpu)
    if weights is None or config is None or device is None:
        return None
    checkpoint = analysis.checkpoint
    stored = checkpoint.bytes if checkpoint is not None and checkpoint.bytes else weights.bytes
    cache = analysis.kv_cache
    dtype = analysis.cache_dtype(assumed.cache_dtype)

    scalars = cached_scalars(analysis, assumed)

    def cache_bytes(length: int) -> int:
        return size_in_bytes(scalars(length), dtype)

    context = min(sequence_length(analysis, assumed), assumed.context or assumed.served_context)
    one = cache_bytes(context)
    found = [
        fit(each, stored, cache_bytes, context=context, batch=assumed.batch, reserve=assumed.reserve)
        for each in devices()
    ]
    rows = [("Weights", f"{decimal_bytes(stored)} as stored")]
    if cache is not None:
        rows.append(("Cache", f"{decimal_bytes(one * assumed.batch)} for {assumed.batch} x {context:,} tokens"))
    rows += [
        ("Together", f"{decimal_bytes(stored + one * assumed.batch)}, and {assumed.reserve:.0%} of memory in reserve"),
        *_speed(analysis, assumed, device, stored, one, context),
    ]
    declared = declared_context(config)
    columns = ("device", "memory", "fits on", "longest context there", "largest batch there")
    asked = f"a batch of {assumed.batch} at {context:,} tokens" if cache is not None else "the weights"
    table = Table(
        columns if cache is not None else columns[:3],
        tuple(_row(item, declared)[: None if cache is not None else 3] for item in found),
        numeric=frozenset({1, 2, 3, 4}),
        caption=f"For {asked}, split evenly; device counts are powers of two.",
    )
    note = Note("Memory, bandwidth and peak of each device, with source and date: docs/cost.md.")
    return Section(
        "serving",
        "Serving and fit",
        (Facts(tuple(rows)), table, note),
        {
            "weight_bytes": stored,
            "context": context,
            "batch": assumed.batch,
            "cache_bytes": one * assumed.batch,
            "fit": [
                {
                    "device": item.device.name,
                    "devices": item.devices,
                    "longest_context": item.longest_context,
                    "largest_batch": item.largest_batch,
                }
                for item in found
            ],
        },
    )


def _speed(
    analysis: Analysis, assumed: Assumptions, device: Device, stored: int, cache_bytes: int, context: int
) -> list[tuple[str, str]]:
    """Bounds on as many devices as asked for, or the fewest that hold weights and cache."""
    tree, counted, cost, config = analysis.built.tree, analysis.parameters, analysis.forward_cost, analysis.config
    if tree is None or counted is None or cost is None or config is None or not cost.per_token:
        return []
    held = fit(device, stored, lambda _: cache_bytes, context=context, batch=assumed.batch, reserve=assumed.reserve)
    count = max(assumed.gpus, held.devices or 1)
    where = f"{count} x {device.name}" + (", the fewest that hold it" if count > assumed.gpus else "")
    dtype = compute_dtype(quantization_fields(config))
    operations = (cost.prefill(context) + encoding_operations(analysis)) * assumed.batch
    forward = bound(device, operations, stored, dtype, count)
    name = "Prefill" if analysis.kv_cache is not None else "Forward"
    rows = [
        (
            name,
            f"at least {forward.seconds:.3g} s for {context:,} tokens on {where}, limited by {forward.limit}"
            + (f" in {device.computes(dtype)}" if forward.limit == "compute" else ""),
        ),
    ]
    if analysis.kv_cache is None:
        return rows
    a_token = generation(tree)
    others, routed = weights_of_a_token(analysis, stored, a_token.waiting)
    routing = next((visit.module.routing for visit in analysis.visits if visit.module.routing), None)
    share = min(1.0, assumed.batch * routing.active / routing.total) if routing is not None else 1.0
    moved = others + int(routed * share) + cache_bytes * assumed.batch
    decode = bound(device, a_token.cost.decode(context) * assumed.batch, moved, dtype, count)
    rate = assumed.batch / decode.seconds if decode.seconds else 0.0
    rows.append(("Decode", f"at most {rate:,.0f} tokens/s at that context, limited by {decode.limit}"))
    return rows


def weights_of_a_token(analysis: Analysis, stored: int, waiting: int) -> tuple[int, int]:
    """Of ``stored`` bytes, those read for every token and those of all routed experts.

    Embeddings are looked up, and ``waiting`` parameters (towers, an encoder) have done their work.
    """
    tree, config, counted, weights = analysis.built.tree, analysis.config, analysis.parameters, analysis.weights
    if tree is None or config is None or counted is None or weights is None:
        return stored, 0
    known = analysis.checkpoint
    if known is not None and known.exact:
        known = predicted_checkpoint(tree, config)
    plain, lookups = dict(counted.by_part), counted.active_with_embeddings - counted.active
    if known is not None and known.part_bytes and known.bytes:
        parts = {part: stored * size // known.bytes for part, size in known.part_bytes}
        besides = waiting - sum(plain.get(part, 0) for part in TOWERS)
        idle = sum(parts.get(part, 0) for part in TOWERS) + size_in_bytes(lookups + besides, weights.dtype)
    else:
        parts = {part: stored * size // max(counted.total, 1) for part, size in plain.items()}
        idle = stored * (lookups + waiting) // max(counted.total, 1)
    routed = parts.get("experts", 0)
    return max(stored - routed - idle, 0), routed


def _row(item: Fit, declared: int | None) -> tuple[str, ...]:
    memory = f"{item.device.memory_bytes / (1 << 30):.0f} GiB"
    if item.devices is None:
        return (item.device.name, memory, "does not fit", "", "")
    longest = min(item.longest_context or 0, declared or MOST_TOKENS)
    batch = item.largest_batch or 0
    return (
        item.device.name,
        memory,
        "one" if item.fits_on_one else str(item.devices),
        "no limit" if longest >= MOST_TOKENS else tokens(longest // 1024 * 1024 or longest),
        "no limit" if batch >= MOST_SEQUENCES else f"{batch:,}",
    )
