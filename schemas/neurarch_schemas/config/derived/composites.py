"""Composite configs: what each parent class gives to its nested configs and takes from them."""

from __future__ import annotations

from collections.abc import Mapping

from neurarch_schemas.config.derived import nesting, parents
from neurarch_schemas.config.derived.nesting import (
    completed,
    default_backbone,
    drop_types,
    everything_flat,
    flat,
    legacy_nested,
    moved,
    retyped,
    timm_backbone,
)
from neurarch_schemas.config.derived.parents import (
    from_decoder,
    give,
    give_fixed,
    of,
    take,
    tied_like,
    vocabulary_of_text,
)
from neurarch_schemas.config.derived.vocabulary import (
    default,
    dropped,
    fixed,
    head_dim,
    head_dim_or_zero,
    keyword_default,
    kv_heads,
    renamed,
)
from neurarch_schemas.config.draft import Rule
from neurarch_schemas.documents.json_value import JSONValue

# Image shapes LLaVA cuts a picture into, in pixels.
LLAVA_GRID: list[JSONValue] = [[336, 672], [672, 336], [672, 672], [1008, 336], [336, 1008]]
ONEVISION_GRID: list[JSONValue] = [[384 * height, 384 * width] for height in range(1, 7) for width in range(1, 7)]

QWEN_FLAT = flat("text_config")
CLIP = legacy_nested("text_config", "vision_config")
TEXT_TIED = tied_like("text_config")
ENCODER_RANGE = take("initializer_range", "encoder_config")

BEFORE: Mapping[str, tuple[Rule, ...]] = {
    **dict.fromkeys(
        [
            "AltCLIPConfig",
            "ChineseCLIPConfig",
            "CLIPConfig",
            "CLIPSegConfig",
            "GroupViTConfig",
            "MetaClip2Config",
            "XCLIPConfig",
        ],
        (CLIP,),
    ),
    **dict.fromkeys(
        [
            "GlmAsrConfig",
            "PeAudioConfig",
            "PeAudioVideoConfig",
            "PeVideoConfig",
            "VoxtralConfig",
            "VoxtralRealtimeConfig",
        ],
        (completed("text_config"),),
    ),
    **dict.fromkeys(
        ("HiggsAudioV2TokenizerConfig", "XcodecConfig"), (completed("acoustic_model_config", "semantic_model_config"),)
    ),
    **dict.fromkeys(
        ("ConditionalDetrConfig", "DetrConfig", "MaskFormerDetrConfig", "TableTransformerConfig"),
        (timm_backbone(True),),
    ),
    **dict.fromkeys(
        ("PPOCRV6MediumDetConfig", "PPOCRV6SmallDetConfig", "PPOCRV6TinyRecConfig"), (default_backbone("pp_lcnet_v4"),)
    ),
    **dict.fromkeys(("Qwen2_5_VLConfig", "Qwen2VLConfig", "PaddleOCRVLConfig", "HunYuanVLConfig"), (QWEN_FLAT,)),
    **dict.fromkeys(("Idefics3Config", "SmolVLMConfig"), ()),
    **dict.fromkeys(("Qwen3_5Config", "Qwen3_5MoeConfig", "Qwen3VLConfig", "Qwen3VLMoeConfig", "Qwen4ExpConfig"), ()),
    **dict.fromkeys(("Aimv2TextConfig", "EvollaConfig", "MptConfig", "RagConfig"), ()),
    "AriaConfig": (nesting.projector_queries,),
    "BridgeTowerConfig": (dropped("text_config_dict", "vision_config_dict"),),
    "CohereAsrConfig": (head_dim, kv_heads, completed("encoder_config")),
    "CohereCompassConfig": (retyped("vision_config", "cohere_compass_vision", "cohere_compass"),),
    "Cosmos3OmniConfig": (retyped("vision_config", "qwen3_vl_vision"),),
    "DabDetrConfig": (timm_backbone(False),),
    "DbrxConfig": (nesting.expert_width,),
    "DeformableDetrConfig": (
        timm_backbone(False, lambda draft: [2, 3, 4] if draft.integer("num_feature_levels") > 1 else [4]),
    ),
    "DepthProConfig": (nesting.nested_image_size,),
    "Dots3NoteConfig": (nesting.dots3_note,),
    "EsmConfig": (nesting.folding_model,),
    "Exaone4_5_Config": (retyped("text_config", "exaone4", "exaone4_5_text"),),
    "FlavaConfig": (legacy_nested("text_config", "image_config", "multimodal_config", "image_codebook_config"),),
    "FuyuConfig": (flat("text_config", only_defaults=True),),
    "Glm5NextConfig": (everything_flat("text_config", keep_type=True),),
    "HyperCLOVAXVisionV2Config": (retyped("vision_config", "qwen2_5_vl_vision", "qwen2_5_vl"),),
    "Idefics2Config": (drop_types("vision_config", "perceiver_config"),),
    "InklingConfig": (nesting.inkling,),
    "JevConfig": (
        dropped("decision_config", "judge_config", "calibration"),
        default("offsets", {"noul": 0, "score": 2, "choice": 8}),
    ),
    "Kimi_K25Config": (retyped("text_config", "deepseek_v3", "kimi_k2"),),
    "Lfm2VlConfig": (renamed("tie_embedding", "tie_word_embeddings"),),
    "Molmo2Config": (moved("vit_config", "vision_config"),),
    "MoshiConfig": (kv_heads, head_dim_or_zero, nesting.moshi),
    "MusicFlamingoConfig": (
        keyword_default("partial_rotary_factor", 0.2),
        retyped("audio_config", "audioflamingo3_encoder", None, "musicflamingo_encoder"),
    ),
    "NemotronH_Omni_Reasoning_V3_Config": (
        moved("llm_config", "text_config"),
        moved("sound_config", "audio_config"),
        nesting.omni_names,
        nesting.omni_audio,
    ),
    "OmDetTurboConfig": (nesting.turbo_backbone,),
    "PeAudioEncoderConfig": (kv_heads, completed("dac_config")),
    "PeVideoEncoderConfig": (kv_heads, completed("vision_config")),
    "PPOCRV6SmallRecConfig": (default("conv_kernel_size", [1, 7]), default_backbone("pp_lcnet_v4")),
    "RfDetrConfig": (
        default_backbone(
            "rf_detr_dinov2",
            num_attention_heads=6,
            out_features=["stage2", "stage5", "stage8", "stage11"],
            hidden_size=384,
            num_register_tokens=0,
            image_size=518,
        ),
    ),
    "Step3p7Config": (drop_types("vision_config", "text_config"),),
    "UnlimitedOcrConfig": (nesting.unlimited_ocr,),
}
ROPE: Mapping[str, tuple[Rule, ...]] = {}
AFTER: Mapping[str, tuple[Rule, ...]] = {
    **dict.fromkeys(
        [
            "GraniteSpeech5CTCConfig",
            "LasrCTCConfig",
            "NemotronAsrStreamingConfig",
            "ParakeetCTCConfig",
            "ParakeetRNNTConfig",
        ],
        (ENCODER_RANGE,),
    ),
    **dict.fromkeys(
        [
            "FastVlmConfig",
            "LlavaConfig",
            "VideoLlama3Config",
            "Glm4vConfig",
            "Glm4vMoeConfig",
            "GlmOcrConfig",
            "Qwen2_5_VLConfig",
            "Qwen2VLConfig",
            "PaddleOCRVLConfig",
            "ShieldGemma2Config",
        ],
        (TEXT_TIED,),
    ),
    **dict.fromkeys(
        ("MiniCPMOcrConfig", "MiniCPMV4_6Config", "MiniCPMV4_7Config"),
        (give("vision_config", "insert_layer_id"), take("patch_size", "vision_config")),
    ),
    **dict.fromkeys(("ColModernVBertConfig", "ColQwen2Config"), (vocabulary_of_text("vlm_config"),)),
    **dict.fromkeys(("Gemma4AssistantConfig", "Gemma4UnifiedAssistantConfig"), (parents.shared_kv_layers,)),
    **dict.fromkeys(
        ("InstructBlipConfig", "InstructBlipVideoConfig"),
        (
            give("qformer_config", "encoder_hidden_size", of("vision_config", "hidden_size")),
            parents.causal_language_model,
        ),
    ),
    **dict.fromkeys(("HiggsAudioV2TokenizerConfig", "XcodecConfig"), (parents.codebook_sum,)),
    **dict.fromkeys(("MusicgenConfig", "MusicgenMelodyConfig"), (fixed("is_encoder_decoder", True),)),
    **dict.fromkeys(("VoxtralConfig", "VoxtralRealtimeConfig"), (take("hidden_size", "text_config"),)),
    "BlipConfig": (give("text_config", "encoder_hidden_size", of("vision_config", "hidden_size")),),
    "Blip2Config": (
        take("is_encoder_decoder", "text_config"),
        give("qformer_config", "encoder_hidden_size", of("vision_config", "hidden_size")),
        parents.causal_language_model,
    ),
    "BltConfig": (parents.byte_latent,),
    "ClapConfig": (parents.clap,),
    "DbrxConfig": (take("num_key_value_heads", "attn_config", "kv_n_heads"),),
    "DiaConfig": (default("delay_pattern", [0, 8, 9, 10, 11, 12, 13, 14, 15]), parents.special_tokens_outside),
    "Granite4VisionConfig": (
        default("image_grid_pinpoints", LLAVA_GRID),
        parents.granite_vision,
        default("spatial_target_layers", [12, 15, 18, 21]),
    ),
    "GraniteSpeechPlusConfig": (),
    "HunYuanVLConfig": (give("vision_config", "text_hidden_size", of("text_config", "hidden_size")), TEXT_TIED),
    "Idefics2Config": (parents.perceiver_width,),
    "InklingConfig": (
        give("vision_config", "text_hidden_size", of("text_config", "hidden_size")),
        give("audio_config", "text_hidden_size", of("text_config", "hidden_size")),
    ),
    "JanusConfig": (
        give(
            "vq_config",
            "num_patches",
            lambda draft: (
                draft.inside("vision_config").integer("image_size")
                // draft.inside("vision_config").integer("patch_size")
            ),
        ),
    ),
    "KyutaiSpeechToTextConfig": (kv_heads, parents.frame_size, head_dim),
    "LightGlueConfig": (
        kv_heads,
        parents.descriptor_sizes,
        give_fixed("keypoint_detector_config", "attn_implementation", "eager"),
    ),
    "LlavaNextConfig": (default("image_grid_pinpoints", LLAVA_GRID),),
    "LlavaNextVideoConfig": (default("image_grid_pinpoints", LLAVA_GRID), TEXT_TIED),
    "LlavaOnevisionConfig": (default("image_grid_pinpoints", ONEVISION_GRID), TEXT_TIED),
    "MaskFormerConfig": (
        take("num_attention_heads", "decoder_config", "encoder_attention_heads"),
        take("num_hidden_layers", "decoder_config"),
    ),
    "MiniMaxM3VLConfig": (TEXT_TIED, parents.merged_patches),
    "Molmo2Config": (parents.molmo2_layers,),
    "MusicFlamingoConfig": (parents.music_flamingo,),
    "PaliGemmaConfig": (parents.image_tokens,),
    "PerceptionLMConfig": (take("tie_word_embeddings", "text_config", unless_set=True),),
    "PI0Config": (
        give("dit_config", "vocab_size", of("vlm_config.text_config", "vocab_size")),
        give_fixed("dit_config", "is_causal", True),
        give_fixed("dit_config", "use_bidirectional_attention", True),
        give_fixed("vlm_config.text_config", "use_bidirectional_attention", True),
    ),
    "Pix2StructConfig": (
        take("decoder_start_token_id", "text_config"),
        take("pad_token_id", "text_config"),
        take("eos_token_id", "text_config"),
        give("text_config", "initializer_range"),
        give("vision_config", "initializer_range"),
        give("text_config", "is_encoder_decoder"),
        give("text_config", "tie_word_embeddings"),
    ),
    "PPDocLayoutV4Config": (parents.prior_of_labels,),
    "Qwen3OmniMoeConfig": (take("initializer_range", "thinker_config", unless_set=True),),
    "T5GemmaConfig": (
        parents.t5gemma,
        take("initializer_range", "decoder"),
        from_decoder("bos_token_id", "pad_token_id", "eos_token_id"),
    ),
    "T5Gemma2Config": (parents.t5gemma2, from_decoder("bos_token_id", "pad_token_id", "eos_token_id", "vocab_size")),
    "VibeVoiceConfig": (
        take("vocab_size", "text_config"),
        take("tie_word_embeddings", "text_config"),
        give("diffusion_head_config", "hidden_size", of("text_config", "hidden_size")),
        give("diffusion_head_config", "latent_size", of("audio_config", "hidden_size")),
    ),
}
