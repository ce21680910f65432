"""Classes that only fill in the number of KV heads or the head size."""

from __future__ import annotations

from collections.abc import Mapping

from neurarch_schemas.config.derived.vocabulary import head_dim, kv_heads
from neurarch_schemas.config.draft import Rule

KV_HEADS = [
    "BitNetConfig",
    "CohereConfig",
    "DogeConfig",
    "FlexOlmoConfig",
    "Glm4vTextConfig",
    "GlmImageTextConfig",
    "GlmOcrTextConfig",
    "GraniteConfig",
    "Granite4VisionTextConfig",
    "GraniteDoclingTextConfig",
    "GraniteMoeConfig",
    "GraniteMoeSharedConfig",
    "HunYuanDenseV1Config",
    "HunYuanMoEV1Config",
    "MixtralConfig",
    "NanoChatConfig",
    "OlmoConfig",
    "Olmo2Config",
    "OlmoeConfig",
    "PeAudioVideoEncoderConfig",
    "Phi3Config",
    "PhimoeConfig",
    "Qwen3VLTextConfig",
]
HEAD_DIM_AND_KV_HEADS = [
    "ArceeConfig",
    "AriaTextConfig",
    "CanaryDecoderConfig",
    "ExaoneConfig",
    "InternLM3Config",
    "IQuestCoderConfig",
    "Jais2Config",
    "LlamaConfig",
    "NeuCodecConfig",
    "Xcodec2Config",
    "DiffLlamaConfig",
    "Ernie4_5Config",
    "PaddleOCRTextConfig",
    "SeedOssConfig",
]
HEAD_DIM = ["EsmFold2AtomEncoderConfig", "EsmFold2DiffusionModuleConfig"]

BEFORE: Mapping[str, tuple[Rule, ...]] = {
    **dict.fromkeys(KV_HEADS, (kv_heads,)),
    **dict.fromkeys(HEAD_DIM_AND_KV_HEADS, (head_dim, kv_heads)),
    **dict.fromkeys(HEAD_DIM, (head_dim,)),
}
AFTER: Mapping[str, tuple[Rule, ...]] = {}
