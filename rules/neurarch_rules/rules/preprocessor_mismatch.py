from __future__ import annotations

from collections.abc import Iterator, Mapping

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place, Related
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.data import facts
from neurarch_rules.facts.places import configs, integer, is_written, place, whole_number
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.documents.json_value import JSONValue

RULE = RuleInfo(
    name="preprocessor-mismatch",
    severity="error",
    category="correctness",
    summary="The preprocessor beside the config makes inputs of another shape than the model takes",
    needs=("image_size", "num_mel_bins", "input_feat_per_channel"),
    when="beside",
)
FILE = "preprocessor_config.json"


def check(context: Context) -> Iterator[Finding]:
    processor = context.analysis.folder.json_files.get(FILE)
    if not isinstance(processor, dict):
        return
    top = context.analysis.config
    for config in configs(context):
        if config.is_native:
            yield from _mel_bands(config, processor)
            if any(
                owner is not None and owner.model_type in facts("preprocessing")["image_size"]
                for owner in (config, top)
            ):
                yield from _image(config, processor)


def _mel_bands(config: ModelConfig, processor: Mapping[str, JSONValue]) -> Iterator[Finding]:
    for key, theirs in facts("preprocessing")["mel_bands"].items():
        bands, made = integer(config, key), whole_number(processor.get(theirs))
        if bands is None or made is None or bands == made or not is_written(config, key):
            continue
        yield Finding(
            f"{key} is {bands}, but the feature extractor makes {made} mel bands: the first layer refuses them",
            place(config, key),
            (Related(Place(f"/{theirs}", file=FILE), f"{theirs} is {made}"),),
        )


def _image(config: ModelConfig, processor: Mapping[str, JSONValue]) -> Iterator[Finding]:
    size, made = integer(config, "image_size"), _output(processor)
    if size is None or made is None or not is_written(config, "image_size") or made[1:] == (size, size):
        return
    key, height, width = made
    yield Finding(
        f"image_size is {size}, but the image processor makes {height} x {width}: there are no positions for the other "
        "patches, so the model refuses the image unless it is called with interpolate_pos_encoding",
        place(config, "image_size"),
        (Related(Place(f"/{key}", file=FILE), f"{height} x {width}"),),
        severity="warning",
    )


def _output(processor: Mapping[str, JSONValue]) -> tuple[str, int, int] | None:
    """The key that fixes the size of a processed image, and the size; None where it depends on the image."""
    if processor.get("do_center_crop") is True:
        key = "crop_size"
    elif processor.get("do_resize", True) is True and processor.get("do_pad") is not True:
        key = "size"
    else:
        return None
    value = processor.get(key)
    if isinstance(value, dict):
        height, width = whole_number(value.get("height")), whole_number(value.get("width"))
    else:
        height = width = whole_number(value)
        if key == "size" and "do_center_crop" in processor:
            return None
    return None if height is None or width is None else (key, height, width)
