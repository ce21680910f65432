"""V-JEPA 2 (arXiv:2506.09985): a video encoder and the predictor it is trained with."""

from __future__ import annotations

from neurarch_schemas.architectures.language_heads import head_name, label_count, unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import in_part, uniform
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import convolution, layer_norm, linear
from neurarch_schemas.modules.tree import Module, Stack, Tensor, named
from neurarch_schemas.modules.vision import vit_attention

MODEL_TYPES = ("vjepa2",)


def layer(config: ModelConfig, width: int, heads: int, ratio: float) -> Module:
    names = ("query", "key", "value", "proj")
    parts: dict[str, Module | Stack | None] = {
        "norm1": layer_norm(width),
        "attention": vit_attention(width, heads, bias=config.flag("qkv_bias"), names=names, position="rope"),
        "norm2": layer_norm(width),
        "mlp": mlp(width, int(width * ratio)),
    }
    return Module("EncoderLayer", children=named(parts))


def pooler(config: ModelConfig) -> Module:
    """Attentive pooling: layers of self-attention, then one query that reads all tokens (without output projection)."""
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")

    def pooling_layer(name: str, block: Module) -> Module:
        parts: dict[str, Module | Stack | None] = {
            "layer_norm1": layer_norm(hidden),
            name: block,
            "layer_norm2": layer_norm(hidden),
            "mlp": mlp(hidden, int(hidden * config.number("mlp_ratio"))),
        }
        return Module("PoolingLayer", children=named(parts))

    one = linear(hidden, hidden)
    cross = Module("CrossAttention", children=named({"q_proj": one, "k_proj": one, "v_proj": one}))
    own = vit_attention(hidden, heads, names=("q_proj", "k_proj", "v_proj", "out_proj"))
    parts: dict[str, Module | Stack | None] = {
        "cross_attention_layer": pooling_layer("cross_attn", cross),
        "self_attention_layers": uniform(pooling_layer("self_attn", own), config.integer("num_pooler_layers")),
    }
    return in_part(Module("Pooler", (Tensor("query_tokens", (1, 1, hidden)),), named(parts)), "head")


def build(config: ModelConfig) -> Module:
    head = head_name(config.architecture)
    if head not in ("Model", "ForVideoClassification"):
        raise unknown_head(config.architecture)
    hidden, narrow = config.integer("hidden_size"), config.integer("pred_hidden_size")
    patch = config.integer("patch_size")
    kernel = (config.integer("tubelet_size"), patch, patch)
    own = layer(config, hidden, config.integer("num_attention_heads"), config.number("mlp_ratio"))
    encoder: dict[str, Module | Stack | None] = {
        "embeddings.patch_embeddings.proj": convolution(config.integer("in_chans"), hidden, kernel),
        "layer": uniform(own, config.integer("num_hidden_layers")),
        "layernorm": layer_norm(hidden),
    }
    tokens = Module(
        "PredictorEmbeddings",
        (Tensor("mask_tokens", (config.integer("pred_num_mask_tokens"), 1, 1, narrow)),),
        named({"predictor_embeddings": linear(hidden, narrow)}),
        part="embedding",
    )
    guess = layer(config, narrow, config.integer("pred_num_attention_heads"), config.number("pred_mlp_ratio"))
    predictor: dict[str, Module | Stack | None] = {
        "embeddings": tokens,
        "layer": uniform(guess, config.integer("pred_num_hidden_layers")),
        "layernorm": layer_norm(narrow),
        "proj": linear(narrow, hidden),
    }
    parts: dict[str, Module | Stack | None] = {
        "encoder": Module("Encoder", children=named(encoder)),
        "predictor": Module("Predictor", children=named(predictor)),
    }
    model = Module("Model", children=named(parts))
    if head == "Model":
        return model
    top = linear(hidden, label_count(config), part="head")
    return Module(config.architecture, children=named({"vjepa2": model, "pooler": pooler(config), "classifier": top}))
