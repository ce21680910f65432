"""T5Gemma and T5Gemma 2: encoder-decoders out of Gemma 2 and Gemma 3 layers.

T5Gemma 2 reads images too, shares one token table and has no separate cross attention: the decoder's attention also
reads the encoder's output, with the same projections.
"""

from __future__ import annotations

from neurarch_schemas.architectures.composite import tower
from neurarch_schemas.architectures.decoder import SANDWICH_NORM, feed_forward, head_dim
from neurarch_schemas.architectures.language_heads import head_name, label_count, unknown_head
from neurarch_schemas.architectures.paligemma import multimodal_projector
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers, lm_head, tied_copy
from neurarch_schemas.modules.attention import attention, attention_block
from neurarch_schemas.modules.layers import linear, rms_norm, token_embedding
from neurarch_schemas.modules.tree import AttentionShape, Cache, Module, Stack, Tensor, children, named

MODEL_TYPES = ("t5gemma", "t5gemma2")

_SELF_NORMS = ("pre_self_attn_layernorm", "post_self_attn_layernorm")
_FEED_FORWARD_NORMS = SANDWICH_NORM[2:]
_CROSS_NORMS = ("pre_cross_attn_layernorm", "post_cross_attn_layernorm")


def cross_cache(config: ModelConfig) -> Cache:
    """Keys and values of the encoder's output, computed once. Every layer reads all of it."""
    return Cache("cross", per_token=2 * config.integer("num_key_value_heads") * head_dim(config))


def self_attention(config: ModelConfig, window: int | None, *, causal: bool, second: bool) -> Module:
    dim = head_dim(config)
    block = attention(
        config.integer("hidden_size"),
        config.integer("num_attention_heads"),
        config.integer("num_key_value_heads"),
        dim,
        bias=config.flag("attention_bias"),
        window=window if causal else None,
        kind="full" if causal else "encoder",
        extra={"q_norm": rms_norm(dim), "k_norm": rms_norm(dim)} if second else None,
        qk_norm=second,
        cached=causal,
    )
    return block.with_(caches=(*block.caches, cross_cache(config))) if causal and second else block


def cross_attention(config: ModelConfig, source: int) -> Module:
    """``source`` is the width of the encoder's output."""
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    kv_heads, dim, bias = config.integer("num_key_value_heads"), head_dim(config), config.flag("attention_bias")
    return attention_block(
        {
            "q_proj": linear(hidden, heads * dim, bias),
            "k_proj": linear(source, kv_heads * dim, bias),
            "v_proj": linear(source, kv_heads * dim, bias),
            "o_proj": linear(heads * dim, hidden, bias),
        },
        AttentionShape(heads, kv_heads, dim, dim, "cross", causal=False, position="none"),
        hidden=hidden,
        caches=(cross_cache(config),),
    )


def transformer(config: ModelConfig, *, causal: bool, second: bool, source: int | None = None) -> Module:
    """``source``: the decoder's layers attend to the encoder's output, of this width, in a block of its own."""
    hidden = config.integer("hidden_size")

    def layer(window: int | None) -> Module:
        crossed = source is not None
        names = (*_SELF_NORMS, *(_CROSS_NORMS if crossed else ()), *_FEED_FORWARD_NORMS)
        parts: dict[str, Module | Stack | None] = {
            "self_attn": self_attention(config, window, causal=causal, second=second),
            "cross_attn": None if source is None else cross_attention(config, source),
            "mlp": feed_forward(config),
            **dict.fromkeys(names, rms_norm(hidden)),
        }
        return Module(
            "DecoderLayer" if causal else "EncoderLayer", children=named(parts), width_in=hidden, width_out=hidden
        )

    table = token_embedding(config.integer("vocab_size"), hidden)
    if second:
        # The row of the token that ends an image.
        table = table.with_(tensors=(*table.tensors, Tensor("eoi_embedding", (hidden,))))
    return Module(
        "Decoder" if causal else "Encoder",
        children=children(embed_tokens=table, norm=rms_norm(hidden), layers=layers(config.windows(), layer)),
        width_out=hidden,
    )


def image_encoder(config: ModelConfig) -> Module:
    return Module(
        "Encoder",
        children=children(
            text_model=transformer(config.nested_config("text_config"), causal=False, second=True),
            vision_tower=tower(config),
            multi_modal_projector=multimodal_projector(config),
        ),
    )


def model(config: ModelConfig, prefix: str) -> Module:
    """``prefix``: the path of this module with a final dot, for the names of shared tensors."""
    reading, writing = config.nested_config("encoder"), config.nested_config("decoder")
    if config.model_type == "t5gemma":
        encoder = transformer(reading, causal=False, second=False)
        decoder = transformer(writing, causal=True, second=False, source=reading.integer("hidden_size"))
        return Module("Model", children=children(encoder=encoder, decoder=decoder))
    encoder, decoder = image_encoder(reading), transformer(writing, causal=True, second=True)
    if config.flag("tie_word_embeddings"):
        shared = f"{prefix}encoder.text_model.embed_tokens"
        decoder = decoder.with_(
            children=tuple(
                (name, tied_copy(child, shared) if isinstance(child, Module) and name == "embed_tokens" else child)
                for name, child in decoder.children
            )
        )
    return Module("Model", children=children(encoder=encoder, decoder=decoder))


def build(config: ModelConfig) -> Module:
    head = head_name(config.architecture)
    reading, writing = config.nested_config("encoder"), config.nested_config("decoder")
    if config.architecture == "T5GemmaEncoderModel":
        encoder = transformer(reading, causal=False, second=False)
        return Module(config.architecture, children=children(encoder=encoder))
    if head == "Model":
        return model(config, "")
    inside, width = model(config, "model."), writing.integer("hidden_size")
    if head == "ForConditionalGeneration":
        table = "decoder" if config.model_type == "t5gemma" else "encoder.text_model"
        tied = f"model.{table}.embed_tokens.weight" if config.flag("tie_word_embeddings") else None
        out = lm_head(width, writing.integer("vocab_size"), tied_to=tied)
        top = Module("LMHead", children=children(out_proj=out), part="head")
        return Module(config.architecture, children=children(model=inside, lm_head=top))
    if head not in ("ForSequenceClassification", "ForTokenClassification"):
        raise unknown_head(config.architecture)
    if not config.flag("is_encoder_decoder"):
        inside = Module("EncoderModel", children=children(encoder=transformer(reading, causal=False, second=False)))
        width = reading.integer("hidden_size")
    top = Module("ClassificationHead", children=children(out_proj=linear(width, label_count(config))), part="head")
    return Module(config.architecture, children=children(model=inside, score=top))
