"""Sapiens 2's encoder: DINOv3's layout with RMS norms, normalized queries and keys, and grouped-query attention."""

from __future__ import annotations

from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.layer_pattern import LayerPattern
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.attention import head_problems
from neurarch_schemas.modules.feed_forward import gated_mlp, mlp
from neurarch_schemas.modules.layers import convolution, linear, rms_norm
from neurarch_schemas.modules.tree import AttentionShape, Module, Stack, Tensor, named
from neurarch_schemas.modules.vision import height_and_width

MODEL_TYPES = ("sapiens2",)


def kv_heads(config: ModelConfig) -> LayerPattern[int]:
    """KV heads of each layer: the first and last layers keep one a head, those between share them."""
    count, heads = config.integer("num_hidden_layers"), config.integer("num_attention_heads")
    written = config.setting("num_key_value_heads_per_layer")
    if written is not None and written.origin == "written" and written.value is not None:
        listed = config.integers("num_key_value_heads_per_layer")
        if len(listed) < count:
            raise CannotBuild(f"{len(listed)} entries for {count} layers", ("num_key_value_heads_per_layer",))
        return LayerPattern.of(listed).head(count)
    first = min(config.integer("num_first_full_attention_layers"), count)
    last = min(config.integer("num_last_full_attention_layers"), count - first)
    between = LayerPattern.constant(config.integer("num_key_value_attention_heads"), count - first - last)
    return LayerPattern.constant(heads, first) + between + LayerPattern.constant(heads, last)


def layer(config: ModelConfig, shared: int) -> Module:
    hidden, heads, inner = (
        config.integer("hidden_size"),
        config.integer("num_attention_heads"),
        config.integer("intermediate_size"),
    )
    dim, norms, bias = hidden // heads, config.flag("use_qk_norm"), config.flag("mlp_bias")
    projections: dict[str, Module | Stack | None] = {
        "q_proj": linear(hidden, hidden, config.flag("query_bias")),
        "k_proj": linear(hidden, shared * dim, config.flag("key_bias")),
        "v_proj": linear(hidden, shared * dim, config.flag("value_bias")),
        "o_proj": linear(hidden, hidden, config.flag("proj_bias")),
        "q_norm": rms_norm(dim) if norms else None,
        "k_norm": rms_norm(dim) if norms else None,
    }
    attention = Module(
        "Attention",
        children=named(projections),
        part="attention",
        attention=AttentionShape(heads, shared, dim, dim, "encoder", causal=False, qk_norm=norms, position="rope"),
        width_in=hidden,
        width_out=hidden,
        problems=head_problems(hidden, heads, shared, None),
    )
    feed_forward = (
        gated_mlp(hidden, inner, bias)
        if config.flag("use_gated_mlp")
        else mlp(hidden, inner, bias, names=("up_proj", "down_proj"))
    )
    parts: dict[str, Module | Stack | None] = {
        "norm1": rms_norm(hidden),
        "attention": attention,
        "layer_scale1": Module("LayerScale", (Tensor("lambda1", (hidden,)),)),
        "norm2": rms_norm(hidden),
        "mlp": feed_forward,
    }
    return Module("EncoderLayer", children=named(parts))


def build(config: ModelConfig) -> Module:
    if head_name(config.architecture) not in ("Model", "Backbone"):
        raise unknown_head(config.architecture)
    hidden = config.integer("hidden_size")
    tensors = [Tensor("cls_token", (1, 1, hidden))]
    if config.flag("use_mask_token"):
        tensors.append(Tensor("mask_token", (1, 1, hidden)))
    tensors.append(Tensor("register_tokens", (1, config.integer("num_register_tokens"), hidden)))
    patches = convolution(config.integer("num_channels"), hidden, height_and_width(config, "patch_size"))
    parts: dict[str, Module | Stack | None] = {
        "embeddings": Module("Embeddings", tuple(tensors), named({"patch_embeddings": patches}), part="embedding"),
        "model.layer": layers(kv_heads(config), lambda shared: layer(config, shared)),
        "norm": rms_norm(hidden),
    }
    return Module("Model", children=named(parts))
