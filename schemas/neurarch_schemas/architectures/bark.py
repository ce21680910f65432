"""Bark: text to speech by three transformers one after the other, then a codec that turns codes into sound."""

from __future__ import annotations

from typing import Literal

from neurarch_schemas.architectures import build_nested
from neurarch_schemas.architectures.language_heads import unknown_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import lm_head, uniform
from neurarch_schemas.modules.attention import attention_block
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import layer_norm, linear, position_embedding, token_embedding
from neurarch_schemas.modules.tree import AttentionShape, Module, Run, Stack, Tensor, children

MODEL_TYPES = ("bark",)
MOST_CODEBOOKS = 1024


def layer(config: ModelConfig, *, causal: bool) -> Module:
    hidden, heads, bias = config.integer("hidden_size"), config.integer("num_heads"), config.flag("bias")
    if not heads or hidden % heads:
        raise CannotBuild("hidden_size must be a multiple of num_heads", ("hidden_size", "num_heads"))
    dim = hidden // heads
    kind: Literal["full", "encoder"] = "full" if causal else "encoder"
    mixer = attention_block(
        {"att_proj": linear(hidden, 3 * hidden, bias), "out_proj": linear(hidden, hidden, bias)},
        AttentionShape(heads, heads, dim, dim, kind, causal=causal, position="learned"),
        hidden=hidden,
        caches=None if causal else (),
    )
    if causal:
        size = config.integer("block_size")
        # The causal mask is stored.
        mixer = mixer.with_(tensors=(Tensor("bias", (1, 1, size, size), "buffer"),))
    norm = layer_norm(hidden, bias=bias or not causal)
    return Module(
        "Block",
        children=children(
            layernorm_1=norm,
            layernorm_2=norm,
            attn=mixer,
            mlp=mlp(hidden, 4 * hidden, bias, names=("in_proj", "out_proj")),
        ),
        width_in=hidden,
        width_out=hidden,
    )


def causal_model(config: ModelConfig) -> Module:
    """Text to semantic codes, or those to the first codebooks of the codec."""
    hidden = config.integer("hidden_size")
    return Module(
        "CausalModel",
        children=children(
            input_embeds_layer=token_embedding(config.integer("input_vocab_size"), hidden),
            position_embeds_layer=position_embedding(config.integer("block_size"), hidden),
            layers=uniform(layer(config, causal=True), config.integer("num_layers")),
            layernorm_final=layer_norm(hidden, bias=config.flag("bias")),
            lm_head=lm_head(hidden, config.integer("output_vocab_size")),
        ),
    )


def fine_model(config: ModelConfig, path: str) -> Module:
    """The remaining codebooks, one head each, attending both ways. ``path`` is this module's, with a final dot.

    The head of the first codebook predicted shares the table of the second codebook read, and so on.
    """
    hidden, total, given = (
        config.integer("hidden_size"),
        config.integer("n_codes_total"),
        config.integer("n_codes_given"),
    )
    if total > MOST_CODEBOOKS:
        raise CannotBuild(f"more than {MOST_CODEBOOKS} codebooks", ("n_codes_total",))
    vocabulary, tied = config.integer("output_vocab_size"), config.flag("tie_word_embeddings")
    tables = [f"{path}input_embeds_layers.{i + 1}.weight" if tied else None for i in range(max(total - given, 0))]
    heads = tuple(Run((lm_head(hidden, vocabulary, tied_to=table),), 1) for table in tables)
    return Module(
        "FineModel",
        children=children(
            input_embeds_layers=uniform(token_embedding(config.integer("input_vocab_size"), hidden), total),
            position_embeds_layer=position_embedding(config.integer("block_size"), hidden),
            layers=uniform(layer(config, causal=False), config.integer("num_layers")),
            layernorm_final=layer_norm(hidden),
            lm_heads=Stack(heads),
        ),
    )


def build(config: ModelConfig) -> Module:
    if not config.architecture.endswith("Model"):
        raise unknown_head(config.architecture)
    return Module(
        config.architecture,
        children=children(
            semantic=causal_model(config.nested_config("semantic_config")),
            coarse_acoustics=causal_model(config.nested_config("coarse_acoustics_config")),
            fine_acoustics=fine_model(config.nested_config("fine_acoustics_config"), "fine_acoustics."),
            codec_model=build_nested(config, "codec_config"),
        ),
    )
