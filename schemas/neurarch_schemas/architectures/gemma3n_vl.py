"""Gemma 3n with images and audio: MobileNet-V5 and a Conformer, their features beside tables of special tokens."""

from __future__ import annotations

from neurarch_schemas.architectures.composite import projector, text_model, tower, with_output_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.attention import attention_block
from neurarch_schemas.modules.layers import convolution, embedding, linear, rms_norm
from neurarch_schemas.modules.tree import AttentionShape, Module, Stack, Tensor, children

MODEL_TYPES = ("gemma3n", "gemma3n_audio")


def pair(config: ModelConfig, name: str, index: int) -> tuple[int, int]:
    """Height and width of one of the two entries of a list of pairs."""
    items = config.items(name)
    value = items[index] if index < len(items) else None
    sides = [side for side in value if isinstance(side, int)] if isinstance(value, list) else []
    if len(sides) != 2:
        raise CannotBuild(f"{name} must be a list of two pairs", (name,))
    return sides[0], sides[1]


def subsampling(config: ModelConfig) -> Module:
    """Two strided convolutions with a norm over what came before; one column of padding on each side."""
    channels, frequencies = config.integers("sscp_conv_channel_size"), config.integer("input_feat_size")
    blocks: dict[str, Module] = {}
    inputs = 1
    for index in range(2):
        kernel, stride = pair(config, "sscp_conv_kernel_size", index), pair(config, "sscp_conv_stride_size", index)
        outputs = channels[index]
        blocks[f"conv_{index}"] = Module(
            "SubsamplingBlock",
            children=children(
                conv=convolution(inputs, outputs, kernel, bias=False),
                norm=Module("CumulativeGroupNorm", (Tensor("weight", (outputs,)),), part="norm"),
            ),
        )
        frequencies = (frequencies + 2 - kernel[1]) // stride[1] + 1
        inputs = outputs
    projection = linear(channels[-1] * frequencies, config.integer("hidden_size"), bias=False)
    return Module("Subsampling", children=children(**blocks, input_proj_linear=projection), part="embedding")


def feed_forward(hidden: int) -> Module:
    return Module(
        "FeedForward",
        children=children(
            pre_layer_norm=rms_norm(hidden),
            ffw_layer_1=linear(hidden, 4 * hidden, bias=False),
            ffw_layer_2=linear(4 * hidden, hidden, bias=False),
            post_layer_norm=rms_norm(hidden),
        ),
        part="feed-forward",
    )


def conformer_block(config: ModelConfig) -> Module:
    hidden, heads = config.integer("hidden_size"), config.integer("conf_num_attention_heads")
    dim = hidden // heads
    positions = Module("RelativePosition", children=children(pos_proj=linear(hidden, heads * dim, bias=False)))
    inner = attention_block(
        {
            "relative_position_embedding": positions,
            "q_proj": linear(hidden, heads * dim, bias=False),
            "k_proj": linear(hidden, heads * dim, bias=False),
            "v_proj": linear(hidden, heads * dim, bias=False),
        },
        AttentionShape(heads, heads, dim, dim, "encoder", causal=False, position="relative"),
        hidden=hidden,
        caches=(),
    ).with_(tensors=(Tensor("per_dim_scale", (dim,)),))
    attends = Module(
        "ConformerAttention",
        children=children(
            pre_attn_norm=rms_norm(hidden),
            attn=inner,
            post=linear(hidden, hidden, bias=False),
            post_norm=rms_norm(hidden),
        ),
        part="attention",
    )
    kernel = (config.integer("conf_conv_kernel_size"),)
    light_convolution = Module(
        "LightConvolution",
        children=children(
            pre_layer_norm=rms_norm(hidden),
            linear_start=linear(hidden, 2 * hidden, bias=False),
            depthwise_conv1d=convolution(hidden, hidden, kernel, bias=False, groups=hidden),
            conv_norm=rms_norm(hidden),
            linear_end=linear(hidden, hidden, bias=False),
        ),
        part="convolution",
    )
    return Module(
        "ConformerBlock",
        children=children(
            ffw_layer_start=feed_forward(hidden),
            attention=attends,
            lconv1d=light_convolution,
            ffw_layer_end=feed_forward(hidden),
            norm=rms_norm(hidden),
        ),
    )


def embedder(tower_config: ModelConfig, hidden: int) -> Module:
    """Special tokens of a modality, norms for them and for the tower's features, and a linear map for both."""
    width = tower_config.integer("hidden_size")
    return projector(
        {
            "embedding": embedding(tower_config.integer("vocab_size"), width),
            "hard_embedding_norm": rms_norm(width),
            "soft_embedding_norm": rms_norm(width),
            "embedding_projection": linear(width, hidden, bias=False),
        }
    )


def composite(config: ModelConfig) -> Module:
    hidden = config.nested_config("text_config").integer("hidden_size")
    parts: dict[str, Module | Stack | None] = {
        "vision_tower": tower(config),
        "language_model": text_model(config),
        "audio_tower": tower(config, "audio_config", "audio"),
        "embed_vision": embedder(config.nested_config("vision_config"), hidden),
        "embed_audio": embedder(config.nested_config("audio_config"), hidden),
    }
    return with_output_head(config, parts)


def build(config: ModelConfig) -> Module:
    if config.model_type == "gemma3n":
        return composite(config)
    return Module(
        "AudioEncoder",
        children=children(
            subsample_conv_projection=subsampling(config),
            conformer=uniform(conformer_block(config), config.integer("conf_num_hidden_layers")),
        ),
    )
