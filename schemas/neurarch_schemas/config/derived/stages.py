"""Derivations for vision towers and backbones; ``vision`` says which class uses which."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil

from neurarch_schemas.config.derived.vocabulary import (
    computed,
    same_as_unless_set,
    short,
)
from neurarch_schemas.config.draft import Draft, Rule, as_integer
from neurarch_schemas.documents.json_value import JSONValue


def stages(count: Callable[[Draft], int], stem: bool = True) -> Rule:
    """Names of a backbone's stages, and which of them it returns (the last one unless written)."""

    def rule(draft: Draft) -> None:
        features, indices = draft.take("out_features"), draft.take("out_indices")
        names: list[JSONValue] = [f"stage{i}" for i in range(1, short(count(draft)) + 1)]
        if stem:
            names.insert(0, "stem")
        draft.derive("stage_names", names, "one a stage")
        if features is None and indices is None:
            features, indices = [names[-1]], [len(names) - 1]
        elif indices is None and isinstance(features, list):
            indices = [names.index(name) for name in features]
        elif features is None and isinstance(indices, list):
            features = [names[as_integer(index)] for index in indices]
        draft.derive("out_features", features, "out_indices")
        draft.derive("out_indices", indices, "out_features")

    return rule


def of_layers(draft: Draft) -> int:
    return draft.integer("num_hidden_layers")


def of_depths(draft: Draft) -> int:
    return len(draft.items("depths"))


STAGE_PER_LAYER = stages(of_layers)
STAGE_PER_DEPTH = stages(of_depths)


def number_of_stages(draft: Draft) -> None:
    draft.derive("num_layers", len(draft.items("depths")), "length of depths")


def widened(factor: str | None = None) -> Rule:
    """The width after the last stage: doubled (or multiplied by ``factor``) at each stage."""

    def rule(draft: Draft) -> None:
        base = 2.0 if factor is None else draft.number(factor)
        width = draft.integer("embed_dim") * base ** (len(draft.items("depths")) - 1)
        draft.derive("hidden_size", int(width), "embed_dim, doubled at each stage")

    return rule


def lengths_of(name: str, other: str) -> Rule:
    """``name`` counts the blocks of each stage in ``other``."""

    def rule(draft: Draft) -> None:
        draft.derive(
            name,
            [len(blocks) if isinstance(blocks, list) else 0 for blocks in draft.items(other)],
            f"blocks in {other}",
        )

    return rule


def mlp_width(name: str, ratio: str | float = 4.0) -> Rule:
    """The feed-forward width as a multiple of the hidden size, unless given."""

    def rule(draft: Draft) -> None:
        if draft.is_null(name):
            factor = draft.number(ratio) if isinstance(ratio, str) else ratio
            draft.derive(name, int(draft.integer("hidden_size") * factor), f"hidden_size * {ratio}")

    return rule


def half_width(draft: Draft) -> None:
    draft.derive("scale", draft.integer("hidden_size") // 2, "hidden_size // 2")


def square(name: str) -> Rule:
    """One number stands for height and width."""

    def rule(draft: Draft) -> None:
        value = draft.get(name)
        if not isinstance(value, list):
            draft.derive(name, [value, value], "height and width")

    return rule


def square_if_number(name: str) -> Rule:
    def rule(draft: Draft) -> None:
        value = draft.get(name)
        if isinstance(value, int):
            draft.derive(name, [value, value], "height and width")

    return rule


def align_layers(draft: Draft) -> None:
    deep = draft.number("depth_coefficient")
    count = sum(ceil(deep * as_integer(repeats)) for repeats in draft.items("num_block_repeats"))
    draft.derive("num_hidden_layers", count, "depth_coefficient, num_block_repeats")


def efficientnet_layers(draft: Draft) -> None:
    draft.derive("num_hidden_layers", 4 * sum(draft.integers("num_block_repeats")), "4 * sum of num_block_repeats")


def loftr_stages(draft: Draft) -> None:
    features, strides, blocks = (
        draft.integers("out_features"),
        draft.integers("stage_stride"),
        draft.integers("stage_num_blocks"),
    )
    for count in blocks:
        short(count)
    entries = [1, *features[:-1]]
    draft.derive("stage_in_channels", [*entries], "out_features")
    pairs = list(zip(strides, blocks, strict=False))
    draft.derive("stage_block_stride", [[stride, *[1] * (count - 1)] for stride, count in pairs], "stage_stride")
    out: list[list[JSONValue]] = [[features[stage]] * count for stage, count in enumerate(blocks)]
    draft.derive("stage_block_out_channels", [*out], "out_features")
    draft.derive(
        "stage_block_in_channels", [[entries[stage], *out[stage][:-1]] for stage in range(len(blocks))], "out_features"
    )
    draft.derive("fine_fusion_dims", [*features[:0:-1]], "out_features")
    draft.derive("intermediate_size", draft.integer("hidden_size") * 2, "2 * hidden_size")


def levit_shrinking(draft: Draft) -> None:
    key, widths = draft.integers("key_dim")[0], draft.integers("hidden_sizes")
    steps: list[JSONValue] = [["Subsample", key, widths[stage] // key, 4, 2, 2] for stage in (0, 1)]
    draft.derive("down_ops", steps, "key_dim, hidden_sizes")


def dpt(draft: Draft) -> None:
    """Without a hybrid backbone there is no feature map to read from it."""
    if draft.flag("is_hybrid"):
        backbone = draft.nested_values("backbone_config") or dict(draft.type.nested["backbone_config"].settings or {})
        draft.values["backbone_config"] = {"model_type": "bit", **backbone}
        return
    name = draft.take("backbone")
    if name is not None:
        if draft.values.get("backbone_config") is None:
            draft.values["backbone_config"] = {"model_type": "timm_backbone", "backbone": name}
        draft.derive("backbone_out_indices", None, "backbone")
    draft.derive("backbone_featmap_shape", None, "is_hybrid is off")
    draft.derive("neck_ignore_stages", [], "is_hybrid is off")


def molmo2_image(draft: Draft) -> None:
    draft.take("model_type")
    if draft.is_null("image_size"):
        draft.derive("image_size", [378, 378], "default of the config class")
    if draft.is_null("num_position_embeddings"):
        height, width = draft.integers("image_size")[:2]
        patch = draft.integer("patch_size")
        draft.derive("num_position_embeddings", height // patch * (width // patch), "image_size, patch_size")


def radio_patches(draft: Draft) -> None:
    patch = draft.integer("num_channels") * draft.integer("patch_size") ** 2
    draft.derive("patch_dim", patch, "num_channels * patch_size ** 2")
    if not draft.is_null("video_temporal_patch_size"):
        draft.derive(
            "video_patch_dim",
            draft.integer("video_temporal_patch_size") * patch,
            "video_temporal_patch_size * patch_dim",
        )


def rf_detr_windows(draft: Draft) -> None:
    """Blocks whose output is read attend globally, those before them in windows."""
    indices = [as_integer(index) for index in draft.items("out_indices")]
    blocks: list[JSONValue] = [index for index in range(short(indices[-1] + 1)) if index not in indices]
    draft.derive("window_block_indexes", blocks, "out_indices")


def kernels(lists: str, kernel: str, name: str) -> Rule:
    """As many kernels as channels."""

    def rule(draft: Draft) -> None:
        if not draft.is_null(lists) and draft.is_null(name):
            draft.derive(name, [draft.get(kernel)] * len(draft.items(lists)), kernel)

    return rule


def detr_projector(draft: Draft) -> None:
    width, scales = draft.get("d_model"), len(draft.items("projector_scale_factors"))
    draft.derive("projector_in_channels", [width] * scales, "d_model")
    draft.derive("projector_out_channels", width, "d_model")
    draft.derive("num_feature_levels", scales, "length of projector_scale_factors")


def upper(draft: Draft) -> None:
    if isinstance(draft.get("global_padding"), str):
        draft.derive("global_padding", draft.text("global_padding").upper(), "upper case")


def segmentation_indices(draft: Draft) -> None:
    if "segmentation_indices" in draft.keywords and draft.keywords.get("out_indices") is None:
        draft.keywords["out_indices"] = draft.take("segmentation_indices")


def stage_channels(draft: Draft) -> None:
    blocks = draft.items("block_configs")
    last = [stage[-1] for stage in blocks if isinstance(stage, list)]
    draft.derive("stage_out_channels", [block[2] for block in last if isinstance(block, list)], "block_configs")


def tracker_image(draft: Draft) -> None:
    """SAM 3: one image size for the tower and the prompts."""
    size = draft.keywords.get("image_size", 1008)
    draft.derive("image_size", size, "image_size")
    vision = draft.inside("vision_config")
    for nested in (draft.inside("prompt_encoder_config"), vision, vision.inside("backbone_config")):
        nested.derive("image_size", size, "image_size of the parent")
    patch = vision.inside("backbone_config").integer("patch_size")
    sides = [factor * as_integer(size) // patch for factor in (4, 2, 1)]
    vision.derive("backbone_feature_sizes", [[side, side] for side in sides], "image_size // patch_size")
    draft.derive("memory_attention_rope_feat_sizes", [sides[-1], sides[-1]], "image_size // patch_size")


def image_size_inside(*paths: str) -> Rule:
    """SAM 3: an image size written on the outside goes to the tower."""

    def rule(draft: Draft) -> None:
        size = draft.keywords.get("image_size")
        if size is not None:
            for path in paths:
                draft.inside(path).derive("image_size", size, "image_size of the parent")

    return rule


# Default layouts of the PP-LCNet family: kernel, channels in, channels out, stride, squeeze-and-excitation.


def row(*values: JSONValue) -> JSONValue:
    return [*values]


def rows(count: int, *values: JSONValue) -> list[JSONValue]:
    return [row(*values) for _ in range(count)]


def lcnet_stage(width: int, double: int) -> JSONValue:
    return [row(3, width, double, 2, False), row(3, double, double, 1, False)]


LCNET_FRONT: list[JSONValue] = [rows(1, 3, 16, 32, 1, False), lcnet_stage(32, 64), lcnet_stage(64, 128)]
LCNET_LAST: list[JSONValue] = [row(5, 256, 512, 2, True), row(5, 512, 512, 1, True)]
LCNET: list[JSONValue] = [*LCNET_FRONT, [row(3, 128, 256, 2, False), *rows(5, 5, 256, 256, 1, False)], LCNET_LAST]
LCNET_V3: list[JSONValue] = [
    *LCNET_FRONT,
    [row(3, 128, 256, 2, False), *rows(4, 5, 256, 256, 1, False)],
    [*LCNET_LAST, *rows(2, 5, 512, 512, 1, False)],
]
LCNET_V4: list[JSONValue] = [
    rows(1, 3, 96, 96, 1, True),
    rows(2, 3, 96, 96, 1, False),
    [row(3, 96, 192, [2, 1], False), *(row(3, 192, 192, 1, squeeze) for squeeze in (True, False) * 3)],
    [row(3, 192, 384, [2, 1], False), row(3, 384, 384, 1, True), row(3, 384, 384, 1, False)],
]
TEXTNET_KERNELS: list[JSONValue] = [
    [[3, 3], [3, 3], [3, 3]],
    [[3, 3], [1, 3], [3, 3], [3, 1]],
    [[3, 3], [3, 3], [3, 1], [1, 3]],
    [[3, 3], [3, 1], [1, 3], [3, 3]],
]
RATIOS: list[JSONValue] = [[1, 1], [1, 2], [1, 3], [1, 4], [2, 1], [2, 2], [3, 1], [4, 1]]

POOLER = same_as_unless_set("pooler_output_size", "hidden_size")
SAM_VISION = (mlp_width("mlp_dim", "mlp_ratio"), half_width)
PROMPT = computed(
    "image_embedding_size",
    lambda draft: draft.integer("image_size") // draft.integer("patch_size"),
    "image_size // patch_size",
)
DECODER_HEAD = computed(
    "head_dim",
    lambda draft: draft.integer("d_model") // draft.integer("decoder_attention_heads"),
    "d_model // decoder_attention_heads",
)
