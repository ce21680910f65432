"""Vision towers and backbones: stages, sizes of patches and channels."""

from __future__ import annotations

from collections.abc import Mapping
from math import isqrt

from neurarch_schemas.config.derived.per_layer import sapiens2_kv_heads
from neurarch_schemas.config.derived.stages import (
    DECODER_HEAD,
    LCNET,
    LCNET_V3,
    LCNET_V4,
    POOLER,
    PROMPT,
    RATIOS,
    SAM_VISION,
    STAGE_PER_DEPTH,
    STAGE_PER_LAYER,
    TEXTNET_KERNELS,
    align_layers,
    detr_projector,
    dpt,
    efficientnet_layers,
    image_size_inside,
    kernels,
    lengths_of,
    levit_shrinking,
    loftr_stages,
    mlp_width,
    molmo2_image,
    number_of_stages,
    of_depths,
    radio_patches,
    rf_detr_windows,
    segmentation_indices,
    square,
    square_if_number,
    stage_channels,
    stages,
    tracker_image,
    upper,
    widened,
)
from neurarch_schemas.config.derived.vocabulary import (
    computed,
    computed_default,
    copy_of,
    default,
    default_unless_set,
    keyword_default,
    renamed,
    same_as,
    short,
)
from neurarch_schemas.config.draft import Rule

BEFORE: Mapping[str, tuple[Rule, ...]] = {
    **dict.fromkeys(
        [
            "Dinov2Config",
            "Dinov2WithRegistersConfig",
            "PixioConfig",
            "Tipsv2VisionConfig",
            "VitDetConfig",
            "VitPoseBackboneConfig",
            "DINOv3ViTConfig",
            "Sapiens2Config",
        ],
        (STAGE_PER_LAYER,),
    ),
    **dict.fromkeys(
        ["ConvNextConfig", "ConvNextV2Config", "FocalNetConfig", "HGNetV2Config", "ResNetConfig", "RTDetrResNetConfig"],
        (STAGE_PER_DEPTH,),
    ),
    **dict.fromkeys(["DeiTConfig", "IJepaConfig", "ViTConfig", "VivitConfig"], (POOLER,)),
    **dict.fromkeys(("DFineConfig", "Deimv2Config"), (DECODER_HEAD,)),
    **dict.fromkeys(("InternVLVisionConfig", "QianfanOCRVisionConfig"), (square("image_size"), square("patch_size"))),
    **dict.fromkeys(("SamPromptEncoderConfig", "SamHQPromptEncoderConfig"), (PROMPT,)),
    **dict.fromkeys(("SamVisionConfig", "SamHQVisionConfig"), SAM_VISION),
    **dict.fromkeys(("SiglipTextConfig", "Siglip2TextConfig"), (same_as("projection_size", "hidden_size"),)),
    **dict.fromkeys(
        ("PPDocLayoutV2Config", "PPDocLayoutV3Config", "PPOCRV5MobileDetConfig", "PPOCRV5ServerDetConfig"), ()
    ),
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
    "DINOv3ConvNextConfig": (
        default("hidden_sizes", [96, 192, 384, 768]),
        default("depths", [3, 3, 9, 3]),
        STAGE_PER_DEPTH,
    ),
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
    "LwDetrViTConfig": (
        computed("num_windows_side", lambda draft: isqrt(draft.integer("num_windows")), "sqrt(num_windows)"),
        STAGE_PER_LAYER,
    ),
    "LwDetrConfig": (renamed("mask_loss_coefficient", "class_loss_coefficient"), detr_projector),
    "MaskFormerSwinConfig": (widened(), STAGE_PER_DEPTH),
    "MllamaVisionConfig": (
        default("supported_aspect_ratios", RATIOS),
        default("intermediate_layers_indices", [3, 7, 15, 23, 30]),
    ),
    "MllamaTextConfig": (default("cross_attention_layers", [3, 8, 13, 18, 23, 28, 33, 38]),),
    "Molmo2VisionConfig": (
        renamed("image_default_input_size", "image_size"),
        renamed("image_patch_size", "patch_size"),
        renamed("image_num_pos", "num_position_embeddings"),
        molmo2_image,
    ),
    "Molmo2AdapterConfig": (renamed("vit_layers", "vision_feature_layer"), default("vision_feature_layer", [24, 18])),
    "Molmo2TextConfig": (
        computed_default(
            "rope_scaling_layers", lambda draft: [*range(short(draft.integer("num_hidden_layers")))], "all layers"
        ),
    ),
    "PPLCNetConfig": (default("block_configs", LCNET), lengths_of("depths", "block_configs"), STAGE_PER_DEPTH),
    "PPLCNetV3Config": (default("block_configs", LCNET_V3), lengths_of("depths", "block_configs"), STAGE_PER_DEPTH),
    "PPLCNetV4Config": (
        default("block_configs", LCNET_V4),
        lengths_of("depths", "block_configs"),
        STAGE_PER_DEPTH,
        stage_channels,
    ),
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
    "Sam3VisionConfig": (
        default("scale_factors", [4.0, 2.0, 1.0, 0.5]),
        default("backbone_feature_sizes", [[288, 288], [144, 144], [72, 72]]),
    ),
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
    "SuperGlueConfig": (
        default("gnn_layers_types", ["self", "cross"] * 9),
        default("keypoint_encoder_sizes", [32, 64, 128, 256]),
    ),
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
    "Tipsv2DptConfig": (
        default("neck_hidden_sizes", [96, 192, 384, 768]),
        default("reassemble_factors", [4, 2, 1, 0.5]),
    ),
    "UVDocBackboneConfig": (lengths_of("depths", "stage_configs"), STAGE_PER_DEPTH),
    "VideoMAEConfig": (renamed("qkv_bias", "qv_bias"),),
    "ZoeDepthConfig": (
        default_unless_set("bin_configurations", [{"n_bins": 64, "min_depth": 0.001, "max_depth": 10.0}]),
    ),
}
ROPE: Mapping[str, tuple[Rule, ...]] = {}
AFTER: Mapping[str, tuple[Rule, ...]] = {
    "Sam3VisionConfig": (image_size_inside("backbone_config"),),
    "CHMv2Config": (
        default("reassemble_factors", [4, 2, 1, 0.5]),
        default("post_process_channels", [128, 256, 512, 1024]),
    ),
    "EfficientNetConfig": (efficientnet_layers,),
    "Sapiens2Config": (sapiens2_kv_heads,),
    "Sam3TrackerVideoConfig": (tracker_image,),
    "Step3p7VisionConfig": (
        computed(
            "intermediate_size",
            lambda draft: int(draft.integer("hidden_size") * draft.number("mlp_ratio")),
            "hidden_size * mlp_ratio",
        ),
    ),
}
