"""DeepSeek-VL2 with the code that came with it: timm's SigLIP, patches joined two by two, DeepSeek's MoE models.

The total of DeepSeek-VL2-Tiny equals the published 3,370,501,440.
"""

from __future__ import annotations

from neurarch_schemas.architectures import deepseek_remote
from neurarch_schemas.architectures.composite import projector
from neurarch_schemas.architectures.remote_vision_language import below, timm_block
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import in_part, uniform
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import convolution, layer_norm, linear
from neurarch_schemas.modules.tree import Module, Tensor, children, named
from neurarch_schemas.record import replace

MODEL_TYPES = ("deepseek_vl_v2",)

CLASSES = ("", "DeepseekVLV2ForCausalLM")
"""Published files name no class, or this one; DeepSeek-OCR has another model behind the same type."""

IMAGE_SIDE, HEADS, FEATURES, JOINED = 384, 16, 1152, 2
"""Defaults of the config classes, which published files leave out; the last two are the projector's."""


def pooling(hidden: int, inner: int) -> Module:
    """timm's pooling by attention of one learned query."""
    return Module(
        "AttentionPool",
        (Tensor("latent", (1, 1, hidden)),),
        children(
            q=linear(hidden, hidden),
            kv=linear(hidden, 2 * hidden),
            proj=linear(hidden, hidden),
            norm=layer_norm(hidden),
            mlp=mlp(hidden, inner),
        ),
    )


def siglip(hidden: int, heads: int, inner: int, layers: int, patch: int, image_side: int) -> Module:
    """SigLIP's encoder as timm has it, with the pooling that these models keep and do not run."""
    side = image_side // patch
    patches = Module("PatchEmbedding", children=children(proj=convolution(3, hidden, (patch, patch))))
    model = Module(
        "VisionModel",
        (Tensor("pos_embed", (1, side * side, hidden)),),
        children(
            patch_embed=patches,
            blocks=uniform(timm_block(hidden, heads, inner), layers),
            norm=layer_norm(hidden),
            attn_pool=pooling(hidden, inner),
        ),
    )
    return in_part(model, "vision")


def vision_model(config: ModelConfig) -> Module:
    hidden, patch = config.integer("width"), config.integer("patch_size")
    inner = int(hidden * config.number("mlp_ratio"))
    side, heads = config.integer("image_size", IMAGE_SIDE), config.integer("heads", HEADS)
    return siglip(hidden, heads, inner, config.integer("layers"), patch, side)


def build(config: ModelConfig) -> Module:
    if config.architecture not in CLASSES:
        raise CannotBuild(f"the class {config.architecture} is not known", ("architectures",))
    vision, joiner = config.nested_config("vision_config"), config.nested_config("projector_config")
    kind = joiner.text("projector_type", "downsample_mlp_gelu")
    if kind != "downsample_mlp_gelu" or joiner.integer("depth", 2) != 2:
        raise CannotBuild("only a joining projector of two layers is known", ("projector_config",))
    if config.text("tile_tag", "2D") != "2D":
        raise CannotBuild("only tiles in two dimensions are known", ("tile_tag",))
    width = joiner.integer("n_embed")
    inner = width * joiner.integer("mlp_ratio", 1)
    joined = joiner.integer("input_dim", FEATURES) * joiner.integer("downsample_ratio", JOINED) ** 2
    maps = {"0": linear(joined, inner), "2": linear(inner, width)}
    language = config.nested_config("language_config")
    model = deepseek_remote.build(replace(language, architecture="DeepseekV2ForCausalLM"))
    return Module(
        "DeepseekVLV2ForCausalLM",
        (Tensor("image_newline", (width,)), Tensor("view_seperator", (width,))),
        named(
            {
                "vision": vision_model(vision),
                "projector": projector({"layers": Module("Sequential", children=named({**maps}))}),
                "language": below(model, "language"),
            }
        ),
    )
