"""Memory of training on each device: by recipe, and by the ways to spread one recipe over devices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from neurarch_lsp.render.card_blocks import Table
from neurarch_schemas.accounting.fit import MOST_DEVICES, usable
from neurarch_schemas.accounting.lora import adapts, four_bit_bytes, lora_parameters
from neurarch_schemas.accounting.quantities import count, decimal_bytes
from neurarch_schemas.accounting.training import Recipe, Sharding, TrainingMemory, find_recipe, recipes, training_memory

if TYPE_CHECKING:
    from neurarch_lsp.card.assumptions import Assumptions
    from neurarch_schemas.accounting.hardware import Device
    from neurarch_schemas.modules.tree import Module

SHARDS = (8, 64)
MIXED = "adam-mixed"
"""What adapters are trained with."""


def memory_tables(
    tree: Module, parameters: int, activation_bytes: int, assumed: Assumptions
) -> tuple[tuple[Table, ...], dict[str, Any]]:
    """``activation_bytes`` are those of the whole batch in 16 bits; ranks share the batch, a sequence each at least."""
    trained = lora_parameters(tree, assumed.lora_rank, adapts(assumed.lora_targets))
    mixed, batch = _recipe(MIXED), assumed.training_batch
    where = "all linear layers" if assumed.lora_targets == "all-linear" else assumed.lora_targets.replace(",", ", ")
    lines: list[tuple[str, str, int | None, int, list[TrainingMemory]]] = []
    for recipe in recipes():
        kept = _kept(recipe, activation_bytes)
        memory = [_of(parameters, recipe, kept // min(ranks, batch), ranks) for ranks in (1, *SHARDS)]
        lines.append((recipe.name, recipe.label, recipe.bytes_per_parameter, parameters, memory))
    for name, frozen in (("LoRA", 2 * parameters), ("QLoRA", four_bit_bytes(tree))):
        memory = [
            _of(parameters, mixed, activation_bytes // min(ranks, batch), ranks, trained, frozen)
            for ranks in (1, *SHARDS)
        ]
        label = f"{name}, rank {assumed.lora_rank} on {where}"
        lines.append((name, label, None, trained, memory))
    by_recipe = Table(
        ("recipe", "per parameter", "state", "with activations", *(f"FSDP over {ranks}" for ranks in SHARDS)),
        tuple(
            (
                label,
                f"{count(trains)} trained" if size is None else f"{size} bytes",
                decimal_bytes(memory[0].total - memory[0].activations),
                *(decimal_bytes(one.total) for one in memory),
            )
            for _, label, size, trains, memory in lines
        ),
        numeric=frozenset({1, 2, 3, 4, 5}),
        caption="By recipe, on one device",
    )
    chosen = _recipe(assumed.recipe)
    ways = [
        (label, sharding, _spread(parameters, chosen, _kept(chosen, activation_bytes), sharding, assumed))
        for label, sharding in _ways(assumed)
    ]
    by_way = Table(
        ("way", "devices", "weights", "gradients", "optimizer", "activations", "on each"),
        tuple(
            (
                label,
                f"{sharding.devices:,}",
                *map(decimal_bytes, (memory.weights, memory.gradients, memory.optimizer, memory.activations)),
                decimal_bytes(memory.total),
            )
            for label, sharding, memory in ways
        ),
        numeric=frozenset({1, 2, 3, 4, 5, 6}),
        caption=f"By the way it is spread, {chosen.label}",
    )
    data = {
        "memory": [
            {"recipe": name, "bytes_per_parameter": size, "trained": trains, "bytes": memory[0].total}
            for name, _, size, trains, memory in lines
        ],
        "spread": [
            {"way": label, "devices": sharding.devices, "bytes_on_each": memory.total}
            for label, sharding, memory in ways
        ],
        "lora_parameters": trained,
    }
    return (by_recipe, by_way), data


def _ways(assumed: Assumptions) -> tuple[tuple[str, Sharding], ...]:
    data, tensor, pipeline = assumed.data_parallel, assumed.tensor_parallel, assumed.pipeline_parallel
    return (
        ("one device", Sharding()),
        (f"ZeRO 1 over {data}", Sharding(data, zero=1)),
        (f"ZeRO 2 over {data}", Sharding(data, zero=2)),
        (f"ZeRO 3 (FSDP) over {data}", Sharding(data, zero=3)),
        (f"tensor parallel {tensor}", Sharding(tensor_parallel=tensor)),
        (f"pipeline parallel {pipeline}", Sharding(pipeline_parallel=pipeline)),
        (f"tensor {tensor} x pipeline {pipeline} x ZeRO 1 over {data}", Sharding(data, tensor, pipeline, zero=1)),
    )


def fewest_devices(device: Device, parameters: int, activation_bytes: int, assumed: Assumptions) -> int | None:
    """The smallest power of two that holds the recipe with FSDP, a sequence or more on each; None where none does."""
    recipe, count = _recipe(assumed.recipe), 1
    while count <= MOST_DEVICES:
        memory = _spread(parameters, recipe, _kept(recipe, activation_bytes), Sharding(count, zero=3), assumed)
        if memory.total <= usable(device, 1, assumed.reserve):
            return count
        count *= 2
    return None


def _of(
    parameters: int,
    recipe: Recipe,
    activation_bytes: int,
    ranks: int,
    trained: int | None = None,
    frozen_bytes: int = 0,
) -> TrainingMemory:
    sharding = Sharding(ranks, zero=3 if ranks > 1 else 0)
    return training_memory(
        parameters,
        recipe,
        activation_bytes,
        sharding=sharding,
        trained=trained,
        frozen_bytes=frozen_bytes,
    )


def _kept(recipe: Recipe, activation_bytes: int) -> int:
    """Activations are of the type the weights are multiplied in."""
    return activation_bytes * recipe.weights // 2


def _spread(
    parameters: int, recipe: Recipe, activation_bytes: int, sharding: Sharding, assumed: Assumptions
) -> TrainingMemory:
    sharing = min(sharding.data_parallel, assumed.training_batch)
    return training_memory(parameters, recipe, activation_bytes // sharing, sharding=sharding)


def _recipe(name: str) -> Recipe:
    found = find_recipe(name)
    assert found is not None
    return found
