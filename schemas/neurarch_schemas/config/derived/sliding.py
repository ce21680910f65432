"""Classes whose layers differ in the reach of their attention (sliding windows, chunks)."""

from __future__ import annotations

from collections.abc import Mapping

from neurarch_schemas.config.derived.heads import OSS_ROPE, multimodal_rope
from neurarch_schemas.config.derived.vocabulary import (
    FULL,
    SLIDING,
    SPARSE,
    alike,
    alternating,
    alternating_by,
    by_index,
    default,
    every_nth,
    first_dense,
    first_dense_by,
    head_dim,
    kv_heads,
    per_layer,
    set_head_dim,
)
from neurarch_schemas.config.derived.windows import (
    CWM_ROPE,
    LAGUNA_ROPE,
    LFM3_ROPE,
    MIMO_ROPE,
    QWEN2,
    SPLIT_ROPE,
    WINDOW_LAYERS,
    ZAYA_ROPE,
    as_written,
    beam_layers,
    by_layer_type,
    cohere2_moe_layers,
    cohere_compass_rope,
    counted_from_the_end,
    dory,
    drop_window_pattern,
    every_nth_and_last,
    exaone_layers,
    first_of_group,
    first_of_group_by,
    flint,
    gemma3_layers,
    gemma3n_lists,
    halved_window,
    heads_everywhere,
    inkling_layers,
    inkling_loop,
    layer_theta,
    layer_theta_or_none,
    llama4_layers,
    mellum_mtp,
    mimo_window,
    modernbert_decoder_window,
    modernbert_window,
    qwen2_moe,
    smollm3_layers,
    split_rope,
    ultrabert,
    window_or_full,
    zaya_rope,
    zero_window_is_none,
)
from neurarch_schemas.config.draft import Rule

BEFORE: Mapping[str, tuple[Rule, ...]] = {
    **dict.fromkeys(
        (
            "DeepseekOcr2VisionEncoderConfig",
            "Qwen2Config",
            "Qwen2_5OmniTextConfig",
            "Qwen2_5OmniTalkerConfig",
            "Qwen2_5_VLTextConfig",
            "Qwen2VLTextConfig",
            "Qwen3Config",
        ),
        QWEN2,
    ),
    **dict.fromkeys(("Gemma2Config", "T5GemmaModuleConfig", "VaultGemmaConfig"), (alternating(2),)),
    **dict.fromkeys(("GraniteSWAConfig", "GraniteMoeSWAConfig"), (first_of_group(4), kv_heads)),
    **dict.fromkeys(("MuseGlimmerVisionConfig", "MuseSparkVisionConfig"), (every_nth_and_last(4, "window_attention"),)),
    **dict.fromkeys(
        ("T5Gemma2TextConfig", "T5Gemma2DecoderConfig"),
        (alternating_by("sliding_window_pattern", 6), drop_window_pattern),
    ),
    "AfmoeConfig": (alternating_by("global_attn_every_n_layers"), kv_heads),
    "BeamConfig": (
        per_layer("layer_types", beam_layers, "full_attention in every 6th layer and the last"),
        first_dense(3),
        default("rope_parameters", {SLIDING: {"rope_type": "default", "rope_theta": 10000.0}, FULL: None}),
    ),
    "Cohere2Config": (kv_heads, set_head_dim, alternating_by("sliding_window_pattern", 4)),
    "Cohere2MoeConfig": (kv_heads, cohere2_moe_layers),
    "CohereCompassTextConfig": (alike("layer_types", FULL), kv_heads, set_head_dim),
    "CwmConfig": (
        default("rope_parameters", CWM_ROPE),
        first_of_group(4),
        zero_window_is_none,
        default("eos_token_id", [128001, 128008, 128009]),
        head_dim,
        kv_heads,
    ),
    "DoryConfig": (dory,),
    "Dots1Config": (kv_heads, WINDOW_LAYERS),
    "Exaone4Config": (exaone_layers,),
    "ExaoneMoeConfig": (first_dense_by("first_k_dense_replace"), exaone_layers),
    "FlintConfig": (
        per_layer("layer_types", flint, "full_attention in every 4th layer"),
        default("mlp_only_layers", [0, 1]),
    ),
    "Gemma3TextConfig": (halved_window, gemma3_layers),
    "Gemma3nTextConfig": (gemma3n_lists,),
    "GptOssConfig": (kv_heads, head_dim, alternating(2), default("rope_parameters", dict(OSS_ROPE))),
    "InklingTextConfig": (inkling_layers,),
    "Inkling2TextConfig": (alternating(6, "hybrid", "hybrid_sliding"),),
    "Inkling2LoopTextConfig": (inkling_loop, alternating(6, "hybrid", "hybrid_sliding")),
    "Kolibri1Config": (alternating(5),),
    "LagunaConfig": (
        alike("layer_types", FULL),
        first_dense(1),
        heads_everywhere,
        default("rope_parameters", LAGUNA_ROPE),
    ),
    "Lfm3Config": (
        default("rope_parameters", LFM3_ROPE),
        per_layer(
            "layer_types",
            lambda _, length: by_index(
                length, lambda i: FULL if i % 4 == 2 else SLIDING if i % 4 == 0 and i else "conv", 4, 1
            ),
            "full_attention, sliding_attention and conv in groups of four",
        ),
    ),
    "Llama4TextConfig": (kv_heads, llama4_layers, head_dim),
    "MellumConfig": (
        alike("layer_types", FULL),
        alike("mlp_layer_types", SPARSE),
        default("rope_parameters", by_layer_type(full_attention=500000.0, sliding_attention=10000.0)),
    ),
    "MiMoV2FlashConfig": (
        per_layer(
            "layer_types",
            lambda _, length: every_nth(6, length, FULL, SLIDING).with_item(0, FULL),
            "full_attention in every 6th layer and the first",
        ),
        first_dense(1),
        default("rope_parameters", MIMO_ROPE),
        default("routed_scaling_factor", 1.0),
        mimo_window,
    ),
    "MinistralConfig": (kv_heads, window_or_full(SLIDING)),
    "ModernBertConfig": (first_of_group_by("global_attn_every_n_layers", 3),),
    "ModernBertDecoderConfig": (first_of_group_by("global_attn_every_n_layers", 3), modernbert_decoder_window),
    "MuseGlimmerTextConfig": (counted_from_the_end(4),),
    "MuseGlimmerAssistantConfig": (alike("layer_types", SLIDING), default("target_layer_ids", [1, 13, 25, 37, 49])),
    "MuseSparkTextConfig": (
        default("rope_parameters", {"rope_type": "default", "rope_theta": 500000.0}),
        alike("mlp_layer_types", SPARSE),
        counted_from_the_end(4),
    ),
    "Olmo3Config": (kv_heads, alternating(4)),
    "Qwen2MoeConfig": (qwen2_moe,),
    "Qwen3OmniMoeTalkerCodePredictorConfig": (kv_heads, WINDOW_LAYERS),
    "SmolLM3Config": (kv_heads, smollm3_layers),
    "UltrabertConfig": (ultrabert, kv_heads, head_dim),
    "UnlimitedOcrTextConfig": (
        window_or_full("reference_sliding_attention"),
        first_dense_by("first_k_dense_replace", 1),
        set_head_dim,
        kv_heads,
    ),
    "ZayaConfig": (alike("layer_types", "hybrid"), default("rope_parameters", ZAYA_ROPE)),
}


ROPE: Mapping[str, tuple[Rule, ...]] = {
    **dict.fromkeys(
        ("Gemma3TextConfig", "Gemma3nTextConfig", "T5Gemma2TextConfig", "T5Gemma2DecoderConfig"), (SPLIT_ROPE,)
    ),
    **dict.fromkeys(("BeamConfig", "LagunaConfig", "MellumConfig", "MiMoV2FlashConfig"), (as_written,)),
    **dict.fromkeys(("Qwen2_5_VLTextConfig", "Qwen2VLTextConfig"), (multimodal_rope,)),
    "ModernBertConfig": (split_rope(160000.0, 10000.0, "global_rope_theta", "local_rope_theta", both=True),),
    "ModernBertDecoderConfig": (split_rope(160000.0, 10000.0, "global_rope_theta", "local_rope_theta", both=True),),
    "Olmo3Config": (split_rope(500000.0, 500000.0, local_key="rope_theta"),),
    "CohereCompassTextConfig": (cohere_compass_rope,),
    "ZayaConfig": (zaya_rope,),
}
AFTER: Mapping[str, tuple[Rule, ...]] = {
    "GraniteSWAConfig": (layer_theta,),
    "GraniteMoeSWAConfig": (layer_theta,),
    "MuseGlimmerTextConfig": (layer_theta_or_none,),
    "MuseSparkTextConfig": (layer_theta_or_none,),
    "MellumConfig": (mellum_mtp,),
    "ModernBertConfig": (modernbert_window,),
}
