"""What training a model takes: operations and memory, each assumption a parameter with its source."""

from __future__ import annotations

import os
from functools import cache

from neurarch_schemas.record import Record

BACKWARD = 2
"""A backward pass costs twice the forward pass (Kaplan et al. 2020, section 2.1)."""


class Recipe(Record):
    """Bytes a trained parameter takes: its weight, gradient, float32 master copy and optimizer states."""

    name: str
    label: str
    weights: int
    gradients: int
    master: int
    states: int
    source: str

    @property
    def bytes_per_parameter(self) -> int:
        return self.weights + self.gradients + self.master + self.states


@cache
def recipes() -> tuple[Recipe, ...]:
    import json

    with open(os.path.join(os.path.dirname(__file__), "training.json"), encoding="utf-8") as stream:
        return tuple(Recipe(**entry) for entry in json.load(stream)["recipes"])


def find_recipe(name: str) -> Recipe | None:
    return next((recipe for recipe in recipes() if recipe.name == name), None)


class Sharding(Record):
    """How training state is spread. ``zero`` is the ZeRO stage over ``data_parallel`` ranks (3 is FSDP full shard)."""

    data_parallel: int = 1
    tensor_parallel: int = 1
    pipeline_parallel: int = 1
    zero: int = 0

    @property
    def devices(self) -> int:
        return self.data_parallel * self.tensor_parallel * self.pipeline_parallel


UNSHARDED = Sharding()


class TrainingMemory(Record):
    """Bytes on one device."""

    weights: int
    gradients: int
    optimizer: int
    activations: int

    @property
    def total(self) -> int:
        return self.weights + self.gradients + self.optimizer + self.activations


def training_memory(
    parameters: int,
    recipe: Recipe,
    activation_bytes: int,
    *,
    sharding: Sharding = UNSHARDED,
    trained: int | None = None,
    frozen_bytes: int = 0,
) -> TrainingMemory:
    """Bytes on each device, rounded up.

    ``trained`` parameters (default: all) take the recipe's bytes, the rest only ``frozen_bytes`` of weights (LoRA
    over a frozen base). ZeRO 1 shards optimizer states and master copies, 2 also gradients, 3 also weights, over the
    data-parallel ranks (Rajbhandari et al. 2020, figure 1); tensor and pipeline parallelism split everything.
    """
    count = parameters if trained is None else trained
    split = sharding.tensor_parallel * sharding.pipeline_parallel
    ranks = sharding.data_parallel
    weights = count * recipe.weights + frozen_bytes
    gradients = count * recipe.gradients
    optimizer = count * (recipe.master + recipe.states)
    return TrainingMemory(
        _share(weights, split * (ranks if sharding.zero >= 3 else 1)),
        _share(gradients, split * (ranks if sharding.zero >= 2 else 1)),
        _share(optimizer, split * (ranks if sharding.zero >= 1 else 1)),
        _share(activation_bytes, split),
    )


def training_flops(forward: int, *, checkpointing: bool = False) -> int:
    """Operations of one training step whose forward pass takes ``forward``; full checkpointing runs it twice."""
    return forward * (1 + BACKWARD + int(checkpointing))


def _share(size: int, ways: int) -> int:
    return -(-size // ways)
