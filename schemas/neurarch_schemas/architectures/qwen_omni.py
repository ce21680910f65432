"""Qwen2.5-Omni and the thinker of Qwen3-Omni: audio and vision encoders before a language model that may also speak.

Speech comes from the talker, a second decoder over codec tokens, and from token2wav, a diffusion transformer with a
speaker encoder (ECAPA-TDNN, arXiv:2005.07143) followed by a BigVGAN vocoder (arXiv:2206.04658).
"""

from __future__ import annotations

from neurarch_schemas.architectures import build_nested
from neurarch_schemas.architectures.composite import text_model, tower, with_output_head
from neurarch_schemas.architectures.decoder import decoder_layer, feed_forward, self_attention
from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import in_part, layers, list_of_lists, lm_head, uniform
from neurarch_schemas.modules.encoder import encoder_attention
from neurarch_schemas.modules.layers import (
    convolution,
    embedding,
    linear,
    rms_norm,
    token_embedding,
    transposed_convolution,
)
from neurarch_schemas.modules.tree import Module, Stack, Tensor, children, concatenate, stack
from neurarch_schemas.modules.vision import sequential

MODEL_TYPES = (
    "qwen2_5_omni",
    "qwen2_5_omni_thinker",
    "qwen2_5_omni_talker",
    "qwen2_5_omni_token2wav",
    "qwen2_5_omni_dit",
    "qwen2_5_omni_bigvgan",
    "qwen3_omni_moe_thinker",
)

_TIMESTEP_WIDTH = 256
_CONVOLUTIONS = 3
"""Dilated convolutions in one residual block of the vocoder."""


def thinker(config: ModelConfig) -> Module:
    parts: dict[str, Module | Stack | None] = {
        "audio_tower": tower(config, "audio_config", "audio"),
        "visual": tower(config),
        "language_model": text_model(config),
    }
    return with_output_head(config, parts)


def talker(config: ModelConfig) -> Module:
    """The embedding has its own width; a projection brings it, and the thinker's states, to that of the layers."""
    hidden, width, codes = (
        config.integer("hidden_size"),
        config.integer("embedding_size"),
        config.integer("vocab_size"),
    )
    block = layers(
        config.windows(),
        lambda window: decoder_layer(
            hidden,
            self_attention(config, window, bias=True, out_bias=False),
            feed_forward(config),
        ),
    )
    model = Module(
        "Model",
        children=children(embed_tokens=token_embedding(codes, width), layers=block, norm=rms_norm(hidden)),
    )
    if head_name(config.architecture) == "Model":
        return model
    return Module(
        "Talker",
        children=children(thinker_to_talker_proj=linear(width, hidden), model=model, codec_head=lm_head(hidden, codes)),
    )


def time_delay_block(inputs: int, outputs: int, kernel: int) -> Module:
    return Module("TimeDelayBlock", children=children(conv=convolution(inputs, outputs, (kernel,))))


def squeeze_excitation_block(config: ModelConfig, inputs: int, outputs: int, kernel: int) -> Module:
    """Res2Net between two pointwise convolutions, channels weighted by what they hold."""
    scale, squeezed = config.integer("enc_res2net_scale"), config.integer("enc_se_channels")
    inner = time_delay_block(outputs // scale, outputs // scale, kernel)
    gate = Module(
        "SqueezeExcitation",
        children=children(conv1=convolution(outputs, squeezed, (1,)), conv2=convolution(squeezed, outputs, (1,))),
    )
    return Module(
        "SqueezeExcitationRes2Net",
        children=children(
            tdnn1=time_delay_block(inputs, outputs, 1),
            res2net_block=Module("Res2Net", children=children(blocks=uniform(inner, scale - 1))),
            tdnn2=time_delay_block(outputs, outputs, 1),
            se_block=gate,
        ),
    )


def speaker_encoder(config: ModelConfig) -> Module:
    channels, kernels = config.integers("enc_channels"), config.integers("enc_kernel_sizes")
    last, attended = channels[-1], config.integer("enc_attention_channels")
    first = time_delay_block(config.integer("mel_dim"), channels[0], kernels[0])
    rest = (
        squeeze_excitation_block(config, channels[index - 1], channels[index], kernels[index])
        for index in range(1, len(channels) - 1)
    )
    pooling = Module(
        "AttentiveStatisticsPooling",
        children=children(tdnn=time_delay_block(3 * last, attended, 1), conv=convolution(attended, last, (1,))),
    )
    return Module(
        "SpeakerEncoder",
        children=children(
            blocks=stack(first, *rest),
            mfa=time_delay_block(last, last, kernels[-1]),
            asp=pooling,
            fc=convolution(2 * last, config.integer("enc_dim"), (1,)),
        ),
    )


def diffusion_transformer(config: ModelConfig) -> Module:
    """Norms without weights, scaled and shifted by the time step."""
    hidden, mel = config.integer("hidden_size"), config.integer("mel_dim")
    code_width, inner = config.integer("emb_dim"), int(hidden * config.number("ff_mult"))
    names = ("to_q", "to_k", "to_v", "to_out.0")
    layer = Module(
        "DiTLayer",
        children=children(
            attn_norm=Module("AdaptiveNorm", children=children(linear=linear(hidden, 6 * hidden))),
            attn=encoder_attention(
                hidden, config.integer("num_attention_heads"), head_dim=config.integer("head_dim"), names=names
            ),
            ff=Module(
                "MLP",
                children=children(ff=sequential(linear(hidden, inner), None, None, linear(inner, hidden))),
                part="feed-forward",
            ),
        ),
    )
    inputs = mel + config.integer("enc_dim") + config.integer("enc_emb_dim") + code_width
    return Module(
        "DiffusionTransformer",
        children=children(
            time_embed=Module(
                "TimeEmbedding",
                children=children(time_mlp=sequential(linear(_TIMESTEP_WIDTH, hidden), None, linear(hidden, hidden))),
            ),
            text_embed=Module(
                "CodeEmbedding", children=children(codec_embed=embedding(config.integer("num_embeds") + 1, code_width))
            ),
            input_embed=Module(
                "InputEmbedding", children=children(proj=linear(inputs, hidden), spk_encoder=speaker_encoder(config))
            ),
            transformer_blocks=uniform(layer, config.integer("num_hidden_layers")),
            norm_out=Module("AdaptiveNorm", children=children(linear=linear(hidden, 2 * hidden))),
            proj_out=linear(hidden, mel),
        ),
    )


def snake(channels: int) -> Module:
    """A periodic activation with two learned vectors (arXiv:2006.08195)."""
    learned = (Tensor("alpha", (channels,)), Tensor("beta", (channels,)))
    return Module("AntiAliasedActivation", children=children(act=Module("Snake", learned)))


def vocoder(config: ModelConfig) -> Module:
    """Each upsampling halves the channels and is followed by one residual block for each kernel size."""
    width, mel = config.integer("upsample_initial_channel"), config.integer("mel_dim")
    kernels = config.integers("upsample_kernel_sizes")[: len(config.integers("upsample_rates"))]
    residual_kernels = config.integers("resblock_kernel_sizes")[: len(config.items("resblock_dilation_sizes"))]
    upsamplings, blocks = [], []
    for index, kernel in enumerate(kernels):
        channels = width // 2 ** (index + 1)
        upsamplings.append((transposed_convolution(width // 2**index, channels, (kernel,)), 1))
        for size in residual_kernels:
            same = convolution(channels, channels, (size,))
            blocks.append(
                Module(
                    "ResidualBlock",
                    children=children(
                        convs1=uniform(same, _CONVOLUTIONS),
                        convs2=uniform(same, _CONVOLUTIONS),
                        activations=uniform(snake(channels), 2 * _CONVOLUTIONS),
                    ),
                )
            )
    last = width // 2 ** len(kernels)
    return Module(
        "Vocoder",
        children=children(
            conv_pre=convolution(mel, width, (7,)),
            ups=list_of_lists(*upsamplings),
            resblocks=concatenate(*(uniform(block, 1) for block in blocks)),
            activation_post=snake(last),
            conv_post=convolution(last, 1, (7,), bias=False),
        ),
    )


def token_to_waveform(config: ModelConfig) -> Module:
    return Module(
        "Token2Wav",
        children=children(
            code2wav_dit_model=build_nested(config, "dit_config"),
            code2wav_bigvgan_model=build_nested(config, "bigvgan_config"),
        ),
    )


def build(config: ModelConfig) -> Module:
    match config.model_type:
        case "qwen2_5_omni_thinker" | "qwen3_omni_moe_thinker":
            return thinker(config)
        case "qwen2_5_omni_talker":
            return talker(config)
        case "qwen2_5_omni_token2wav":
            return token_to_waveform(config)
        case "qwen2_5_omni_dit":
            return diffusion_transformer(config)
        case "qwen2_5_omni_bigvgan":
            return vocoder(config)
    if head_name(config.architecture) not in ("ForConditionalGeneration", "Model"):
        raise unknown_head(config.architecture)
    speaks = config.flag("enable_audio_output")
    generating = "ForConditionalGeneration"
    return Module(
        config.architecture,
        children=children(
            thinker=build_nested(config, "thinker_config", generating),
            talker=in_part(build_nested(config, "talker_config", generating), "audio") if speaks else None,
            token2wav=in_part(build_nested(config, "token2wav_config"), "audio") if speaks else None,
        ),
    )
