"""Encoders whose embeddings have a width of their own: ELECTRA, ConvBERT, RoFormer, RemBERT."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from neurarch_schemas.architectures.bert import pooler
from neurarch_schemas.architectures.encoder_heads import masked_lm_head, vocabulary_projection, with_encoder_head
from neurarch_schemas.architectures.language_heads import head_name, label_count, sequence_summary
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.attention import attention_block
from neurarch_schemas.modules.encoder import bert_embeddings, bert_layer
from neurarch_schemas.modules.layers import convolution, layer_norm, linear, position_embedding
from neurarch_schemas.modules.tree import AttentionShape, Module, Stack, Tensor, named, stack

MODEL_TYPES = ("electra", "convbert", "roformer", "rembert")


def embedding_width(config: ModelConfig) -> int:
    if config.model_type == "rembert":
        return config.integer("input_embedding_size")
    return config.integer("embedding_size", config.integer("hidden_size"))


def transformer_layer(config: ModelConfig) -> Module:
    return bert_layer(
        config.integer("hidden_size"),
        config.integer("num_attention_heads"),
        config.integer("intermediate_size"),
        decoder=config.flag("is_decoder"),
        cross=config.flag("add_cross_attention"),
        position="rope" if config.model_type == "roformer" else "learned",
    )


def mixed_attention(config: ModelConfig) -> Module:
    """ConvBERT (arXiv:2008.02496): ``head_ratio`` times fewer heads attend, dynamic convolution does the rest.

    Both together must give the hidden size again, so one head is half as wide as hidden size / heads.
    """
    hidden, kernel = config.integer("hidden_size"), config.integer("conv_kernel_size")
    heads = config.integer("num_attention_heads") // config.integer("head_ratio") or 1
    dim = hidden // heads // 2
    width = heads * dim
    separable = Module(
        "SeparableConv1d",
        (Tensor("bias", (width, 1)),),
        named(
            {
                "depthwise": convolution(hidden, hidden, (kernel,), bias=False, groups=hidden),
                "pointwise": convolution(hidden, width, (1,), bias=False),
            }
        ),
        part="convolution",
    )
    return attention_block(
        {
            "self.query": linear(hidden, width),
            "self.key": linear(hidden, width),
            "self.value": linear(hidden, width),
            "self.key_conv_attn_layer": separable,
            "self.conv_kernel_layer": linear(width, heads * kernel),
            "self.conv_out_layer": linear(hidden, width),
            "output.dense": linear(hidden, hidden),
            "output.LayerNorm": layer_norm(hidden),
        },
        AttentionShape(heads, heads, dim, dim, "encoder", causal=False, position="learned"),
        hidden=hidden,
        caches=(),
    )


def grouped_linear(inputs: int, outputs: int, groups: int) -> Module:
    """ConvBERT's grouped linear map: each group of inputs gives its share of the outputs."""
    if groups == 1:
        return linear(inputs, outputs)
    tensors = (Tensor("weight", (groups, inputs // groups, outputs // groups)), Tensor("bias", (outputs,)))
    return Module("GroupedLinear", tensors, multiply_accumulates=inputs * outputs // groups, width_out=outputs)


def convolution_layer(config: ModelConfig) -> Module:
    hidden, groups = config.integer("hidden_size"), config.integer("num_groups")
    inner = config.integer("intermediate_size")
    return Module(
        "EncoderLayer",
        children=named(
            {
                "attention": mixed_attention(config),
                "crossattention": mixed_attention(config) if config.flag("add_cross_attention") else None,
                "intermediate.dense": grouped_linear(hidden, inner, groups).with_(part="feed-forward"),
                "output.dense": grouped_linear(inner, hidden, groups).with_(part="feed-forward"),
                "output.LayerNorm": layer_norm(hidden),
            }
        ),
    )


def backbone(config: ModelConfig, with_pooler: bool) -> Module:
    """RoFormer's rotary table is a frozen parameter; RemBERT maps embeddings inside its encoder and has a pooler."""
    hidden, width, kind = config.integer("hidden_size"), embedding_width(config), config.model_type
    embeddings = bert_embeddings(
        config.integer("vocab_size"),
        width,
        positions=None if kind == "roformer" else config.integer("max_position_embeddings"),
        types=config.integer("type_vocab_size"),
    )
    children: dict[str, Module | Stack | None] = {"embeddings": embeddings}
    if kind == "rembert":
        children["encoder.embedding_hidden_mapping_in"] = linear(width, hidden)
    elif width != hidden:
        children["embeddings_project"] = linear(width, hidden)
    if kind == "roformer":
        dim = hidden // config.integer("num_attention_heads")
        children["encoder.embed_positions"] = position_embedding(config.integer("max_position_embeddings"), dim)
    built = convolution_layer(config) if kind == "convbert" else transformer_layer(config)
    children["encoder.layer"] = stack(built, times=config.integer("num_hidden_layers"))
    if with_pooler and kind == "rembert":
        children["pooler"] = pooler(hidden)
    return Module("Model", children=named(children))


def language_model(config: ModelConfig) -> Mapping[str, Module]:
    hidden, width, vocabulary = config.integer("hidden_size"), embedding_width(config), config.integer("vocab_size")
    kind = config.model_type
    table = f"{kind}.embeddings.word_embeddings.weight" if config.flag("tie_word_embeddings") else None
    if kind == "rembert":
        head = masked_lm_head(
            hidden,
            vocabulary,
            tied_to=None,
            name="cls.predictions",
            width=config.integer("output_embedding_size"),
            transform=("dense", "LayerNorm"),
            own_bias=False,
        )
        return {"cls.predictions": head}
    if kind == "roformer":
        names = ("transform.dense", "transform.LayerNorm")
        return {
            "cls.predictions": masked_lm_head(
                hidden, vocabulary, tied_to=table, name="cls.predictions", width=width, transform=names
            )
        }
    dense = {"dense": linear(hidden, width), "LayerNorm": layer_norm(width)}
    return {
        "generator_predictions": Module("GeneratorPredictions", children=named(dense), part="head"),
        "generator_lm_head": vocabulary_projection(width, vocabulary, weight=table),
    }


def build(config: ModelConfig) -> Module:
    hidden, kind, head = config.integer("hidden_size"), config.model_type, head_name(config.architecture)
    if head == "ForPreTraining" and kind == "electra":
        detector = {"dense": linear(hidden, hidden), "dense_prediction": linear(hidden, 1)}
        children = {
            "electra": backbone(config, with_pooler=False),
            "discriminator_predictions": Module("Discriminator", children=named(detector), part="head"),
        }
        return Module(config.architecture, children=named(children))
    if head == "ForMultipleChoice" and kind != "rembert":
        # These summarize the sequence, by a projection only where the config asks for it.
        parts: dict[str, Module | Stack | None] = {
            kind: backbone(config, with_pooler=False),
            "sequence_summary": sequence_summary(config, hidden, label_count(config)),
            "classifier": linear(hidden, 1, part="head"),
        }
        return Module(config.architecture, children=named(parts))
    return with_encoder_head(
        config,
        partial(backbone, config),
        prefix=kind,
        hidden=hidden,
        language_model=partial(language_model, config),
        classifier="pooled" if kind == "rembert" else "dense",
        pooled=("Model", "ForMultipleChoice"),
        answers=2 if kind == "roformer" else None,
    )
