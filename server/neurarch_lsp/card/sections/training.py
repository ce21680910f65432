"""What training takes: operations, roofline time and price, and memory by optimizer and precision."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurarch_lsp.render.card_blocks import Facts, Note, Section, Table
from neurarch_schemas.accounting.activations import (
    boundary_scalars_per_token,
    scalars_per_token,
    score_bytes_per_pair,
)
from neurarch_schemas.accounting.context import declared_context
from neurarch_schemas.accounting.hardware import find_device
from neurarch_schemas.accounting.lora import lora_parameters
from neurarch_schemas.accounting.quantities import count, decimal_bytes
from neurarch_schemas.accounting.training import BACKWARD, Sharding, recipes, training_flops, training_memory

if TYPE_CHECKING:
    from neurarch_lsp.card.assumptions import Assumptions
    from neurarch_schemas.analysis import Analysis

FALLBACK_LENGTH = 8192
QLORA_BYTES_PER_WEIGHT = 0.5
"""4-bit NormalFloat; its constants add 0.127 bits with double quantization (Dettmers et al. 2023, section 3)."""
SHARDS = (8, 64)


def section(analysis: Analysis, assumed: Assumptions) -> Section | None:
    tree, config, counted, cost = (
        analysis.built.tree,
        analysis.config,
        analysis.parameters,
        analysis.forward_cost,
    )
    device = find_device(assumed.gpu)
    if tree is None or config is None or counted is None or cost is None or device is None or not cost.per_token:
        return None
    length = assumed.length or assumed.context or declared_context(config) or FALLBACK_LENGTH
    forward = cost.prefill(length)
    weights = cost.per_token * length
    sequences = assumed.epochs * assumed.samples
    total = training_flops(forward) * sequences
    seconds = total / (device.peak("bfloat16") * assumed.gpus * assumed.utilization)
    price = assumed.usd_per_hour if assumed.usd_per_hour is not None else device.usd_per_hour
    rows = [
        (
            "Forward, one sequence",
            f"{_flops(forward)}: {_flops(weights)} in matrices, {_flops(forward - weights)} in attention",
        ),
        (
            "Training step, one sequence",
            f"{_flops(training_flops(forward))}: forward, and backward at {BACKWARD} times that",
        ),
        (
            "Whole run",
            f"{_flops(total)} for {assumed.epochs} epochs x {assumed.samples:,} sequences of {length:,} tokens",
        ),
        (
            "Least time",
            f"{_duration(seconds)} on {assumed.gpus} x {device.name} at {assumed.utilization:.0%} of its bfloat16 peak",
        ),
    ]
    if price is not None:
        usd = seconds / 3600 * price * assumed.gpus
        rows.append(("Price", f"{usd:,.0f} USD at {price:g} USD per device and hour"))
    lora = lora_parameters(tree, assumed.lora_rank)
    tokens = assumed.training_batch * length
    kept = 2 * scalars_per_token(tree) * tokens
    boundary = 2 * boundary_scalars_per_token(tree) * tokens
    scores = score_bytes_per_pair(tree) * assumed.training_batch * length * length
    memory_rows: list[tuple[str, ...]] = []
    data: list[dict[str, object]] = []
    for recipe in recipes():
        plain = training_memory(counted.total, recipe, boundary)
        cells = [
            training_memory(counted.total, recipe, boundary // ranks, sharding=Sharding(ranks, zero=3)).total
            for ranks in SHARDS
        ]
        memory_rows.append(
            (
                recipe.label,
                f"{recipe.bytes_per_parameter} bytes",
                decimal_bytes(plain.weights + plain.gradients + plain.optimizer),
                decimal_bytes(plain.total),
                *(decimal_bytes(size) for size in cells),
            )
        )
        data.append({"recipe": recipe.name, "bytes_per_parameter": recipe.bytes_per_parameter, "bytes": plain.total})
    for label, per_weight in (("LoRA", 2.0), ("QLoRA", QLORA_BYTES_PER_WEIGHT)):
        recipe = recipes()[1]
        frozen = int(counted.total * per_weight)
        plain = training_memory(counted.total, recipe, boundary, trained=lora, frozen_bytes=frozen)
        cells = [
            training_memory(
                counted.total,
                recipe,
                boundary // ranks,
                sharding=Sharding(ranks, zero=3),
                trained=lora,
                frozen_bytes=frozen,
            ).total
            for ranks in SHARDS
        ]
        memory_rows.append(
            (
                f"{label}, rank {assumed.lora_rank} on all linear layers",
                f"{count(lora)} trained",
                decimal_bytes(plain.weights + plain.gradients + plain.optimizer),
                decimal_bytes(plain.total),
                *(decimal_bytes(size) for size in cells),
            )
        )
        data.append({"recipe": label, "trained": lora, "bytes": plain.total})
    table = Table(
        ("recipe", "per parameter", "state", "with activations", *(f"FSDP over {ranks}" for ranks in SHARDS)),
        tuple(memory_rows),
        numeric=frozenset({1, 2, 3, 4, 5}),
        caption=f"Memory on one device, {assumed.training_batch} x {length:,} tokens, with full checkpointing.",
    )
    activations = Facts(
        (
            ("Activations, kept", f"{decimal_bytes(kept)} with fused attention, in 16 bits"),
            ("Activations, checkpointed", f"{decimal_bytes(boundary)}: the input of every layer"),
            ("Attention scores", f"{decimal_bytes(scores)} more without a fused kernel"),
        )
    )
    note = Note("Formulas and sources: docs/cost.md. A roofline is a bound, not a forecast.")
    return Section(
        "training",
        "Training",
        (Facts(tuple(rows)), table, activations, note),
        {
            "length": length,
            "forward_flops": forward,
            "run_flops": total,
            "seconds": seconds,
            "gpu": device.name,
            "gpus": assumed.gpus,
            "memory": data,
            "activation_bytes": kept,
            "checkpointed_activation_bytes": boundary,
            "lora_parameters": lora,
        },
    )


def _flops(operations: int) -> str:
    for name, unit in (("EFLOP", 10**18), ("PFLOP", 10**15), ("TFLOP", 10**12), ("GFLOP", 10**9), ("MFLOP", 10**6)):
        if operations >= unit:
            return (
                f"{operations / unit:,.3g} {name}" if operations < 1000 * unit else f"{operations / unit:,.0f} {name}"
            )
    return f"{operations} FLOP"


def _duration(seconds: float) -> str:
    for name, unit in (("years", 365.25 * 86400), ("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= unit:
            return f"{seconds / unit:,.3g} {name}" if seconds < 1000 * unit else f"{seconds / unit:,.0f} {name}"
    return f"{seconds:.3g} seconds"
