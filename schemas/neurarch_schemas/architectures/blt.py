"""Byte Latent Transformer: bytes in and out of small local models, a large model over patches of bytes in between.

A further small language model finds the patch borders (``patch_in_forward``). Only the local models cache: the global
one runs over all patches again in every step.
"""

from __future__ import annotations

from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import lm_head, uniform
from neurarch_schemas.modules.attention import attention
from neurarch_schemas.modules.feed_forward import gated_mlp
from neurarch_schemas.modules.layers import embedding, linear, rms_norm, token_embedding
from neurarch_schemas.modules.tree import Module, Stack, children

MODEL_TYPES = ("blt",)


def transformer_layer(config: ModelConfig, *, cached: bool) -> Module:
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    inner = config.integer("intermediate_size", 0) or int(8 * hidden / 3)
    kv_heads = config.integer("num_key_value_heads", 0) or heads
    return Module(
        "DecoderLayer",
        children=children(
            self_attn=attention(hidden, heads, kv_heads, cached=cached),
            mlp=gated_mlp(hidden, inner),
            input_layernorm=rms_norm(hidden),
            post_attention_layernorm=rms_norm(hidden),
        ),
    )


def stack_of(config: ModelConfig, *, cached: bool) -> Stack:
    return uniform(transformer_layer(config, cached=cached), config.integer("num_hidden_layers"))


def cross_attentions(config: ModelConfig) -> Stack:
    """Between bytes and patches, behind every layer or only once."""
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    block = attention(
        hidden,
        heads,
        config.integer("num_key_value_heads", 0) or heads,
        kind="cross",
        position="none",
        qk_norm=True,
        cached=False,
        extra={"q_norm": rms_norm(hidden), "k_norm": rms_norm(hidden)},
    )
    return uniform(block, config.integer("num_hidden_layers") if config.flag("cross_attn_all_layers") else 1)


def local_encoder(config: ModelConfig, table: Module) -> Module:
    hidden = config.integer("hidden_size")
    return Module(
        "LocalEncoder",
        children=children(
            layers=stack_of(config, cached=True),
            patch_embedding_projection=linear(hidden, hidden * config.integer("cross_attn_k"), bias=False),
            embed_tokens=table,
            cross_attn_layers=cross_attentions(config),
        ),
    )


def local_decoder(config: ModelConfig) -> Module:
    hidden, outside = config.integer("hidden_size"), config.integer("hidden_size_global")
    return Module(
        "LocalDecoder",
        children=children(
            layers=stack_of(config, cached=True),
            patch_embedding_projection=linear(outside, hidden * config.integer("cross_attn_k"), bias=False),
            norm=rms_norm(hidden),
            cross_attn_layers=cross_attentions(config),
        ),
    )


def global_transformer(config: ModelConfig, patch_width: int) -> Module:
    hidden = config.integer("hidden_size")
    projection = None if patch_width == hidden else linear(patch_width, hidden, bias=False)
    return Module(
        "GlobalTransformer",
        children=children(layers=stack_of(config, cached=False), token_embedding_projection=projection),
    )


def patcher(config: ModelConfig) -> Module:
    hidden, vocabulary = config.integer("hidden_size"), config.integer("vocab_size")
    return Module(
        "Patcher",
        children=children(
            layers=stack_of(config, cached=False),
            embed_tokens=token_embedding(vocabulary, hidden),
            norm=rms_norm(hidden),
            lm_head=lm_head(hidden, vocabulary),
        ),
        part="other",
    )


def build(config: ModelConfig) -> Module:
    encoder, decoder = config.nested_config("encoder_config"), config.nested_config("decoder_config")
    width = encoder.integer("hidden_size")
    groups = len(config.integers("encoder_hash_byte_group_size")) or 6
    hashes = (
        config.integer("encoder_hash_byte_group_vocab")
        * config.integer("encoder_hash_byte_group_nb_functions")
        * groups
    )
    head = head_name(config.architecture)
    rows, columns = encoder.integer("vocab_size"), width
    tied = head == "ForCausalLM" and config.flag("tie_word_embeddings")
    if tied:
        # Here it is the head's matrix that the embedding shares, so the head's sizes count.
        rows, columns = config.integer("vocab_size"), decoder.integer("hidden_size")
    backbone = Module(
        "Model",
        children=children(
            local_encoder=local_encoder(encoder, token_embedding(rows, columns)),
            global_transformer=global_transformer(
                config.nested_config("global_config"), width * config.integer("cross_attn_k")
            ),
            local_decoder=local_decoder(decoder),
            encoder_hash_tok_embedding=embedding(hashes, width, lookup=True),
            patcher=patcher(config.nested_config("patcher_config")) if config.flag("patch_in_forward") else None,
        ),
    )
    if head == "Model":
        return backbone
    if head != "ForCausalLM":
        raise unknown_head(config.architecture)
    tied_to = "model.local_encoder.embed_tokens.weight" if tied else None
    top = lm_head(decoder.integer("hidden_size"), config.integer("vocab_size"), tied_to=tied_to)
    return Module(config.architecture, children=children(model=backbone, lm_head=top))
