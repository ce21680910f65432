"""MGP-STR (arXiv:2209.03592): scene text recognition by characters, byte pairs and word pieces at once."""

from __future__ import annotations

from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import convolution, layer_norm, linear
from neurarch_schemas.modules.tree import Module, Stack, Tensor, named
from neurarch_schemas.modules.vision import fused_vision_attention, height_and_width, patch_grid, sequential

MODEL_TYPES = ("mgp-str",)

GROUPS = 8
"""Groups of the aggregation's convolutions, fixed in the class."""


def backbone(config: ModelConfig) -> Module:
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    layer: dict[str, Module | Stack | None] = {
        "norm1": layer_norm(hidden),
        "attn": fused_vision_attention(hidden, heads, bias=config.flag("qkv_bias"), out_bias=True, position="learned"),
        "norm2": layer_norm(hidden),
        "mlp": mlp(hidden, int(hidden * config.number("mlp_ratio"))),
    }
    rows, columns = patch_grid(config)
    tokens = rows * columns + (2 if config.flag("distilled") else 1)
    patches = convolution(config.integer("num_channels"), hidden, height_and_width(config, "patch_size"))
    embeddings = Module(
        "Embeddings",
        (Tensor("cls_token", (1, 1, hidden)), Tensor("pos_embed", (1, tokens, hidden))),
        named({"proj": patches}),
        part="embedding",
    )
    block = Module("EncoderLayer", children=named(layer))
    parts: dict[str, Module | Stack | None] = {
        "embeddings": embeddings,
        "encoder.blocks": uniform(block, config.integer("num_hidden_layers")),
    }
    return Module("Model", children=named(parts))


def aggregation(config: ModelConfig) -> Module:
    """Patches are gathered into ``max_token_length`` places of the text."""
    hidden, length = config.integer("hidden_size"), config.integer("max_token_length")
    grouped = convolution(hidden, hidden, (1, 1), bias=False, groups=GROUPS)
    parts: dict[str, Module | Stack | None] = {
        "token_norm": layer_norm(hidden),
        "tokenLearner": sequential(grouped, convolution(hidden, length, (1, 1), bias=False)),
        "feat": grouped,
        "norm": layer_norm(hidden),
    }
    return Module("Aggregation", children=named(parts), part="head")


def build(config: ModelConfig) -> Module:
    head, model = head_name(config.architecture), backbone(config)
    if head == "Model":
        return model
    if head != "ForSceneTextRecognition":
        raise unknown_head(config.architecture)
    hidden = config.integer("hidden_size")
    parts: dict[str, Module | Stack | None] = {"mgp_str": model}
    for short, name in (("char", "character"), ("bpe", "bpe"), ("wp", "wordpiece")):
        parts[f"{short}_a3_module"] = aggregation(config)
        parts[f"{short}_head"] = linear(hidden, config.integer(f"num_{name}_labels"), part="head")
    return Module(config.architecture, children=named(parts))
