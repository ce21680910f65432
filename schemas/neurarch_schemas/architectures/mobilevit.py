"""MobileViT (arXiv:2110.02178) and MobileViT V2 (arXiv:2206.02680): inverted residuals and small transformers."""

from __future__ import annotations

from neurarch_schemas.architectures.image_heads import with_image_classifier
from neurarch_schemas.architectures.language_heads import head_name, label_count
from neurarch_schemas.architectures.mobilenet import inverted_residual
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import in_part
from neurarch_schemas.modules.convolution_stages import convolution_norm, make_divisible
from neurarch_schemas.modules.layers import convolution, group_norm, layer_norm, linear
from neurarch_schemas.modules.tree import AttentionShape, Module, Stack, named, stack
from neurarch_schemas.modules.vision import vit_attention

MODEL_TYPES = ("mobilevit", "mobilevitv2")


def plain(inputs: int, outputs: int, bias: bool = False) -> Module:
    """A convolution of width one without a norm."""
    return convolution_norm(inputs, outputs, 1, bias=bias, norm=False)


def residual(config: ModelConfig, inputs: int, outputs: int) -> Module:
    return inverted_residual(inputs, outputs, make_divisible(round(inputs * config.number("expand_ratio")), 8))


def mobile_layers(config: ModelConfig, inputs: int, outputs: int, count: int) -> Module:
    blocks = [residual(config, inputs if index == 0 else outputs, outputs) for index in range(count)]
    return Module("MobileNetLayer", children=(("layer", stack(*blocks)),))


def transformer_layer(config: ModelConfig, hidden: int) -> Module:
    inner, bias = int(hidden * config.number("mlp_ratio")), config.flag("qkv_bias")
    names = ("attention.query", "attention.key", "attention.value", "output.dense")
    attention = vit_attention(hidden, config.integer("num_attention_heads"), bias=bias, names=names, position="none")
    return Module(
        "EncoderLayer",
        children=named(
            {
                "attention": attention,
                "intermediate.dense": linear(hidden, inner, part="feed-forward"),
                "output.dense": linear(inner, hidden, part="feed-forward"),
                "layernorm_before": layer_norm(hidden),
                "layernorm_after": layer_norm(hidden),
            }
        ),
    )


def mobilevit_layer(config: ModelConfig, inputs: int, outputs: int, hidden: int, count: int) -> Module:
    kernel = config.integer("conv_kernel_size")
    parts: dict[str, Module | Stack | None] = {
        "downsampling_layer": residual(config, inputs, outputs),
        "conv_kxk": convolution_norm(outputs, outputs, kernel),
        "conv_1x1": plain(outputs, hidden),
        "transformer.layer": stack(transformer_layer(config, hidden), times=count),
        "layernorm": layer_norm(hidden),
        "conv_projection": convolution_norm(hidden, outputs, 1),
        "fusion": convolution_norm(2 * outputs, outputs, kernel),
    }
    return Module("MobileViTLayer", children=named(parts))


def first_version(config: ModelConfig, expand_output: bool) -> tuple[Module, int]:
    neck, hidden = config.integers("neck_hidden_sizes"), config.integers("hidden_sizes")
    if len(neck) < 7 or len(hidden) < 3:
        raise CannotBuild("neck_hidden_sizes needs 7 sizes and hidden_sizes 3", ("neck_hidden_sizes", "hidden_sizes"))
    layers = stack(
        mobile_layers(config, neck[0], neck[1], 1),
        mobile_layers(config, neck[1], neck[2], 3),
        *(mobilevit_layer(config, neck[i + 2], neck[i + 3], hidden[i], (2, 4, 3)[i]) for i in range(3)),
    )
    parts: dict[str, Module | Stack | None] = {
        "conv_stem": convolution_norm(config.integer("num_channels"), neck[0], 3),
        "encoder.layer": layers,
        "conv_1x1_exp": convolution_norm(neck[5], neck[6], 1) if expand_output else None,
    }
    return Module("Model", children=named(parts)), neck[-1]


def separable_layer(width: int, inner: int) -> Module:
    """Linear attention: one score a token, keys and values of the whole width."""
    attention = Module(
        "SeparableAttention",
        children=named(
            {"qkv_proj": plain(width, 1 + 2 * width, bias=True), "out_proj": plain(width, width, bias=True)}
        ),
        part="attention",
        attention=AttentionShape(1, 1, width, width, "linear", causal=False, position="none"),
        width_in=width,
        width_out=width,
    )
    feed_forward = {"conv1": plain(width, inner, bias=True), "conv2": plain(inner, width, bias=True)}
    parts: dict[str, Module | Stack | None] = {
        "layernorm_before": group_norm(width),
        "attention": attention,
        "layernorm_after": group_norm(width),
        "ffn": Module("FeedForward", children=named(feed_forward), part="feed-forward"),
    }
    return Module("EncoderLayer", children=named(parts))


def second_layer(config: ModelConfig, inputs: int, outputs: int, width: int, count: int) -> Module:
    inner = int(config.integer("ffn_multiplier") * width // 16 * 16)
    parts: dict[str, Module | Stack | None] = {
        "downsampling_layer": residual(config, inputs, outputs),
        "conv_kxk": convolution_norm(outputs, outputs, config.integer("conv_kernel_size"), groups=outputs),
        "conv_1x1": plain(outputs, width),
        "transformer.layer": stack(separable_layer(width, inner), times=count),
        "layernorm": group_norm(width),
        "conv_projection": convolution_norm(width, outputs, 1),
    }
    return Module("MobileViTLayer", children=named(parts))


def second_version(config: ModelConfig) -> tuple[Module, int]:
    scale = config.number("width_multiplier")
    stem = make_divisible(max(16, min(64, 32 * scale)), 8, 16)
    widths = [make_divisible(64 * scale, 16)]
    widths += [make_divisible(channels * scale, 8) for channels in (128, 256, 384, 512)]
    units, counts = config.integers("base_attn_unit_dims"), config.integers("n_attn_blocks")
    if len(units) < 3 or len(counts) < 3:
        raise CannotBuild(
            "base_attn_unit_dims and n_attn_blocks need 3 values", ("base_attn_unit_dims", "n_attn_blocks")
        )
    layers = stack(
        mobile_layers(config, stem, widths[0], 1),
        mobile_layers(config, widths[0], widths[1], 2),
        *(
            second_layer(config, widths[i + 1], widths[i + 2], make_divisible(units[i] * scale, 8), counts[i])
            for i in range(3)
        ),
    )
    parts: dict[str, Module | Stack | None] = {
        "conv_stem": convolution_norm(config.integer("num_channels"), stem, 3),
        "encoder.layer": layers,
    }
    return Module("Model", children=named(parts)), widths[-1]


def segmentation_head(config: ModelConfig, inputs: int) -> Module:
    """DeepLabv3 (arXiv:1706.05587): one plain, three dilated convolutions and pooled features, joined."""
    outputs = config.integer("aspp_out_channels")
    one = convolution_norm(inputs, outputs, 1)
    dilated = [convolution_norm(inputs, outputs, 3)] * 3
    pooled = Module("Pooling", children=(("conv_1x1", one),))
    label = convolution(outputs, label_count(config), (1, 1))
    parts = named(
        {
            "aspp.convs": stack(one, *dilated, pooled),
            "aspp.project": convolution_norm(5 * outputs, outputs, 1),
            "classifier.convolution": label,
        }
    )
    return in_part(Module("SegmentationHead", children=parts), "head")


def build(config: ModelConfig) -> Module:
    kind = config.model_type
    if head_name(config.architecture) == "ForSemanticSegmentation":
        if kind == "mobilevit":
            model, inputs = first_version(config, False)[0], config.integers("neck_hidden_sizes")[-2]
        else:
            model, inputs = second_version(config)
        return Module(
            config.architecture, children=((kind, model), ("segmentation_head", segmentation_head(config, inputs)))
        )
    model, width = first_version(config, True) if kind == "mobilevit" else second_version(config)
    return with_image_classifier(config, model, width)
