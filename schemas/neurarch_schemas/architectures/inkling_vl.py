"""Inkling with images and audio: a folding encoder of linear maps for patches, a table of mel bins for audio.

Each layer of the encoder folds some factor of the patch (height and width, then frames) into the channels; a layer that
folds nothing keeps its width. The output head is never tied: the class declares no tied weights.
"""

from __future__ import annotations

from math import ceil, isqrt, log

from neurarch_schemas.architectures.composite import text_model, with_output_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assignment import least_cost_columns
from neurarch_schemas.modules.layers import embedding, linear, rms_norm
from neurarch_schemas.modules.tree import Module, Run, Stack, children

MODEL_TYPES = ("inkling_mm_model",)

_LARGEST_PATCH = 100_000

Scale = tuple[int, int, int]
"""Frames, height (and width), channels of what one position stands for."""


def prime_factors(number: int) -> list[int]:
    """In ascending order, with multiplicity."""
    factors = []
    for divisor in (2, *range(3, isqrt(number) + 1, 2)):
        while number % divisor == 0:
            factors.append(divisor)
            number //= divisor
    return [*factors, number] if number > 1 else factors


def possible_scales(frames: int, side: int, channels: int) -> list[Scale]:
    """From one pixel to the whole patch, the largest factors first; channels in multiples of 64."""
    scales: list[Scale] = [(1, 1, channels)]
    height = 1
    for factor in reversed(prime_factors(side)):
        height *= factor
        scales.append((1, height, ceil(height * height * channels / 64) * 64))
    time = 1
    for factor in reversed(prime_factors(frames)):
        time *= factor
        scales.append((time, height, height * height * channels * time * 64))
    return scales


def planned_scales(scales: list[Scale], layers: int, whole: int) -> list[tuple[int, int]]:
    """Pairs of scale and how many of the ``layers + 1`` steps stand at it, in order.

    The ideal sizes grow evenly in the logarithm to ``whole``. With fewer layers than scales each step has its own.
    """
    sizes = [log(time * height * height) for time, height, _ in scales]
    step = log(whole) / layers

    def nearest(index: int) -> int:
        if index == 0:
            return 0
        if index == layers:
            return len(scales) - 1
        return min(range(len(scales)), key=lambda scale: abs(index * step - sizes[scale]))

    if layers < len(scales):
        costs = [[abs(index * step - size) for size in sizes] for index in range(layers + 1)]
        chosen = least_cost_columns(costs)
        chosen[0], chosen[-1] = 0, len(scales) - 1
        return [(scale, 1) for scale in chosen]
    pairs, start = [], 0
    while start <= layers:
        scale, low, high = nearest(start), start, layers + 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if nearest(middle) == scale else (low, middle)
        pairs.append((scale, high - start))
        start = high
    return pairs


def folding_layer(inputs: int, outputs: int, *, norm: bool) -> Module:
    return Module(
        "FoldingLayer",
        children=children(
            projection=linear(inputs, outputs, bias=False), layer_norm=rms_norm(outputs) if norm else None
        ),
    )


def folding_layers(config: ModelConfig, hidden: int) -> Stack:
    side, frames = config.integer("patch_size"), config.integer("temporal_patch_size")
    channels, count = config.integer("num_channels"), config.integer("n_layers")
    if not 1 < side <= _LARGEST_PATCH or not 1 <= frames <= _LARGEST_PATCH or not count:
        raise CannotBuild("the patches of inkling_vision cannot be folded", ("patch_size", "temporal_patch_size"))
    scales = possible_scales(frames, side, channels)
    runs: list[Run] = []
    before: Scale | None = None
    built = 0
    for index, steps in planned_scales(scales, count, side * side * frames * channels):
        time, height, width = scales[index]
        if before is not None:
            folded = (time // before[0]) * (height // before[1]) ** 2
            built += 1
            last = built == count
            runs.append(Run((folding_layer(before[2] * folded, hidden if last else width, norm=not last),)))
        stays = steps - 1
        if stays:
            built += stays
            last = built == count
            if stays > last:
                runs.append(Run((folding_layer(width, width, norm=True),), stays - last))
            if last:
                runs.append(Run((folding_layer(width, hidden, norm=False),)))
        before = scales[index]
    return Stack(tuple(runs))


def vision_tower(config: ModelConfig, hidden: int) -> Module:
    return Module(
        "VisionModel",
        children=children(encoder_layers=folding_layers(config, hidden), final_norm=rms_norm(hidden)),
        part="vision",
    )


def audio_tower(config: ModelConfig, hidden: int) -> Module:
    rows = config.integer("n_mel_bins") * config.integer("mel_vocab_size")
    table = Module("AudioEmbeddings", children=children(embed_audio_tokens=embedding(rows, hidden, part="audio")))
    return Module("AudioModel", children=children(embed_audio_tokens=table, norm=rms_norm(hidden)), part="audio")


def build(config: ModelConfig) -> Module:
    hidden = config.nested_config("text_config").integer("hidden_size")
    parts = {
        "language_model": text_model(config),
        "audio_tower": audio_tower(config.nested_config("audio_config"), hidden),
        "vision_tower": vision_tower(config.nested_config("vision_config"), hidden),
    }
    return with_output_head(config, {**parts}, tied=False)
