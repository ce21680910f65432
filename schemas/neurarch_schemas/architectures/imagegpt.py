"""ImageGPT: GPT-2 over color clusters, norms without bias; its head leaves out the start token."""

from __future__ import annotations

from neurarch_schemas.architectures.gpt2 import cross_attention, self_attention
from neurarch_schemas.architectures.language_heads import head_name, label_count, unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import lm_head, uniform
from neurarch_schemas.modules.layers import layer_norm, linear, position_embedding, token_embedding, transposed_linear
from neurarch_schemas.modules.tree import Module, children

MODEL_TYPES = ("imagegpt",)


def layer(config: ModelConfig) -> Module:
    hidden = config.integer("n_embd")
    inner, crossed = config.integer("n_inner", 4 * hidden), config.flag("add_cross_attention")
    maps = children(c_fc=transposed_linear(hidden, inner), c_proj=transposed_linear(inner, hidden))
    return Module(
        "Block",
        children=children(
            ln_1=layer_norm(hidden, bias=False),
            attn=self_attention(config),
            ln_2=layer_norm(hidden, bias=False),
            crossattention=cross_attention(config) if crossed else None,
            ln_cross_attn=layer_norm(hidden, bias=False) if crossed else None,
            mlp=Module("MLP", children=maps, part="feed-forward"),
        ),
        width_in=hidden,
        width_out=hidden,
    )


def build(config: ModelConfig) -> Module:
    hidden, vocabulary = config.integer("n_embd"), config.integer("vocab_size")
    backbone = Module(
        "Model",
        children=children(
            wte=token_embedding(vocabulary, hidden),
            wpe=position_embedding(config.integer("n_positions"), hidden),
            h=uniform(layer(config), config.integer("n_layer")),
            ln_f=layer_norm(hidden, bias=False),
        ),
        width_out=hidden,
    )
    head = head_name(config.architecture)
    if head == "Model":
        return backbone
    if head == "ForCausalImageModeling":
        # Tied, the head becomes the whole token table, with the row it would not have had.
        tied = "transformer.wte.weight" if config.flag("tie_word_embeddings") else None
        top = lm_head(hidden, max(vocabulary - 1, 0), tied_to=tied)
        return Module(config.architecture, children=children(transformer=backbone, lm_head=top))
    if head == "ForImageClassification":
        top = linear(hidden, label_count(config), bias=False, part="head")
        return Module(config.architecture, children=children(transformer=backbone, score=top))
    raise unknown_head(config.architecture)
