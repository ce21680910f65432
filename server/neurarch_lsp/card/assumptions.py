"""What a card assumes where the file cannot say; each is printed beside what depends on it and can be set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurarch_schemas.record import Record

if TYPE_CHECKING:
    from neurarch_rules.engine.options import Serving

CACHE_LEVELS_KIB = (("Low", 0), ("Moderate", 64), ("High", 192), ("Very high", 512))
"""Level of a KV cache from this many KiB per token on: a quarter, three quarters and twice the 256 KiB of 64 layers
with 8 KV heads of 128."""


class Assumptions(Record):
    """``context`` None: the declared maximum. Training runs ``epochs`` over ``samples`` sequences of ``length``."""

    context: int | None = None
    served_context: int = 8192
    """Tokens that serving is told for; no longer than the context."""
    batch: int = 1
    cache_dtype: str | None = None
    cache_levels: tuple[tuple[str, int], ...] = CACHE_LEVELS_KIB
    epochs: int = 10
    training_batch: int = 32
    samples: int = 50_000
    length: int | None = None
    source_length: int | None = None
    """Tokens that the encoder of an encoder-decoder reads where the file does not say; None: as many as the decoder."""
    recipe: str = "adam-mixed"
    """Which recipe of training.json is shown spread over devices."""
    lora_rank: int = 16
    lora_targets: str = "all-linear"
    """Or last names of modules: "q_proj,v_proj"."""
    data_parallel: int = 8
    tensor_parallel: int = 8
    pipeline_parallel: int = 8
    gpu: str = "H100-80GB"
    gpus: int = 1
    usd_per_hour: float | None = None
    utilization: float = 1.0
    """Share of a device's peak that is reached; 1 is the roofline itself, real training reaches 0.3 to 0.5."""
    reserve: float = 0.1
    models: str | None = None
    """A folder of configs to search for similar models besides the published ones."""
    expand: bool = False
    """Whether the structure table lists every layer."""


def from_settings(serving: Serving) -> Assumptions:
    """What a settings file, or an editor, says of serving; a GPU that is not in the catalogue is left out."""
    from neurarch_schemas.accounting.hardware import find_device

    defaults = Assumptions()
    levels = serving.cache_levels_kib
    names = [name for name, _ in CACHE_LEVELS_KIB]
    return Assumptions(
        served_context=serving.context,
        batch=serving.batch,
        cache_dtype=serving.kv_cache_dtype,
        gpu=serving.gpu if serving.gpu and find_device(serving.gpu) else defaults.gpu,
        gpus=serving.gpus or (serving.tensor_parallel or 1) * (serving.pipeline_parallel or 1),
        usd_per_hour=serving.usd_per_hour,
        cache_levels=defaults.cache_levels if levels is None else tuple(zip(names, (0, *levels), strict=True)),
    )
