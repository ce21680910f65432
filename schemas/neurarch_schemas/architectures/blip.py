"""BLIP: a vision transformer and a BERT decoder with cross attention to its patches."""

from __future__ import annotations

from neurarch_schemas.architectures.bert import pooler
from neurarch_schemas.architectures.composite import either_tied, tower
from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.encoder import bert_embeddings, bert_feed_forward, encoder_attention
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import convolution, layer_norm, linear
from neurarch_schemas.modules.tree import Module, Stack, Tensor, children, named
from neurarch_schemas.modules.vision import fused_vision_attention, height_and_width, patch_count

MODEL_TYPES = ("blip", "blip_vision_model")

_PROJECTIONS = ("self.query", "self.key", "self.value", "output.dense")


def vision_model(config: ModelConfig, qkv_bias: bool = True) -> Module:
    hidden = config.integer("hidden_size")
    block = fused_vision_attention(
        hidden,
        config.integer("num_attention_heads"),
        bias=qkv_bias,
        out_bias=True,
        names=("qkv", "projection"),
        position="learned",
    )
    layer = Module(
        "EncoderLayer",
        children=children(
            self_attn=block,
            layer_norm1=layer_norm(hidden),
            mlp=mlp(hidden, config.integer("intermediate_size")),
            layer_norm2=layer_norm(hidden),
        ),
    )
    embeddings = Module(
        "Embeddings",
        (
            Tensor("class_embedding", (1, 1, hidden)),
            Tensor("position_embedding", (1, patch_count(config) + 1, hidden)),
        ),
        children(patch_embedding=convolution(3, hidden, height_and_width(config, "patch_size"))),
        part="embedding",
    )
    return Module(
        "VisionModel",
        children=children(
            embeddings=embeddings,
            encoder=Module("Encoder", children=children(layers=uniform(layer, config.integer("num_hidden_layers")))),
            post_layernorm=layer_norm(hidden),
        ),
        width_out=hidden,
    )


def text_layer(config: ModelConfig, source: int, patches: int) -> Module:
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    decodes = config.flag("is_decoder")
    norm: dict[str, Module | Stack | None] = {"output.LayerNorm": layer_norm(hidden)}

    def block(role: str) -> Module:
        return encoder_attention(
            hidden,
            heads,
            names=_PROJECTIONS,
            role="cross" if role == "cross" else "decoder" if decodes else "encoder",
            source_hidden=source if role == "cross" else None,
            source_length=patches if role == "cross" else None,
            out_inputs=hidden,
            position="learned",
            extra=norm,
        )

    return Module(
        "TextLayer",
        children=named(
            {
                "attention": block("self"),
                "crossattention": block("cross") if decodes else None,
                **bert_feed_forward(hidden, config.integer("intermediate_size")),
            }
        ),
    )


def text_model(config: ModelConfig, source: int, patches: int, *, with_pooler: bool = False) -> Module:
    hidden, words = config.integer("hidden_size"), config.integer("vocab_size")
    layer = text_layer(config, source, patches)
    return Module(
        "TextModel",
        children=children(
            embeddings=bert_embeddings(words, hidden, positions=config.integer("max_position_embeddings"), types=None),
            encoder=Module("Encoder", children=children(layer=uniform(layer, config.integer("num_hidden_layers")))),
            pooler=pooler(hidden) if with_pooler else None,
        ),
    )


def text_decoder(config: ModelConfig, source: int, patches: int, *, tied: bool) -> Module:
    """With a tied head the bias of the output map is that of the head, too."""
    hidden, words = config.integer("hidden_size"), config.integer("vocab_size")
    bert = text_model(config, source, patches)
    prefix = "text_decoder."
    top = Module(
        "Linear",
        (
            Tensor(
                "weight", (words, hidden), tied_to=f"{prefix}bert.embeddings.word_embeddings.weight" if tied else None
            ),
            Tensor("bias", (words,), tied_to=f"{prefix}cls.predictions.bias" if tied else None),
        ),
        multiply_accumulates=words * hidden,
    )
    transform = Module("Transform", children=children(dense=linear(hidden, hidden), LayerNorm=layer_norm(hidden)))
    predictions = Module(
        "LanguageHead", (Tensor("bias", (words,)),), children(transform=transform, decoder=top), part="head"
    )
    return Module(
        "TextLMHeadModel",
        children=children(bert=bert, cls=Module("MLMHead", children=children(predictions=predictions), part="head")),
    )


def build(config: ModelConfig) -> Module:
    if config.model_type == "blip_vision_model":
        return vision_model(config)
    head, vision, text = (
        head_name(config.architecture),
        config.nested_config("vision_config"),
        config.nested_config("text_config"),
    )
    source, hidden, patches = vision.integer("hidden_size"), text.integer("hidden_size"), patch_count(vision) + 1
    match head:
        case "Model":
            width = config.integer("projection_dim")
            parts = {
                "text_model": text_model(text, source, patches, with_pooler=True),
                "vision_model": tower(config),
                "visual_projection": linear(source, width, bias=False, part="projector"),
                "text_projection": linear(hidden, width, bias=False, part="projector"),
            }
            return Module("Model", (Tensor("logit_scale", ()),), named({**parts}))
        case "ForImageTextRetrieval":
            width = config.integer("image_text_hidden_size")
            parts = {
                "vision_model": tower(config),
                "text_encoder": text_model(text, source, patches),
                "vision_proj": linear(source, width, part="projector"),
                "text_proj": linear(hidden, width, part="projector"),
                "itm_head": linear(hidden, 2, part="head"),
            }
        case "ForQuestionAnswering":
            parts = {
                "vision_model": tower(config),
                "text_encoder": text_model(text, source, patches),
                "text_decoder": text_decoder(text, source, patches, tied=either_tied(config)),
            }
        case "ForConditionalGeneration":
            decoder = text_decoder(text, source, patches, tied=either_tied(config))
            parts = {"vision_model": tower(config), "text_decoder": decoder}
        case _:
            raise unknown_head(config.architecture)
    return Module(config.architecture, children=named({**parts}))
