"""Networks of the timm library that vision-language models put in front: Perception Encoder and FastViT.

Perception Encoder (arXiv:2504.13181) with the arguments that PerceptionLM sets, FastViT (arXiv:2303.14189) in the size
and the fused form that FastVLM uses. Other networks are refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.documents.json_value import JSONValue
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import batch_norm, convolution, layer_norm, linear
from neurarch_schemas.modules.tree import AttentionShape, Module, Tensor, children, stack
from neurarch_schemas.modules.vision import fused_vision_attention, sequential

MODEL_TYPES = ("timm_wrapper",)


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


_FASTVIT = "fastvit_mci3"
_FASTVIT_STAGES = ((96, 2), (192, 12), (384, 24), (768, 4), (1536, 2))
"""Width and blocks of each stage; the last two attend."""
_ATTENDING = 768
_FASTVIT_HEAD, _FASTVIT_OUTPUT = 32, 3072


def number(arguments: Mapping[str, JSONValue], name: str, usual: int) -> int:
    value = arguments.get(name, usual)
    if isinstance(value, list) and value and all(side == value[0] for side in value):
        value = value[0]
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise CannotBuild(f"model_args sets {name} to {value!r}", ("model_args",))
    return value


def perception_encoder(found: Encoder, arguments: Mapping[str, JSONValue]) -> Module:
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
    return Module(
        "PerceptionEncoder",
        (*tokens, Tensor("pos_embed", (1, places, width))),
        children(
            patch_embed=Module("PatchEmbedding", children=children(proj=patches), part="embedding"),
            norm_pre=layer_norm(width),
            blocks=uniform(layer, number(arguments, "depth", found.depth)),
            norm=layer_norm(width) if arguments.get("use_post_transformer_norm", True) else None,
        ),
        width_out=width,
    )


def fused(inputs: int, outputs: int, kernel: int, groups: int = 1) -> Module:
    """The branches of training in one convolution."""
    layer = convolution(inputs, outputs, (kernel, kernel), groups=groups)
    return Module("FusedConvolution", children=children(reparam_conv=layer))


def layer_scale(width: int) -> Module:
    return Module("LayerScale", (Tensor("gamma", (width, 1, 1)),))


def fastvit_block(width: int) -> Module:
    """A depthwise convolution or attention among all places, then an MLP behind a depthwise convolution."""
    depthwise = Module(
        "NormedConvolution",
        children=children(conv=convolution(width, width, (7, 7), bias=False, groups=width), bn=batch_norm(width)),
    )
    transform = Module(
        "ConvolutionMLP",
        children=children(
            conv=depthwise,
            fc1=convolution(width, 4 * width, (1, 1)),
            fc2=convolution(4 * width, width, (1, 1)),
        ),
        part="feed-forward",
    )
    if width < _ATTENDING:
        mixer = fused(width, width, 3, groups=width)
        return Module("MixerBlock", children=children(token_mixer=mixer, mlp=transform, layer_scale=layer_scale(width)))
    heads = width // _FASTVIT_HEAD
    shape = AttentionShape(heads, heads, _FASTVIT_HEAD, _FASTVIT_HEAD, "encoder", causal=False)
    attends = Module(
        "Attention",
        children=children(qkv=linear(width, 3 * width, bias=False), proj=linear(width, width)),
        part="attention",
        attention=shape,
    )
    return Module(
        "AttentionBlock",
        children=children(
            norm=layer_norm(width),
            token_mixer=attends,
            layer_scale_1=layer_scale(width),
            mlp=transform,
            layer_scale_2=layer_scale(width),
        ),
    )


def fastvit() -> Module:
    first, last = _FASTVIT_STAGES[0][0], _FASTVIT_STAGES[-1][0]
    stages, inputs = [], 0
    for width, depth in _FASTVIT_STAGES:
        narrowing = sequential(fused(inputs, width, 7, groups=inputs), fused(width, width, 1)) if inputs else None
        stages.append(
            Module(
                "Stage",
                children=children(
                    downsample=Module("Downsampling", children=children(proj=narrowing)) if narrowing else None,
                    pos_emb=fused(width, width, 7, groups=width) if width >= _ATTENDING else None,
                    blocks=uniform(fastvit_block(width), depth),
                ),
            )
        )
        inputs = width
    squeezed = _FASTVIT_OUTPUT // 16
    excitation = Module(
        "SqueezeExcitation",
        children=children(
            fc1=convolution(_FASTVIT_OUTPUT, squeezed, (1, 1)), fc2=convolution(squeezed, _FASTVIT_OUTPUT, (1, 1))
        ),
    )
    final = fused(last, _FASTVIT_OUTPUT, 3, groups=last)
    return Module(
        "FastViT",
        children=children(
            stem=stack(fused(3, first, 3), fused(first, first, 3, groups=first), fused(first, first, 1)),
            stages=stack(*stages),
            final_conv=final.with_(children=(("se", excitation), *final.children)),
        ),
        width_out=_FASTVIT_OUTPUT,
    )


def build(config: ModelConfig) -> Module:
    name = config.text("architecture")
    arguments = config.mapping("model_args") if config.is_set("model_args") else {}
    if name in _ENCODERS:
        network = perception_encoder(_ENCODERS[name], arguments)
    elif name == _FASTVIT and arguments == {"inference_mode": True}:
        network = fastvit()
    else:
        raise CannotBuild(f"of the timm library's networks {name} is not known with these arguments", ("architecture",))
    return Module("VisionModel", children=children(timm_model=network), width_out=network.width_out)
