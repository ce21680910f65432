"""Emu3: a Llama-like language model that reads and writes codes of a video autoencoder."""

from __future__ import annotations

from collections.abc import Callable
from math import log2

from neurarch_schemas.architectures.composite import text_model, tower, with_output_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.image_codec import codebook, resampling
from neurarch_schemas.modules.layers import batch_norm, convolution, group_norm
from neurarch_schemas.modules.tree import Module, Stack, children, stack
from neurarch_schemas.modules.vision import vision_attention

MODEL_TYPES = ("emu3", "emu3_vqgan")


def framed_convolution(inputs: int, outputs: int, kernel: tuple[int, int, int]) -> Module:
    return Module("CausalConv3d", children=children(conv=convolution(inputs, outputs, kernel)))


def temporal_step(width: int, frames: int) -> Module:
    """Halves or doubles the number of frames."""
    return Module("TemporalStep", children=children(conv=framed_convolution(width, width, (frames, 3, 3))))


def temporal_block(width: int) -> Module:
    block = framed_convolution(width, width, (3, 3, 3))
    norm = batch_norm(width)
    return Module("TemporalResidualBlock", children=children(norm1=norm, conv1=block, norm2=norm, conv2=block))


def codec(config: ModelConfig) -> Module:
    """Levels listed in ``attn_resolutions`` attend after each block; the decoder's norms read the codes as well."""
    latent, codes = config.integer("latent_channels"), config.integer("embed_dim")
    base, multipliers = config.integer("base_channels"), config.integers("channel_multiplier")
    widths, blocks = [base * multiplier for multiplier in multipliers], config.integer("num_res_blocks")
    factor = config.integer("temporal_downsample_factor")
    if factor < 1:
        raise CannotBuild("temporal_downsample_factor must be positive", ("temporal_downsample_factor",))
    temporal_steps = int(log2(factor))
    encoded = 2 * latent if config.flag("double_latent") else latent
    attention = vision_attention(
        config.integer("hidden_size"),
        config.integer("num_attention_heads"),
        names=("q_proj", "k_proj", "v_proj", "out_proj"),
    )
    wanted = config.get("attn_resolutions")
    attending = wanted if isinstance(wanted, list) else []

    def code_norm(width: int) -> Module:
        mapped = convolution(codes, width, (1, 1))
        return Module("SpatialNorm", children=children(norm_layer=group_norm(width), conv_y=mapped, conv_b=mapped))

    def residual(inputs: int, outputs: int, norm: Callable[[int], Module]) -> Module:
        shortcut = None if inputs == outputs else convolution(inputs, outputs, (1, 1))
        return Module(
            "ResidualBlock",
            children=children(
                norm1=norm(inputs),
                norm2=norm(outputs),
                conv1=convolution(inputs, outputs, (3, 3)),
                conv2=convolution(outputs, outputs, (3, 3)),
                nin_shortcut=shortcut,
            ),
        )

    def middle(norm: Callable[[int], Module]) -> Module:
        block = residual(widths[-1], widths[-1], norm)
        return Module(
            "Middle",
            children=children(block_1=block, attn_1=attention, attn_norm=norm(widths[-1]), block_2=block),
        )

    def level(index: int, inputs: int, count: int, norm: Callable[[int], Module], resample: str | None) -> Module:
        width, looks = widths[index], index in attending
        stages = [residual(inputs if number == 0 else width, width, norm) for number in range(count)]
        step: dict[str, Module | Stack | None] = {resample: resampling(width)} if resample else {}
        return Module(
            "Level",
            children=children(
                block=stack(*stages) if stages else None,
                attn=uniform(attention, count) if looks else None,
                attn_norms=uniform(norm(width), count) if looks else None,
                **step,
            ),
        )

    last = len(widths) - 1
    down = [
        level(index, widths[index - 1] if index else base, blocks, group_norm, None if index == last else "downsample")
        for index in range(len(widths))
    ]
    up = [
        level(index, widths[min(index + 1, last)], blocks + 1, code_norm, "upsample" if index else None)
        for index in range(len(widths))
    ]
    encoder = Module(
        "VideoEncoder",
        children=children(
            conv_in=convolution(config.integer("in_channels"), base, (3, 3)),
            down_block=Module("Levels", children=children(down=stack(*down))),
            middle_block=middle(group_norm),
            norm_out=group_norm(widths[-1]),
            conv_out=convolution(widths[-1], encoded, (3, 3)),
            time_conv=uniform(temporal_step(encoded, 4), temporal_steps),
            time_res_stack=uniform(temporal_block(encoded), blocks),
        ),
    )
    decoder = Module(
        "VideoDecoder",
        children=children(
            time_res_stack=uniform(temporal_block(latent), blocks),
            time_conv=uniform(temporal_step(latent, 3), temporal_steps),
            conv_in=convolution(latent, widths[-1], (3, 3)),
            middle_block=middle(code_norm),
            up_block=Module("Levels", children=children(up=stack(*up))),
            norm_out=code_norm(widths[0]),
            conv_out=convolution(widths[0], config.integer("out_channels"), (3, 3)),
        ),
    )
    return Module(
        "VideoTokenizer",
        children=children(
            encoder=encoder,
            decoder=decoder,
            quantize=codebook(config.integer("codebook_size"), codes),
            quant_conv=framed_convolution(latent, codes, (3, 1, 1)),
            post_quant_conv=framed_convolution(codes, latent, (3, 1, 1)),
        ),
    )


def build(config: ModelConfig) -> Module:
    if config.model_type == "emu3_vqgan":
        return codec(config)
    parts = {"text_model": text_model(config), "vqmodel": tower(config, "vq_config")}
    return with_output_head(config, {**parts}, embedding="text_model.embed_tokens.weight")
