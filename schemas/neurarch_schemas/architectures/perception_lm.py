"""PerceptionLM: Meta's Perception Encoder (arXiv:2504.13181) as the timm library builds it, a two-layer projector.

Of the library's networks only these encoders are known, with the arguments that PerceptionLM's files set.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from neurarch_schemas.architectures.composite import projector, text_model, tower, two_layer_projector, with_output_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.documents.json_value import JSONValue
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import convolution, layer_norm
from neurarch_schemas.modules.tree import Module, Stack, Tensor, children
from neurarch_schemas.modules.vision import fused_vision_attention

MODEL_TYPES = ("perception_lm", "timm_wrapper")


class Encoder(NamedTuple):
    """A network's own arguments, before ``model_args`` override some."""

    width: int
    depth: int
    inner: float
    """Width of the MLPs over that of the model."""
    image: int
    class_token: bool = True


_HEADS, _PATCH = 16, 14
_ENCODERS = {
    "vit_pe_core_large_patch14_336": Encoder(1024, 24, 4.0, 336),
    "vit_pe_core_gigantic_patch14_448": Encoder(1536, 50, 8960 / 1536, 448, class_token=False),
}
_ARGUMENTS = {"embed_dim", "depth", "img_size", "global_pool", "init_values", "use_post_transformer_norm"}
_WITHOUT_TENSORS = {"ref_feat_shape"}


def number(arguments: Mapping[str, JSONValue], name: str, usual: int) -> int:
    value = arguments.get(name, usual)
    if isinstance(value, list) and value and all(side == value[0] for side in value):
        value = value[0]
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise CannotBuild(f"model_args sets {name} to {value!r}", ("model_args",))
    return value


def encoder(config: ModelConfig) -> Module:
    name = config.text("architecture")
    found = _ENCODERS.get(name)
    if found is None:
        raise CannotBuild(f"of the timm library's networks {name} is not known", ("architecture",))
    arguments = config.mapping("model_args") if config.is_set("model_args") else {}
    unknown = sorted(set(arguments) - _ARGUMENTS - _WITHOUT_TENSORS)
    if unknown or arguments.get("global_pool") != "":
        raise CannotBuild(f"model_args sets {unknown or 'no global_pool of none'}", ("model_args",))
    width, image = number(arguments, "embed_dim", found.width), number(arguments, "img_size", found.image)
    places = (image // _PATCH) ** 2 + found.class_token
    scaled = arguments.get("init_values") is not None
    scales = (Tensor("gamma_1", (width,)), Tensor("gamma_2", (width,))) if scaled else ()
    layer = Module(
        "EncoderLayer",
        scales,
        children(
            norm1=layer_norm(width),
            attn=fused_vision_attention(width, _HEADS),
            norm2=layer_norm(width),
            mlp=mlp(width, int(width * found.inner)),
        ),
    )
    tokens = (Tensor("cls_token", (1, 1, width)),) if found.class_token else ()
    patches = convolution(3, width, (_PATCH, _PATCH), bias=False)
    network = Module(
        "PerceptionEncoder",
        (*tokens, Tensor("pos_embed", (1, places, width))),
        children(
            patch_embed=Module("PatchEmbedding", children=children(proj=patches), part="embedding"),
            norm_pre=layer_norm(width),
            blocks=uniform(layer, number(arguments, "depth", found.depth)),
            norm=layer_norm(width) if arguments.get("use_post_transformer_norm", True) else None,
        ),
    )
    return Module("VisionModel", children=children(timm_model=network), width_out=width)


def build(config: ModelConfig) -> Module:
    if config.model_type == "timm_wrapper":
        return encoder(config)
    arguments = config.nested_config("vision_config").mapping("model_args")
    text = config.nested_config("text_config")
    features, hidden = number(arguments, "embed_dim", 0), text.integer("hidden_size")
    parts: dict[str, Module | Stack | None] = {
        "vision_tower": tower(config),
        "multi_modal_projector": projector(two_layer_projector(features, hidden)),
        "language_model": text_model(config),
    }
    written = config.is_set("tie_word_embeddings")
    tied = config.flag("tie_word_embeddings") if written else text.flag("tie_word_embeddings")
    return with_output_head(config, parts, tied=tied)
