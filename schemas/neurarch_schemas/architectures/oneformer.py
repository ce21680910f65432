"""OneFormer (arXiv:2211.06220): Mask2Former's pixel decoder, with queries that begin from the task."""

from __future__ import annotations

from neurarch_schemas.architectures.backbones import backbone
from neurarch_schemas.architectures.language_heads import head_name, label_count, unknown_head
from neurarch_schemas.architectures.mask2former import LEVELS, class_weights, pixel_decoder
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.encoder import encoder_attention
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import convolution, embedding, layer_norm, linear
from neurarch_schemas.modules.tree import Module, Stack, Tensor, concatenate, named, stack
from neurarch_schemas.modules.vision import sequential, torch_attention

MODEL_TYPES = ("oneformer",)

TEXT_HEAD_DIM = 64


def prediction(inputs: int, hidden: int, outputs: int, depth: int) -> Module:
    """Linear maps, each in a block with its activation."""
    if depth < 2:
        return Module("MLP", children=(("layers", stack(sequential(linear(inputs, outputs)), times=depth)),))
    first, last = sequential(linear(inputs, hidden)), sequential(linear(hidden, outputs))
    inner = stack(sequential(linear(hidden, hidden)), times=depth - 2)
    return Module("MLP", children=(("layers", concatenate(stack(first), inner, stack(last))),))


def query_layer(config: ModelConfig) -> Module:
    hidden, heads, inner = (config.integer(k) for k in ("hidden_dim", "num_attention_heads", "dim_feedforward"))
    parts: dict[str, Module | Stack | None] = {
        "self_attn": torch_attention(hidden, heads),
        "multihead_attn": torch_attention(hidden, heads),
        "linear1": linear(hidden, inner, part="feed-forward"),
        "linear2": linear(inner, hidden, part="feed-forward"),
        **{f"norm{number}": layer_norm(hidden) for number in (1, 2, 3)},
    }
    return Module("QueryLayer", children=named(parts))


def decoder_layer(config: ModelConfig) -> Module:
    hidden, heads, inner = (config.integer(k) for k in ("hidden_dim", "num_attention_heads", "dim_feedforward"))
    parts: dict[str, Module | Stack | None] = {
        "cross_attn.multihead_attn": torch_attention(hidden, heads),
        "cross_attn.norm": layer_norm(hidden),
        "self_attn.self_attn": encoder_attention(hidden, heads),
        "self_attn.norm": layer_norm(hidden),
        "ffn": mlp(hidden, inner, names=("linear1", "linear2")),
        "ffn.norm": layer_norm(hidden),
    }
    return Module("DecoderLayer", children=named(parts))


def transformer(config: ModelConfig) -> Module:
    """Projections of the three scales stand in a plain list, which the class does not register."""
    hidden, masks = config.integer("hidden_dim"), config.integer("mask_dim")
    decoder: dict[str, Module | Stack | None] = {
        "query_transformer.decoder.layers": stack(query_layer(config), times=config.integer("query_dec_layers")),
        "query_transformer.decoder.norm": layer_norm(hidden),
        "decoder_norm": layer_norm(hidden),
        "layers": stack(decoder_layer(config), times=config.integer("decoder_layers") - 1),
        "query_input_projection": convolution(config.integer("conv_dim"), hidden, (1, 1)),
        "class_embed": linear(hidden, label_count(config) + 1, part="head"),
        "mask_embed": prediction(hidden, hidden, masks, 3).with_(part="head"),
    }
    parts: dict[str, Module | Stack | None] = {
        "queries_embedder": embedding(config.integer("num_queries"), hidden),
        "decoder": Module("Decoder", children=named(decoder)),
        "level_embed": embedding(LEVELS, hidden),
    }
    return Module("TransformerModule", children=named(parts))


def text_mapper(config: ModelConfig) -> Module:
    """Of training alone: texts of the objects, which queries are contrasted with."""
    width, length = config.integer("text_encoder_width"), config.integer("text_encoder_context_length")
    hidden, context = config.integer("hidden_dim"), config.integer("text_encoder_n_ctx")
    layer: dict[str, Module | Stack | None] = {
        "self_attn": torch_attention(width, width // TEXT_HEAD_DIM),
        "layer_norm1": layer_norm(width),
        "mlp": mlp(width, 4 * width),
        "layer_norm2": layer_norm(width),
    }
    layers = stack(Module("TextLayer", children=named(layer)), times=config.integer("text_encoder_num_layers"))
    encoder: dict[str, Module | Stack | None] = {
        "transformer.layers": layers,
        "ln_final": layer_norm(width),
        "token_embedding": embedding(config.integer("text_encoder_vocab_size"), width, lookup=True),
    }
    depth = config.integer("text_encoder_proj_layers")
    parts: dict[str, Module | Stack | None] = {
        "text_encoder": Module("TextEncoder", (Tensor("positional_embedding", (length, width)),), named(encoder)),
        "text_projector": prediction(width, hidden, hidden, depth),
        "prompt_ctx": embedding(context, width) if context else None,
    }
    return Module("TextMapper", children=named(parts))


def build(config: ModelConfig) -> Module:
    head, hidden = head_name(config.architecture), config.integer("hidden_dim")
    image, widths = backbone(config)
    decoder = pixel_decoder(
        config, widths, hidden=config.integer("conv_dim"), masks=config.integer("mask_dim"), strides="strides"
    )
    parts: dict[str, Module | Stack | None] = {
        "pixel_level_module.encoder": image,
        "pixel_level_module.decoder": decoder,
        "transformer_module": transformer(config),
        "task_encoder.task_mlp": prediction(config.integer("task_seq_len"), hidden, hidden, 2),
        "text_mapper": text_mapper(config) if config.flag("is_training") else None,
    }
    model = Module("Model", children=named(parts))
    if head == "Model":
        return model
    if head != "ForUniversalSegmentation":
        raise unknown_head(config.architecture)
    loss = class_weights(label_count(config) + 1)
    if config.is_set("contrastive_temperature"):
        loss = loss.with_(tensors=(*loss.tensors, Tensor("logit_scale", ())))
    return Module(config.architecture, children=named({"model": model, "criterion": loss}))
