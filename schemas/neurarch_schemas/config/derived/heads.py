"""Classes that only fill in the number of KV heads, the head size or RoPE parameters."""

from __future__ import annotations

from collections.abc import Mapping

from neurarch_schemas.config.derived.vocabulary import (
    computed,
    computed_default,
    copy_of,
    default,
    default_unless_set,
    dropped,
    head_dim,
    head_dim_or_zero,
    keyword_default,
    kv_heads,
    renamed,
    same_as,
    same_as_unless_set,
    set_head_dim,
)
from neurarch_schemas.config.draft import Draft, Rule
from neurarch_schemas.documents.json_value import JSONValue

KV_HEADS = (
    "BitNetConfig CohereConfig DogeConfig FlexOlmoConfig Glm4vTextConfig GlmImageTextConfig GlmOcrTextConfig "
    "GraniteConfig Granite4VisionTextConfig GraniteDoclingTextConfig GraniteMoeConfig GraniteMoeSharedConfig "
    "HunYuanDenseV1Config HunYuanMoEV1Config MixtralConfig NanoChatConfig OlmoConfig Olmo2Config OlmoeConfig "
    "PeAudioVideoEncoderConfig Phi3Config PhimoeConfig Qwen3VLTextConfig Phi4MultimodalConfig HunYuanVLTextConfig"
)
HEAD_DIM_AND_KV_HEADS = (
    "ArceeConfig AriaTextConfig CanaryDecoderConfig ExaoneConfig InternLM3Config IQuestCoderConfig Jais2Config "
    "LlamaConfig NeuCodecConfig Xcodec2Config DiffLlamaConfig Ernie4_5Config PaddleOCRTextConfig SeedOssConfig "
    "MistralConfig VoxtralRealtimeTextConfig EuroBertConfig CsmDepthDecoderConfig"
)
HEAD_DIM = "EsmFold2AtomEncoderConfig EsmFold2DiffusionModuleConfig VoxtralRealtimeEncoderConfig"
HALF_ROTARY = "Glm4MoeConfig Glm4vMoeTextConfig PersimmonConfig"

LLAMA_3_ROPE: dict[str, JSONValue] = {
    "rope_type": "llama3",
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}
OSS_ROPE: dict[str, JSONValue] = {
    "rope_type": "yarn",
    "factor": 32.0,
    "beta_fast": 32.0,
    "beta_slow": 1.0,
    "truncate": False,
    "original_max_position_embeddings": 4096,
}
MISTRAL_YARN: dict[str, JSONValue] = {
    "type": "yarn",
    "rope_theta": 1000000.0,
    "factor": 16.0,
    "original_max_position_embeddings": 16384,
    "beta_fast": 32.0,
    "beta_slow": 1.0,
    "mscale_all_dim": 1.0,
    "mscale": 1.0,
    "llama_4_scaling_beta": 0.1,
}


def ministral_rope(draft: Draft) -> None:
    if draft.is_null("rope_parameters"):
        limit = draft.get("max_position_embeddings")
        draft.derive("rope_parameters", {**MISTRAL_YARN, "max_position_embeddings": limit})


def attention_multiplier(draft: Draft) -> None:
    if draft.is_null("attention_multiplier"):
        draft.derive("attention_multiplier", draft.integer("head_dim") ** -0.5, "head_dim ** -0.5")


def gemma_activation(draft: Draft) -> None:
    """The first released Gemma configs said "gelu" and meant its tanh approximation."""
    if draft.get("hidden_act") == "gelu":
        draft.derive("hidden_act", "gelu_pytorch_tanh", "gelu stands for the tanh approximation here")


def phi3_rope(draft: Draft) -> None:
    """Phi-3 once called the long RoPE "su" or "yarn"."""
    from neurarch_schemas.config import rope

    current = draft.keywords.pop("rope_scaling", None) or draft.values.get("rope_parameters")
    parameters = rope.copy(current) if isinstance(current, dict) else {}
    parameters.setdefault("rope_theta", draft.take("rope_theta", 10000.0))
    parameters.setdefault("partial_rotary_factor", draft.keywords.get("partial_rotary_factor", 1.0))
    rope.standardize(draft, parameters)
    if parameters.get("rope_type") in ("su", "yarn"):
        draft.derive("rope_parameters", {**parameters, "rope_type": "longrope"})


def neox_rope(fraction: float) -> Rule:
    """GPT-NeoX: ``rotary_emb_base`` and ``rotary_pct``."""

    def rule(draft: Draft) -> None:
        from neurarch_schemas.config import rope

        current = draft.keywords.pop("rope_scaling", None) or draft.values.get("rope_parameters")
        parameters = rope.copy(current) if isinstance(current, dict) else {}
        if "rope_theta" not in parameters:
            parameters["rope_theta"] = draft.take("rotary_emb_base", draft.type.rope_theta)
        else:
            draft.take("rotary_emb_base")
        partial = draft.take("rotary_pct", fraction)
        parameters.setdefault("partial_rotary_factor", partial)
        rope.standardize(draft, parameters)

    return rule


def multimodal_rope(draft: Draft) -> None:
    """Qwen-VL once called its sections of frequencies a RoPE type of their own, "mrope"."""
    from neurarch_schemas.config import rope

    current = draft.keywords.pop("rope_scaling", None) or draft.values.get("rope_parameters")
    parameters = rope.copy(current) if isinstance(current, dict) else {}
    parameters.setdefault("rope_theta", draft.take("rope_theta", draft.type.rope_theta))
    if parameters.get("rope_type", parameters.get("type")) == "mrope":
        parameters["rope_type"] = "default"
    rope.standardize(draft, parameters)


def extended_rope(draft: Draft) -> None:
    """HunYuan-VL: "xdrope" is the dynamic RoPE with sections."""
    from neurarch_schemas.config import rope

    rope.convert(draft)
    parameters = draft.values.get("rope_parameters")
    if not isinstance(parameters, dict) or not parameters:
        return
    parameters = dict(parameters)
    if "xdrope_section" in parameters:
        section = parameters.pop("xdrope_section")
        parameters.setdefault("mrope_section", section)
    kind = parameters.get("rope_type", parameters.get("type", "default"))
    kind = "dynamic" if kind == "xdrope" else kind
    parameters["rope_type"] = kind
    if "type" in parameters:
        parameters["type"] = kind
    draft.derive("rope_parameters", parameters)


def rotary_dim_rope(draft: Draft) -> None:
    """MiniMax-M2: ``rotary_dim`` of the ``head_dim`` channels are rotated."""
    from neurarch_schemas.config import rope

    rotary = draft.keywords.get("rotary_dim", draft.get("rotary_dim"))
    if rotary is not None and isinstance(rotary, int) and not isinstance(rotary, bool):
        draft.keywords.setdefault("partial_rotary_factor", rotary / draft.integer("head_dim"))
    rope.convert(draft)


def youtu_range(draft: Draft) -> None:
    if draft.is_null("initializer_range"):
        width = draft.integer("hidden_size")
        value = 2.0 / (5.0 * width) ** 0.5 if width else 0.02
        draft.derive("initializer_range", value, "2 / sqrt(5 * hidden_size)")
    if not draft.flag("embedding_initializer_range"):
        draft.derive("embedding_initializer_range", 2.0 * draft.number("initializer_range"), "2 * initializer_range")


def swap_heads(draft: Draft) -> None:
    """JetMoE: each chosen expert brings its own query heads."""
    heads = draft.integer("num_key_value_heads") * draft.integer("num_experts_per_tok")
    draft.derive("num_attention_heads", heads, "num_key_value_heads * num_experts_per_tok")


def output_vocabulary(draft: Draft) -> None:
    """Apertus 1.5: an output vocabulary as large as the input's is no separate one."""
    if draft.get("output_vocab_size") == draft.get("vocab_size") and draft.integer("vocab_size") > 0:
        draft.derive("output_vocab_size", None, "equal to vocab_size")


APERTUS_ROPE = default("rope_parameters", {**LLAMA_3_ROPE, "rope_theta": 12000000.0, "factor": 8.0})
HALF = keyword_default("partial_rotary_factor", 0.5)
GLM_END = default("eos_token_id", [151329, 151336, 151338])

BEFORE: Mapping[str, tuple[Rule, ...]] = {
    **dict.fromkeys(KV_HEADS.split(), (kv_heads,)),
    **dict.fromkeys(HEAD_DIM_AND_KV_HEADS.split(), (head_dim, kv_heads)),
    **dict.fromkeys(HEAD_DIM.split(), (head_dim,)),
    **dict.fromkeys(HALF_ROTARY.split(), (HALF,)),
    **dict.fromkeys(("GlmConfig", "Glm4Config"), (HALF, GLM_END)),
    **dict.fromkeys(("GlmAsrEncoderConfig", "PhiConfig"), (kv_heads, HALF)),
    **dict.fromkeys(("GradiumPhononTTSConfig", "PocketTTSConfig"), (head_dim_or_zero, kv_heads)),
    **dict.fromkeys(
        ("HunYuanVLVisionConfig", "HYV4VLVisionConfig"),
        (same_as_unless_set("num_key_value_heads", "num_attention_heads"),),
    ),
    **dict.fromkeys(
        ("LasrEncoderConfig", "NemotronAsrStreamingEncoderConfig", "ParakeetEncoderConfig"),
        (copy_of("num_key_value_heads", "num_attention_heads"),),
    ),
    "ApertusConfig": (kv_heads, APERTUS_ROPE),
    "Apertus1p5TextConfig": (output_vocabulary, kv_heads, APERTUS_ROPE),
    "Cosmos3EdgeTextConfig": (
        default("rope_parameters", {"rope_type": "default", "rope_theta": 100000000.0, "mrope_section": [24, 20, 20]}),
        head_dim,
        kv_heads,
    ),
    "CsmConfig": (
        dropped("tie_word_embeddings"),
        copy_of("tie_word_embeddings", "tie_codebooks_embeddings"),
        kv_heads,
        head_dim,
    ),
    "DeepseekOcr2TextConfig": (set_head_dim, kv_heads),
    "EsmcConfig": (default("bos_token_id", 0), default("eos_token_id", 2), head_dim, kv_heads),
    "GemmaConfig": (gemma_activation,),
    "HiggsAudioV2Config": (
        default(
            "rope_parameters",
            {
                "factor": 32.0,
                "rope_theta": 500000.0,
                "high_freq_factor": 0.5,
                "low_freq_factor": 0.125,
                "original_max_position_embeddings": 1024,
                "rope_type": "llama3",
            },
        ),
        head_dim,
        kv_heads,
    ),
    "HyperCLOVAXConfig": (head_dim, kv_heads),
    "JetMoeConfig": (swap_heads,),
    "Ministral3Config": (ministral_rope, head_dim, kv_heads),
    "MoshiDepthConfig": (kv_heads, head_dim_or_zero),
    "NemotronConfig": (head_dim, HALF),
    "PixtralVisionConfig": (set_head_dim,),
    "SarvamMoEConfig": (keyword_default("partial_rotary_factor", 1.0),),
    "StableLmConfig": (keyword_default("partial_rotary_factor", 0.25),),
    "BloomConfig": (renamed("n_embed", "hidden_size"),),
    "FalconConfig": (
        renamed("n_embed", "hidden_size"),
        same_as("num_kv_heads", "num_attention_heads"),
        computed_default("ffn_hidden_size", lambda draft: draft.integer("hidden_size") * 4, "4 * hidden_size"),
    ),
    "GPTBigCodeConfig": (
        computed(
            "num_key_value_heads", lambda draft: 1 if draft.flag("multi_query") else draft.get("n_head"), "multi_query"
        ),
    ),
    "OPTConfig": (same_as("word_embed_proj_dim", "hidden_size"),),
    "OpenAIPrivacyFilterConfig": (kv_heads, head_dim, default("rope_parameters", dict(OSS_ROPE))),
    "xLSTMConfig": (
        same_as("hidden_size", "embedding_dim"),
        same_as("embedding_dim", "hidden_size"),
        same_as("num_hidden_layers", "num_blocks"),
        same_as("num_blocks", "num_hidden_layers"),
    ),
}


ROPE: Mapping[str, tuple[Rule, ...]] = {
    "Phi3Config": (phi3_rope,),
    "Phi4MultimodalConfig": (phi3_rope,),
    "GPTNeoXConfig": (neox_rope(0.25),),
    "GPTNeoXJapaneseConfig": (neox_rope(1.0),),
    "HunYuanVLTextConfig": (extended_rope,),
    "MiniMaxM2Config": (rotary_dim_rope,),
}
AFTER: Mapping[str, tuple[Rule, ...]] = {
    "FalconConfig": (set_head_dim,),
    "GraniteSpeech5EncoderConfig": (head_dim, kv_heads, default("subsample_layers", [0, 1])),
    "HyperCLOVAXConfig": (attention_multiplier,),
    "NomicBertConfig": (head_dim,),
    "Phi4MultimodalConfig": (default_unless_set("eos_token_id", [199999, 200020]),),
}
