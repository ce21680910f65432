"""SegGPT (arXiv:2304.03284): segmentation by example, a Vision Transformer over prompt and image."""

from __future__ import annotations

from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import convolution, layer_norm
from neurarch_schemas.modules.tree import Module, Stack, Tensor, named
from neurarch_schemas.modules.vision import fused_vision_attention, height_and_width, patch_grid

MODEL_TYPES = ("seggpt",)

TOKENS = ("mask_token", "segment_token_input", "segment_token_prompt", "type_token_semantic", "type_token_instance")


def build(config: ModelConfig) -> Module:
    if head_name(config.architecture) != "Model":
        raise unknown_head(config.architecture)
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    attention = fused_vision_attention(hidden, heads, bias=config.flag("qkv_bias"), out_bias=True, position="relative")
    if config.flag("use_relative_position_embeddings"):
        tables = zip(("rel_pos_h", "rel_pos_w"), patch_grid(config), strict=True)
        attention = attention.with_(
            tensors=tuple(Tensor(name, (2 * size - 1, hidden // heads)) for name, size in tables)
        )
    layer: dict[str, Module | Stack | None] = {
        "attention": attention,
        "mlp": mlp(hidden, config.integer("mlp_dim", 4 * hidden), names=("lin1", "lin2")),
        "layernorm_before": layer_norm(hidden),
        "layernorm_after": layer_norm(hidden),
    }
    side = config.integer("pretrain_image_size") // config.integer("patch_size")
    tensors = (
        *(Tensor(name, (1, 1, 1, hidden)) for name in TOKENS),
        Tensor("position_embeddings", (1, side * side + 1, hidden)),
    )
    patches = convolution(config.integer("num_channels"), hidden, height_and_width(config, "patch_size"))
    table = Module("Embeddings", tensors, named({"patch_embeddings.projection": patches}), part="embedding")
    block = Module("EncoderLayer", children=named(layer))
    parts: dict[str, Module | Stack | None] = {
        "embeddings": table,
        "encoder.layers": uniform(block, config.integer("num_hidden_layers")),
        "encoder.layernorm": layer_norm(hidden),
    }
    return Module("Model", children=named(parts))
