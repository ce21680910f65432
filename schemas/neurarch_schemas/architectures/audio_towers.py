"""Audio encoders of audio-language models in the manner of Whisper: convolutions over mel frames, then attention.

Keys have no bias, but in the encoders of Qwen3-Omni and Qwen3-ASR. GLM-ASR and Voxtral Realtime use rotary positions.
"""

from __future__ import annotations

from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.attention import attention
from neurarch_schemas.modules.feed_forward import gated_mlp, mlp
from neurarch_schemas.modules.layers import convolution, embedding, layer_norm, linear, position_embedding, rms_norm
from neurarch_schemas.modules.tree import Module, Stack, children
from neurarch_schemas.modules.vision import vision_attention

MODEL_TYPES = (
    "qwen2_audio_encoder",
    "voxtral_encoder",
    "voxtral_realtime_encoder",
    "audioflamingo3_encoder",
    "moss_transcribe_diarize_audio",
    "glmasr_encoder",
    "qwen2_5_omni_audio_encoder",
    "qwen3_omni_moe_audio_encoder",
    "qwen3_asr_encoder",
)

_DOWNSAMPLED = ("qwen3_omni_moe_audio_encoder", "qwen3_asr_encoder")
_GROUPED_NAMES = ("q_proj", "k_proj", "v_proj", "o_proj")


def whisper_layer(config: ModelConfig, *, key_bias: bool = False) -> Module:
    width = config.integer("d_model")
    transform = mlp(width, config.integer("encoder_ffn_dim"))
    heads = config.integer("encoder_attention_heads")
    return Module(
        "EncoderLayer",
        children=(
            ("self_attn", vision_attention(width, heads, key_bias=key_bias, position="sinusoidal")),
            ("self_attn_layer_norm", layer_norm(width)),
            *(
                (name, child.with_(part="feed-forward"))
                for name, child in transform.children
                if isinstance(child, Module)
            ),
            ("final_layer_norm", layer_norm(width)),
        ),
    )


def entrance(config: ModelConfig, width: int) -> dict[str, Module | Stack | None]:
    """Two convolutions over three mel frames, the second with a stride of two."""
    return {
        "conv1": convolution(config.integer("num_mel_bins"), width, (3,)),
        "conv2": convolution(width, width, (3,)),
    }


def whisper_encoder(config: ModelConfig) -> Module:
    width = config.integer("d_model")
    omni = config.model_type == "qwen2_5_omni_audio_encoder"
    positions = None if omni else position_embedding(config.integer("max_source_positions"), width)
    parts: dict[str, Module | Stack | None] = {
        **entrance(config, width),
        "embed_positions": positions,
        "layers": uniform(whisper_layer(config), config.integer("encoder_layers")),
        "ln_post" if omni else "layer_norm": layer_norm(width),
    }
    if omni:
        outputs = config.integer("output_dim")
        parts |= {"audio_bos_eos_token": embedding(2, outputs), "proj": linear(width, outputs, part="projector")}
    return Module("AudioEncoder", children=children(**parts))


def downsampled_encoder(config: ModelConfig) -> Module:
    """Three strided convolutions over time and frequency first."""
    width, channels = config.integer("d_model"), config.integer("downsample_hidden_size")
    bins = config.integer("num_mel_bins")
    for _ in range(3):
        bins = (bins + 1) // 2
    omni = config.model_type == "qwen3_omni_moe_audio_encoder"
    return Module(
        "AudioEncoder",
        children=children(
            layers=uniform(whisper_layer(config, key_bias=True), config.integer("encoder_layers")),
            ln_post=layer_norm(width),
            conv2d1=convolution(1, channels, (3, 3)),
            conv2d2=convolution(channels, channels, (3, 3)),
            conv2d3=convolution(channels, channels, (3, 3)),
            conv_out=linear(channels * bins, width, bias=False),
            proj1=linear(width, width, part="projector") if omni else None,
            proj2=linear(width, config.integer("output_dim"), part="projector") if omni else None,
        ),
    )


def grouped_attention(config: ModelConfig, kv_heads: int) -> Module:
    width, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    return attention(
        width,
        heads,
        kv_heads,
        config.integer("head_dim", 0) or width // heads,
        bias=True,
        key_bias=False,
        out_bias=True,
        names=_GROUPED_NAMES,
        kind="encoder",
        cached=False,
    )


def glm_asr_encoder(config: ModelConfig) -> Module:
    width, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    layer = Module(
        "EncoderLayer",
        children=children(
            self_attn=grouped_attention(config, config.integer("num_key_value_heads", heads)),
            mlp=mlp(width, config.integer("intermediate_size")),
            input_layernorm=layer_norm(width),
            post_attention_layernorm=layer_norm(width),
        ),
    )
    return Module(
        "AudioEncoder",
        children=children(
            **entrance(config, width),
            layers=uniform(layer, config.integer("num_hidden_layers")),
            norm=layer_norm(width),
        ),
    )


def realtime_encoder(config: ModelConfig) -> Module:
    """Causal, over a sliding window; only the last map of the gated MLP has a bias."""
    width, inner = config.integer("hidden_size"), config.integer("intermediate_size")
    transform = gated_mlp(width, inner)
    down = linear(inner, width)
    layer = Module(
        "EncoderLayer",
        children=children(
            self_attn=grouped_attention(config, config.integer("num_attention_heads")),
            self_attn_layer_norm=rms_norm(width),
            final_layer_norm=rms_norm(width),
            mlp=transform.with_(children=(*transform.children[:2], ("down_proj", down))),
        ),
    )
    return Module(
        "AudioEncoder",
        children=children(
            embedder=Module("Embedder", children=children(**entrance(config, width))),
            layers=uniform(layer, config.integer("num_hidden_layers")),
            norm=rms_norm(width),
        ),
    )


def build(config: ModelConfig) -> Module:
    if config.model_type in _DOWNSAMPLED:
        return downsampled_encoder(config)
    if config.model_type == "glmasr_encoder":
        return glm_asr_encoder(config)
    if config.model_type == "voxtral_realtime_encoder":
        return realtime_encoder(config)
    return whisper_encoder(config)
