"""What training takes: operations, roofline time and price, and memory by optimizer, precision and sharding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurarch_lsp.card.lengths import FALLBACK_LENGTH, sequence_length
from neurarch_lsp.card.towers import TowerWork, tower_work
from neurarch_lsp.card.training_memory import fewest_devices, memory_tables
from neurarch_lsp.render.card_blocks import Facts, Note, Section
from neurarch_schemas.accounting.activations import (
    boundary_scalars_per_token,
    scalars_per_token,
    score_bytes_per_pair,
)
from neurarch_schemas.accounting.context import declared_context
from neurarch_schemas.accounting.hardware import find_device
from neurarch_schemas.accounting.quantities import count, decimal_bytes
from neurarch_schemas.accounting.training import BACKWARD, training_flops
from neurarch_schemas.config.language_model import language_config

if TYPE_CHECKING:
    from neurarch_lsp.card.assumptions import Assumptions
    from neurarch_schemas.accounting.hardware import Device
    from neurarch_schemas.analysis import Analysis

DAY = 86400
LONG = 32768
"""Tokens beyond which few train on sequences of that length throughout."""


def section(analysis: Analysis, assumed: Assumptions) -> Section | None:
    tree, counted, cost = analysis.built.tree, analysis.parameters, analysis.forward_cost
    device = find_device(assumed.gpu)
    if tree is None or counted is None or cost is None or device is None or not cost.per_token:
        return None
    length = assumed.length or sequence_length(analysis, assumed)
    work = tower_work(analysis)
    encoders = [tower for tower in work if tower.encodes]
    encoding = sum(tower.operations for tower in encoders)
    matrices = cost.per_token * length
    attention = cost.prefill(length) - matrices
    forward = matrices + attention + encoding
    sequences = assumed.epochs * assumed.samples
    total = training_flops(forward) * sequences
    seconds = total / (device.peak("bfloat16") * assumed.gpus * assumed.utilization)
    price = assumed.usd_per_hour if assumed.usd_per_hour is not None else device.usd_per_hour
    rows = [
        (
            "Forward, one sequence",
            f"{_flops(forward)}: {_flops(matrices)} in matrices"
            + (f", {_flops(attention)} in attention" if attention else "")
            + "".join(
                f", {_flops(tower.operations)} in the {tower.tower} encoder over {tower.positions:,} positions"
                for tower in encoders
            ),
        ),
        *(_besides(tower) for tower in work if not tower.encodes),
        (
            "Training step, one sequence",
            f"{_flops(training_flops(forward))}: forward, and backward at {BACKWARD} times that; "
            f"{_flops(training_flops(forward, checkpointing=True))} where checkpointing runs forward twice",
        ),
        (
            "Whole run",
            f"{_flops(total)} for {assumed.epochs} epochs x {assumed.samples:,} sequences of {length:,} tokens: "
            f"{count(sequences * length)} tokens" + _hint(analysis, length, assumed),
        ),
        ("Least time", _least_time(device, seconds * assumed.gpus, assumed)),
    ]
    if price is not None:
        usd = seconds / 3600 * price * assumed.gpus
        rows.append(("Price", f"{_usd(usd)} for that time at {price:g} USD per device and hour"))
    tokens = assumed.training_batch * length
    batch = assumed.training_batch
    kept = 2 * scalars_per_token(tree) * tokens + batch * sum(tower.kept_bytes for tower in encoders)
    boundary = 2 * boundary_scalars_per_token(tree) * tokens + batch * sum(tower.boundary_bytes for tower in encoders)
    scores = score_bytes_per_pair(tree) * batch * length * length + batch * sum(tower.score_bytes for tower in encoders)
    logits = 4 * (_vocabulary(analysis) or 0) * tokens
    tables, data = memory_tables(tree, counted.total, boundary, assumed)
    fewest = fewest_devices(device, counted.total, boundary, assumed)
    rows.insert(
        -1 if price is not None else len(rows), ("Devices", _devices(device, fewest, boundary, seconds, assumed))
    )
    activations = Facts(
        (
            ("Activations, kept", f"{decimal_bytes(kept)} with fused attention, in 16 bits"),
            ("Activations, checkpointed", f"{decimal_bytes(boundary)}: the input of every layer"),
            *((("Attention scores", f"{decimal_bytes(scores)} more without a fused kernel"),) if scores else ()),
            *(
                (("Logits", f"{decimal_bytes(logits)} more in float32, unless the loss is taken in pieces"),)
                if logits
                else ()
            ),
        )
    )
    caption = Note(f"Memory for {assumed.training_batch} x {length:,} tokens, with full checkpointing:")
    note = Note(
        "Epochs, samples, training-batch, length (default: the declared context), gpu, gpus, utilization, recipe, "
        "lora-rank, lora-targets and the three kinds of parallelism are set with --assume KEY=VALUE. Formulas and "
        "sources: docs/cost.md. A roofline is a bound, not a forecast."
    )
    return Section(
        "training",
        "Training",
        (Facts(tuple(rows)), caption, *tables, activations, note),
        {
            "length": length,
            "forward_flops": forward,
            "towers": [
                {
                    "tower": tower.tower,
                    "positions": tower.positions,
                    "forward_flops": tower.operations,
                    "included": tower.encodes,
                }
                for tower in work
            ],
            "run_flops": total,
            "seconds": seconds,
            "gpu": device.name,
            "gpus": assumed.gpus,
            "fewest_gpus": fewest,
            **data,
            "activation_bytes": kept,
            "checkpointed_activation_bytes": boundary,
        },
    )


def _hint(analysis: Analysis, length: int, assumed: Assumptions) -> str:
    if assumed.length is not None or assumed.context is not None:
        return ""
    if length == FALLBACK_LENGTH and analysis.config is not None and declared_context(analysis.config) is None:
        return "; no context is declared, this length is assumed"
    if length <= LONG:
        return ""
    return "; every sequence is as long as the declared context, --assume length=8192 asks for shorter ones"


def _least_time(device: Device, seconds: float, assumed: Assumptions) -> str:
    """Of one device: the time of several is less in proportion, as far as their links allow."""
    peak = f"{assumed.utilization:.0%} of its {device.computes('bfloat16')} peak"
    if seconds < DAY:
        return f"{_duration(seconds)} of one {device.name} at {peak}"
    return f"{seconds / 3600:,.0f} hours of one {device.name} at {peak} ({_duration(seconds)})"


def _devices(device: Device, fewest: int | None, boundary: int, seconds: float, assumed: Assumptions) -> str:
    one = boundary // assumed.training_batch
    if assumed.gpus > 1:
        told = f"{_duration(seconds)} on {assumed.gpus:,} x {device.name}"
        return told + (f"; {fewest:,} hold it with FSDP" if fewest and fewest > assumed.gpus else "")
    if fewest is None:
        return (
            f"no number of {device.name} holds it with FSDP alone: beside a share of the state, the checkpointed "
            f"activations of one sequence take {decimal_bytes(one)}; split sequences or layers too"
        )
    if fewest == 1:
        return f"one {device.name} holds it"
    return f"{fewest:,} x {device.name} hold it with FSDP, the fewest: {_duration(seconds / fewest)} there"


def _vocabulary(analysis: Analysis) -> int | None:
    """The width of the logits, for a network with a head over its vocabulary."""
    size = language_config(analysis.config).get("vocab_size") if analysis.config is not None else None
    heads = {visit.module.width_out for visit in analysis.visits if visit.part == "head"}
    return size if isinstance(size, int) and size in heads else None


def _besides(tower: TowerWork) -> tuple[str, str]:
    amount = _flops(tower.operations)
    if tower.positions is None:
        return f"{tower.tower.capitalize()} tower", f"{amount} forward a position, in none of the numbers below"
    where = f"{tower.positions:,} positions"
    return f"{tower.tower.capitalize()} tower", f"{amount} forward over {where}, in none of the numbers below"


def _usd(amount: float) -> str:
    return f"{amount:,.0f} USD" if amount >= 10 else f"{amount:.2f} USD"


def _flops(operations: int) -> str:
    for name, unit in (
        ("YFLOP", 10**24),
        ("ZFLOP", 10**21),
        ("EFLOP", 10**18),
        ("PFLOP", 10**15),
        ("TFLOP", 10**12),
        ("GFLOP", 10**9),
        ("MFLOP", 10**6),
    ):
        if operations >= unit:
            return (
                f"{operations / unit:,.3g} {name}" if operations < 1000 * unit else f"{operations / unit:,.0f} {name}"
            )
    return f"{operations} FLOP"


def _duration(seconds: float) -> str:
    for name, unit in (("years", 365.25 * DAY), ("days", DAY), ("hours", 3600), ("minutes", 60)):
        if seconds >= unit:
            return f"{seconds / unit:,.3g} {name}" if seconds < 1000 * unit else f"{seconds / unit:,.0f} {name}"
    return f"{seconds:.3g} seconds"
