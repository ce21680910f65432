"""Molmo with the code that came with it: OLMo's layers under older names, a CLIP tower, attention over four patches.

The sizes of the image encoder stand in the code and not in the config. The total of Molmo-7B-D equals the published
8,021,025,280.
"""

from __future__ import annotations

from neurarch_schemas.architectures.composite import projector
from neurarch_schemas.architectures.language_heads import unknown_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import in_part, lm_head, uniform
from neurarch_schemas.modules.attention import attention_block
from neurarch_schemas.modules.feed_forward import gated_mlp, mlp
from neurarch_schemas.modules.layers import layer_norm, linear, rms_norm
from neurarch_schemas.modules.tree import AttentionShape, Module, Tensor, children, named
from neurarch_schemas.modules.vision import vision_attention

MODEL_TYPES = ("molmo",)

FURTHER_TOKENS = 128
"""Image tokens, whose embeddings are a matrix of their own."""

_UNCONFIRMED = ("attention_layer_norm", "norm_after", "moe_num_experts", "weight_tying", "tie_word_embeddings")


def block(config: ModelConfig) -> Module:
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    kv_heads, inner = config.integer("num_key_value_heads", heads), config.integer("intermediate_size")
    dim = hidden // heads
    mixer = attention_block(
        {
            "att_proj": linear(hidden, (heads + 2 * kv_heads) * dim, config.flag("qkv_bias")),
            "attn_out": linear(hidden, hidden, bias=False),
        },
        AttentionShape(heads, kv_heads, dim, dim, position="rope"),
        hidden=hidden,
    )
    transform = children(ff_proj=linear(hidden, inner, bias=False), ff_out=linear(inner // 2, hidden, bias=False))
    return Module(
        "Block",
        # Attention and the feed-forward block are no modules of their own in this code.
        children=(
            *mixer.children,
            *((name, module.with_(part="feed-forward")) for name, module in transform if isinstance(module, Module)),
            *children(attn_norm=rms_norm(hidden), ff_norm=rms_norm(hidden)),
        ),
        part="attention",
        attention=mixer.attention,
        caches=mixer.caches,
        width_in=hidden,
        width_out=hidden,
        problems=mixer.problems,
    )


def image_encoder() -> Module:
    """CLIP's large encoder of 336 pixels but for its last layer."""
    hidden = 1024
    layer = Module(
        "EncoderLayer",
        children=children(
            attention=vision_attention(hidden, 16, names=("wq", "wk", "wv", "wo")),
            feed_forward=mlp(hidden, 4096, names=("w1", "w2")),
            attention_norm=layer_norm(hidden),
            ffn_norm=layer_norm(hidden),
        ),
    )
    return Module(
        "VisionModel",
        (Tensor("class_embedding", (hidden,)), Tensor("positional_embedding", (24 * 24 + 1, hidden))),
        children(
            patch_embedding=linear(3 * 14 * 14, hidden, bias=False),
            pre_ln=layer_norm(hidden),
            transformer=Module("Transformer", children=children(resblocks=uniform(layer, 23))),
        ),
    )


def vision_backbone(config: ModelConfig) -> Module:
    """Two layers of the encoder side by side, pooled two by two by attention."""
    features, hidden = 2 * 1024, config.integer("hidden_size")
    pooling = {name: linear(features, 1024) for name in ("wq", "wk", "wv")} | {"wo": linear(1024, 1024)}
    maps = gated_mlp(1024, config.integer("intermediate_size") // 2, names=("w1", "w3", "w2"))
    joiner = [("w2", linear(config.integer("intermediate_size") // 2, hidden, bias=False))]
    kept = [(name, module) for name, module in maps.children if name != "w2"]
    return Module(
        "VisionBackbone",
        (Tensor("pad_embed", (2, features)),),
        children(
            image_vit=in_part(image_encoder(), "vision"),
            image_pooling_2d=projector({**pooling}),
            image_projector=projector(dict([*kept, *joiner])),
        ),
        part="projector",
    )


def build(config: ModelConfig) -> Module:
    for key in _UNCONFIRMED:
        if config.flag(key):
            raise CannotBuild(f"no published total confirms a reading of {key} in this class", (key,))
    if config.text("layer_norm_type", "rms") != "rms":
        raise CannotBuild("only the form with RMSNorm is known", ("layer_norm_type",))
    if config.architecture != "MolmoForCausalLM":
        raise unknown_head(config.architecture)
    hidden = config.integer("hidden_size")
    rows = config.integer("embedding_size" if config.is_set("embedding_size") else "vocab_size")
    table = Module(
        "Embedding",
        (Tensor("embedding", (rows, hidden)), Tensor("new_embedding", (FURTHER_TOKENS, hidden))),
        part="embedding",
        lookup=True,
        width_out=hidden,
    )
    transformer = Module(
        "Transformer",
        children=children(
            wte=table,
            blocks=uniform(block(config), config.integer("num_hidden_layers")),
            ln_f=rms_norm(hidden),
            ff_out=lm_head(hidden, rows),
        ),
    )
    model = Module("Model", children=named({"transformer": transformer, "vision_backbone": vision_backbone(config)}))
    return Module(config.architecture, children=children(model=model))
