"""Vision towers and backbones: stages, sizes of patches and channels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import ceil, isqrt

from neurarch_schemas.config.derived.vocabulary import (
    computed,
    computed_default,
    copy_of,
    default,
    default_unless_set,
    keyword_default,
    renamed,
    same_as,
    same_as_unless_set,
    short,
)
from neurarch_schemas.config.derived.per_layer import sapiens2_kv_heads
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
        draft.derive(name, [len(blocks) if isinstance(blocks, list) else 0 for blocks in draft.items(other)], f"blocks in {other}")

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
    features, strides, blocks = draft.integers("out_features"), draft.integers("stage_stride"), draft.integers("stage_num_blocks")
    for count in blocks:
        short(count)
    entries = [1, *features[:-1]]
    draft.derive("stage_in_channels", [*entries], "out_features")
    pairs = list(zip(strides, blocks, strict=False))
    draft.derive("stage_block_stride", [[stride, *[1] * (count - 1)] for stride, count in pairs], "stage_stride")
    out: list[list[JSONValue]] = [[features[stage]] * count for stage, count in enumerate(blocks)]
    draft.derive("stage_block_out_channels", [*out], "out_features")
    draft.derive("stage_block_in_channels", [[entries[stage], *out[stage][:-1]] for stage in range(len(blocks))], "out_features")
    draft.derive("fine_fusion_dims", [*reversed(features)][:-1], "out_features")
    draft.derive("intermediate_size", draft.integer("hidden_size") * 2, "2 * hidden_size")


def levit_shrinking(draft: Draft) -> None:
    key, widths = draft.integers("key_dim")[0], draft.integers("hidden_sizes")
    draft.derive("down_ops", [["Subsample", key, widths[stage] // key, 4, 2, 2] for stage in (0, 1)], "key_dim, hidden_sizes")


def dpt(draft: Draft) -> None:
    """Without a hybrid backbone there is no feature map to read from it."""
    hybrid = draft.flag("is_hybrid")
    if hybrid:
        backbone = draft.nested_values("backbone_config")
        if backbone is not None:
            backbone.setdefault("model_type", "bit")
        return
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
        draft.derive("video_patch_dim", draft.integer("video_temporal_patch_size") * patch, "video_temporal_patch_size * patch_dim")


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
    for path in ("prompt_encoder_config", "vision_config", "vision_config.backbone_config"):
        draft.inside(path).derive("image_size", size, "image_size of the parent")


# Default layouts of the PP-LCNet family: kernel, channels in, channels out, stride, squeeze-and-excitation.
def blocks(*rows: list[list[JSONValue]]) -> list[JSONValue]:
    return [*rows]


def lcnet_stage(width: int, double: int) -> list[list[JSONValue]]:
    return [[3, width, double, 2, False], [3, double, double, 1, False]]


LCNET_FRONT: list[list[list[JSONValue]]] = [
    [[3, 16, 32, 1, False]],
    lcnet_stage(32, 64),
    lcnet_stage(64, 128),
    [[3, 128, 256, 2, False], *([5, 256, 256, 1, False] for _ in range(5))],
]
LCNET = blocks(*LCNET_FRONT, [[5, 256, 512, 2, True], [5, 512, 512, 1, True]])
LCNET_V3 = blocks(
    *LCNET_FRONT[:3],
    [[3, 128, 256, 2, False], *([5, 256, 256, 1, False] for _ in range(4))],
    [[5, 256, 512, 2, True], [5, 512, 512, 1, True], *([5, 512, 512, 1, False] for _ in range(2))],
)
LCNET_V4 = blocks(
    [[3, 96, 96, 1, True]],
    [[3, 96, 96, 1, False] for _ in range(2)],
    [[3, 96, 192, [2, 1], False], *([3, 192, 192, 1, squeeze] for squeeze in (True, False, True, False, True, False))],
    [[3, 192, 384, [2, 1], False], [3, 384, 384, 1, True], [3, 384, 384, 1, False]],
)
TEXTNET_KERNELS: list[JSONValue] = [
    [[3, 3], [3, 3], [3, 3]],
    [[3, 3], [1, 3], [3, 3], [3, 1]],
    [[3, 3], [3, 3], [3, 1], [1, 3]],
    [[3, 3], [3, 1], [1, 3], [3, 3]],
]
RATIOS: list[JSONValue] = [[1, 1], [1, 2], [1, 3], [1, 4], [2, 1], [2, 2], [3, 1], [4, 1]]

POOLER = same_as_unless_set("pooler_output_size", "hidden_size")
SAM_VISION = (mlp_width("mlp_dim", "mlp_ratio"), half_width)
PROMPT = computed("image_embedding_size", lambda draft: draft.integer("image_size") // draft.integer("patch_size"), "image_size // patch_size")
DECODER_HEAD = computed("head_dim", lambda draft: draft.integer("d_model") // draft.integer("decoder_attention_heads"), "d_model // decoder_attention_heads")

BEFORE: Mapping[str, tuple[Rule, ...]] = {
    **dict.fromkeys(
        "Dinov2Config Dinov2WithRegistersConfig PixioConfig Tipsv2VisionConfig VitDetConfig VitPoseBackboneConfig DINOv3ViTConfig Sapiens2Config".split(),
        (STAGE_PER_LAYER,),
    ),
    **dict.fromkeys(
        "ConvNextConfig ConvNextV2Config FocalNetConfig HGNetV2Config ResNetConfig RTDetrResNetConfig".split(),
        (STAGE_PER_DEPTH,),
    ),
    **dict.fromkeys("DeiTConfig IJepaConfig ViTConfig VivitConfig".split(), (POOLER,)),
    **dict.fromkeys(("DFineConfig", "Deimv2Config"), (DECODER_HEAD,)),
    **dict.fromkeys(("InternVLVisionConfig", "QianfanOCRVisionConfig"), (square("image_size"), square("patch_size"))),
    **dict.fromkeys(("SamPromptEncoderConfig", "SamHQPromptEncoderConfig"), (PROMPT,)),
    **dict.fromkeys(("SamVisionConfig", "SamHQVisionConfig"), SAM_VISION),
    **dict.fromkeys(("SiglipTextConfig", "Siglip2TextConfig"), (same_as("projection_size", "hidden_size"),)),
    **dict.fromkeys(("PPDocLayoutV2Config", "PPDocLayoutV3Config", "PPOCRV5MobileDetConfig", "PPOCRV5ServerDetConfig"), ()),
    **dict.fromkeys(("PPOCRV5MobileRecConfig", "PPOCRV5ServerRecConfig"), (default("conv_kernel_size", [1, 3]),)),
    "AlignVisionConfig": (align_layers,),
    "BeitConfig": (segmentation_indices, STAGE_PER_LAYER),
    "BitConfig": (upper, STAGE_PER_DEPTH),
    "DeepseekOcr2SamVisionConfig": (default("downsample_channels", [512, 896]), *SAM_VISION),
    "DinatConfig": (
        number_of_stages,
        default_unless_set("dilations", [[1, 8, 1], [1, 4, 1, 4], [1, 2, 1, 2, 1, 2], [1, 1, 1, 1, 1]]),
        widened(),
        STAGE_PER_DEPTH,
    ),
    "DINOv3ConvNextConfig": (default("hidden_sizes", [96, 192, 384, 768]), default("depths", [3, 3, 9, 3]), STAGE_PER_DEPTH),
    "DonutSwinConfig": (number_of_stages, widened()),
    "DPTConfig": (dpt, POOLER),
    "EdgeTamVisionConfig": (
        default("backbone_channel_list", [384, 192, 96, 48]),
        default("backbone_feature_sizes", [[256, 256], [128, 128], [64, 64]]),
        default("fpn_top_down_levels", [2, 3]),
    ),
    "EdgeTamVideoConfig": (
        default("memory_attention_rope_feat_sizes", [64, 64]),
        default("memory_attention_rope_k_sizes", [16, 16]),
    ),
    "EfficientLoFTRConfig": (
        default("stage_num_blocks", [1, 2, 4, 14]),
        default("stage_stride", [2, 1, 2, 2]),
        default("out_features", [64, 64, 128, 256]),
        loftr_stages,
        copy_of("num_key_value_heads", "num_attention_heads"),
        keyword_default("partial_rotary_factor", 4.0),
    ),
    "Gemma4AudioConfig": (),
    "GraniteDoclingVisionConfig": (default("deepstack_visual_indexes", [3, 7, 10]),),
    "HieraConfig": (widened("embed_dim_multiplier"), STAGE_PER_DEPTH),
    "Inkling2VisionConfig": (mlp_width("intermediate_size", "mlp_ratio"),),
    "LevitConfig": (levit_shrinking,),
    "LwDetrViTConfig": (computed("num_windows_side", lambda draft: isqrt(draft.integer("num_windows")), "sqrt(num_windows)"), STAGE_PER_LAYER),
    "LwDetrConfig": (renamed("mask_loss_coefficient", "class_loss_coefficient"), detr_projector),
    "MaskFormerSwinConfig": (widened(), STAGE_PER_DEPTH),
    "MllamaVisionConfig": (default("supported_aspect_ratios", RATIOS), default("intermediate_layers_indices", [3, 7, 15, 23, 30])),
    "MllamaTextConfig": (default("cross_attention_layers", [3, 8, 13, 18, 23, 28, 33, 38]),),
    "Molmo2VisionConfig": (
        renamed("image_default_input_size", "image_size"),
        renamed("image_patch_size", "patch_size"),
        renamed("image_num_pos", "num_position_embeddings"),
        molmo2_image,
    ),
    "Molmo2AdapterConfig": (renamed("vit_layers", "vision_feature_layer"), default("vision_feature_layer", [24, 18])),
    "Molmo2TextConfig": (
        computed_default("rope_scaling_layers", lambda draft: [*range(short(draft.integer("num_hidden_layers")))], "all layers"),
    ),
    "PPLCNetConfig": (default("block_configs", LCNET), lengths_of("depths", "block_configs"), STAGE_PER_DEPTH),
    "PPLCNetV3Config": (default("block_configs", LCNET_V3), lengths_of("depths", "block_configs"), STAGE_PER_DEPTH),
    "PPLCNetV4Config": (default("block_configs", LCNET_V4), lengths_of("depths", "block_configs"), STAGE_PER_DEPTH, stage_channels),
    "PvtV2Config": (square_if_number("image_size"), stages(of_depths, stem=False)),
    "RadioConfig": (radio_patches, default("summary_idxs", [0, 1])),
    "RfDetrDinov2Config": (STAGE_PER_LAYER, rf_detr_windows),
    "Sam2HieraDetConfig": (
        default("image_size", [1024, 1024]),
        default("patch_kernel_size", [7, 7]),
        default("patch_stride", [4, 4]),
        default("patch_padding", [3, 3]),
        default("query_stride", [2, 2]),
        default("window_positional_embedding_background_size", [7, 7]),
        default("blocks_per_stage", [1, 2, 7, 2]),
        default("embed_dim_per_stage", [96, 192, 384, 768]),
        default("num_attention_heads_per_stage", [1, 2, 4, 8]),
        default("window_size_per_stage", [8, 4, 14, 7]),
        default("global_attention_blocks", [5, 7, 9]),
    ),
    "Sam2VisionConfig": (
        default("backbone_channel_list", [768, 384, 192, 96]),
        default("backbone_feature_sizes", [[256, 256], [128, 128], [64, 64]]),
        default("fpn_top_down_levels", [2, 3]),
    ),
    "Sam2VideoConfig": (default("memory_attention_rope_feat_sizes", [64, 64]),),
    "Sam3ViTConfig": (default("global_attn_indexes", [7, 15, 23, 31]),),
    "Sam3VisionConfig": (default("scale_factors", [4.0, 2.0, 1.0, 0.5]), default("backbone_feature_sizes", [[288, 288], [144, 144], [72, 72]])),
    "Sapiens2HeadConfig": (
        kernels("upsample_out_channels", "upsample_kernel_size", "upsample_kernel_sizes"),
        kernels("conv_out_channels", "conv_kernel_size", "conv_kernel_sizes"),
        kernels("scale_conv_out_channels", "scale_conv_kernel_size", "scale_conv_kernel_sizes"),
    ),
    "SegGptConfig": (mlp_width("mlp_dim"),),
    "Step3p7VisionConfig": (
        renamed("width", "hidden_size"),
        renamed("layers", "num_hidden_layers"),
        renamed("heads", "num_attention_heads"),
        renamed("ls_init_value", "layer_scale_init_value"),
    ),
    "SuperGlueConfig": (default("gnn_layers_types", ["self", "cross"] * 9), default("keypoint_encoder_sizes", [32, 64, 128, 256])),
    "SwinConfig": (number_of_stages, widened(), STAGE_PER_DEPTH),
    "Swin2SRConfig": (same_as("num_channels_out", "num_channels"), number_of_stages),
    "Swinv2Config": (number_of_stages, STAGE_PER_DEPTH, widened()),
    "TextNetConfig": (
        default("conv_layer_kernel_sizes", TEXTNET_KERNELS),
        default("conv_layer_strides", [[1, 2, 1], [2, 1, 1, 1], [2, 1, 1, 1], [2, 1, 1, 1]]),
        lengths_of("depths", "conv_layer_kernel_sizes"),
        STAGE_PER_DEPTH,
    ),
    "TimmBackboneConfig": (renamed("out_indices", "out_indices"), default("out_indices", [-1])),
    "Tipsv2DptConfig": (default("neck_hidden_sizes", [96, 192, 384, 768]), default("reassemble_factors", [4, 2, 1, 0.5])),
    "UVDocBackboneConfig": (lengths_of("depths", "stage_configs"), STAGE_PER_DEPTH),
    "VideoMAEConfig": (renamed("qkv_bias", "qv_bias"),),
    "ZoeDepthConfig": (default_unless_set("bin_configurations", [{"n_bins": 64, "min_depth": 0.001, "max_depth": 10.0}]),),
}
ROPE: Mapping[str, tuple[Rule, ...]] = {}
AFTER: Mapping[str, tuple[Rule, ...]] = {
    "CHMv2Config": (default("reassemble_factors", [4, 2, 1, 0.5]), default("post_process_channels", [128, 256, 512, 1024])),
    "EfficientNetConfig": (efficientnet_layers,),
    "Sapiens2Config": (sapiens2_kv_heads,),
    "Sam3TrackerVideoConfig": (default("memory_attention_rope_feat_sizes", [72, 72]), tracker_image),
    "Step3p7VisionConfig": (
        computed("intermediate_size", lambda draft: int(draft.integer("hidden_size") * draft.number("mlp_ratio")), "hidden_size * mlp_ratio"),
    ),
}
