"""InternVL Chat with the code that came with it: InternViT, neighbouring patches joined, any causal language model.

As the transformers class "internvl", but with fused query-key-value matrices in the vision transformer and the whole
causal model inside. Totals equal the published ones of InternVL2-1B (938,158,976) and InternVL2-8B (8,075,365,376).
"""

from __future__ import annotations

from neurarch_schemas.architectures.composite import projector
from neurarch_schemas.architectures.remote_vision_language import causal_model, fused_attention
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import in_part, uniform
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import convolution, layer_norm, linear, rms_norm
from neurarch_schemas.modules.tree import Module, Tensor, children, named
from neurarch_schemas.modules.vision import height_and_width, patch_count

MODEL_TYPES = ("internvl_chat",)


def layer(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    kind = config.text("norm_type", "rms_norm")
    if kind not in ("layer_norm", "rms_norm"):
        raise CannotBuild(f"norm_type {kind!r} is neither layer_norm nor rms_norm", ("norm_type",))
    norm = layer_norm(hidden) if kind == "layer_norm" else rms_norm(hidden)
    attention = fused_attention(hidden, config.integer("num_attention_heads"), bias=config.flag("qkv_bias"))
    if config.flag("qk_normalization", True):
        norms = children(q_norm=rms_norm(hidden), k_norm=rms_norm(hidden))
        attention = attention.with_(children=(*attention.children, *norms))
    return Module(
        "EncoderLayer",
        (Tensor("ls1", (hidden,)), Tensor("ls2", (hidden,))),
        children(attn=attention, mlp=mlp(hidden, config.integer("intermediate_size")), norm1=norm, norm2=norm),
        width_in=hidden,
        width_out=hidden,
    )


def vision_model(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    embeddings = Module(
        "Embeddings",
        (
            Tensor("class_embedding", (1, 1, hidden)),
            Tensor("position_embedding", (1, patch_count(config) + 1, hidden)),
        ),
        children(patch_embedding=convolution(3, hidden, height_and_width(config, "patch_size"))),
    )
    encoder = Module("Encoder", children=children(layers=uniform(layer(config), config.integer("num_hidden_layers"))))
    return in_part(Module("VisionModel", children=children(embeddings=embeddings, encoder=encoder)), "vision")


def build(config: ModelConfig) -> Module:
    if config.architecture != "InternVLChatModel":
        raise CannotBuild(f"the class {config.architecture} is not known", ("architectures",))
    for adapter in ("use_backbone_lora", "use_llm_lora"):
        if config.integer(adapter, 0):
            raise CannotBuild("adapters inside the model are not built", (adapter,))
    vision, language = config.nested_config("vision_config"), config.nested_config("llm_config")
    joined = vision.integer("hidden_size") * int(1 / config.number("downsample_ratio")) ** 2
    hidden = language.integer("hidden_size")
    joiner = {"0": layer_norm(joined), "1": linear(joined, hidden), "3": linear(hidden, hidden)}
    return Module(
        config.architecture,
        children=named(
            {
                "vision_model": vision_model(vision),
                "language_model": causal_model(config, "llm_config"),
                "mlp1": projector({**joiner}),
            }
        ),
    )
