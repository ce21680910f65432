"""BLIP-2 and InstructBLIP: a vision transformer, a Q-Former whose queries attend to its patches, a language model.

The language model is a whole causal or sequence-to-sequence class with an output head of its own.
"""

from __future__ import annotations

from neurarch_schemas.architectures import build_nested
from neurarch_schemas.architectures.blip import vision_model
from neurarch_schemas.architectures.composite import text_model, tower
from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.config.periods import every
from neurarch_schemas.modules.assembly import in_part, layers
from neurarch_schemas.modules.encoder import encoder_attention
from neurarch_schemas.modules.layers import embedding, layer_norm, linear, position_embedding
from neurarch_schemas.modules.tree import Module, Stack, Tensor, children, named

MODEL_TYPES = (
    "blip-2",
    "blip_2_vision_model",
    "blip_2_qformer",
    "instructblip",
    "instructblip_vision_model",
    "instructblip_qformer",
    "instructblipvideo",
    "instructblipvideo_vision_model",
    "instructblipvideo_qformer",
)

_SEQUENCE_TO_SEQUENCE = ("t5", "mt5", "umt5", "longt5", "switch_transformers")


def qformer_layer(config: ModelConfig, crosses: bool, source: int) -> Module:
    hidden, heads, inner = (
        config.integer("hidden_size"),
        config.integer("num_attention_heads"),
        config.integer("intermediate_size"),
    )
    names = ("attention.query", "attention.key", "attention.value", "output.dense")

    def block(source_hidden: int, *, cross: bool) -> Module:
        return encoder_attention(
            hidden,
            heads,
            names=names,
            role="cross" if cross else "encoder",
            source_hidden=source_hidden,
            out_inputs=hidden,
            cached=False,
            extra={"output.LayerNorm": layer_norm(hidden)},
        )

    def feed_forward(suffix: str) -> dict[str, Module | Stack | None]:
        return {
            f"intermediate{suffix}.dense": linear(hidden, inner),
            f"output{suffix}.dense": linear(inner, hidden),
            f"output{suffix}.LayerNorm": layer_norm(hidden),
        }

    reads_text = config.flag("use_qformer_text_input") if config.model_type == "blip_2_qformer" else True
    return Module(
        "QFormerLayer",
        children=named(
            {
                "attention": block(hidden, cross=False),
                "crossattention": block(source, cross=True) if crosses else None,
                **(feed_forward("") if reads_text else {}),
                **feed_forward("_query"),
            }
        ),
        part="feed-forward",
    )


def qformer(config: ModelConfig, source: int) -> Module:
    """``source`` is the width of the patches it reads. InstructBLIP's also reads the instruction."""
    hidden = config.integer("hidden_size")
    pattern = every(config.integer("cross_attention_frequency"), 0, config.integer("num_hidden_layers"), True, False)
    encoder = Module(
        "Encoder", children=children(layer=layers(pattern, lambda crosses: qformer_layer(config, crosses, source)))
    )
    if config.model_type == "blip_2_qformer":
        return Module("QFormer", children=children(layernorm=layer_norm(hidden), encoder=encoder))
    embeddings = Module(
        "Embeddings",
        children=children(
            word_embeddings=embedding(config.integer("vocab_size"), hidden),
            position_embeddings=position_embedding(config.integer("max_position_embeddings"), hidden),
            layernorm=layer_norm(hidden),
        ),
        part="embedding",
    )
    return Module("QFormer", children=children(embeddings=embeddings, encoder=encoder))


def language_model(config: ModelConfig) -> Module:
    text_type = config.nested_config("text_config").model_type
    encoder_decoder = text_type in _SEQUENCE_TO_SEQUENCE
    return build_nested(config, "text_config", "ForConditionalGeneration" if encoder_decoder else "ForCausalLM")


def retrieval_model(config: ModelConfig, queries: ModelConfig, features: ModelConfig) -> Module:
    """Images and texts in one space: the Q-Former reads either, no language model."""
    hidden, width = queries.integer("hidden_size"), config.integer("image_text_hidden_size")
    tables = children(
        word_embeddings=embedding(queries.integer("vocab_size"), hidden),
        position_embeddings=position_embedding(queries.integer("max_position_embeddings"), hidden),
    )
    return Module(
        config.architecture,
        (Tensor("query_tokens", (1, config.integer("num_query_tokens"), hidden)),),
        children(
            vision_model=tower(config),
            embeddings=Module("Embeddings", children=tables, part="embedding"),
            qformer=qformer(queries, features.integer("hidden_size")),
            vision_projection=linear(hidden, width, part="projector"),
            text_projection=linear(hidden, width, part="projector"),
            itm_head=linear(hidden, 2, part="head"),
        ),
    )


def build(config: ModelConfig) -> Module:
    if config.model_type.endswith("_vision_model"):
        return vision_model(config, config.flag("qkv_bias"))
    if config.model_type.endswith("_qformer"):
        return qformer(config, config.integer("encoder_hidden_size"))
    head, first = head_name(config.architecture), config.model_type == "blip-2"
    if head not in ("ForConditionalGeneration", "Model", "ForImageTextRetrieval" if first else ""):
        raise unknown_head(config.architecture)
    queries, features = config.nested_config("qformer_config"), config.nested_config("vision_config")
    hidden = queries.integer("hidden_size")
    if head == "ForImageTextRetrieval":
        return retrieval_model(config, queries, features)
    # InstructBLIP's bare model has the language model without its head; BLIP-2's has it whole.
    bare = head == "Model" and not first
    projection = linear(hidden, config.nested_config("text_config").integer("hidden_size"), part="projector")
    return Module(
        config.architecture,
        (Tensor("query_tokens", (1, config.integer("num_query_tokens"), hidden)),),
        children(
            vision_model=tower(config),
            qformer=in_part(qformer(queries, features.integer("hidden_size")), "projector"),
            language_projection=projection,
            language_model=text_model(config) if bare else language_model(config),
        ),
    )
