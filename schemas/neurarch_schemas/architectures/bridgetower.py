"""BridgeTower (arXiv:2206.08657): RoBERTa and CLIP, joined by cross-modal layers with a bridge into each."""

from __future__ import annotations

from neurarch_schemas.architectures.align import text_model
from neurarch_schemas.architectures.bert import pooler
from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import in_part, uniform
from neurarch_schemas.modules.encoder import bert_layer
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import convolution, embedding, layer_norm, linear, position_embedding
from neurarch_schemas.modules.tree import Module, Stack, Tensor, named
from neurarch_schemas.modules.vision import height_and_width, patch_count, torch_attention

MODEL_TYPES = ("bridgetower",)

WIDTH_OF_VISION_HEAD = 64


def vision_model(config: ModelConfig) -> Module:
    """CLIP in OpenAI's names; separate norms for the bridges unless ``share_layernorm``."""
    hidden, layers = config.integer("hidden_size"), config.integer("num_hidden_layers")
    block: dict[str, Module | Stack | None] = {
        "attn": torch_attention(hidden, hidden // WIDTH_OF_VISION_HEAD),
        "ln_1": layer_norm(hidden),
        "mlp": mlp(hidden, 4 * hidden, names=("c_fc", "c_proj")),
        "ln_2": layer_norm(hidden),
    }
    table: dict[str, Module | Stack | None] = {
        "patch_embedding": convolution(
            config.integer("num_channels"), hidden, height_and_width(config, "patch_size"), bias=False
        ),
        "position_embedding": position_embedding(patch_count(config) + 1, hidden),
    }
    embeddings = Module("Embeddings", (Tensor("class_embedding", (hidden,)),), named(table), part="embedding")
    count = layers - 1 if config.flag("remove_last_layer") else layers
    parts: dict[str, Module | Stack | None] = {
        "embeddings": embeddings,
        "ln_pre": layer_norm(hidden),
        "transformer.resblocks": uniform(Module("EncoderLayer", children=named(block)), count),
        "ln_post": layer_norm(hidden),
        "ln_separate": None if config.flag("share_layernorm") else uniform(layer_norm(hidden), layers),
    }
    return Module("VisionModel", children=(("visual", Module("Vision", children=named(parts))),))


def bridge(config: ModelConfig) -> Module:
    """Adds a unimodal layer's output to the cross-modal stream and normalizes."""
    kind = config.text("link_tower_type")
    scalars = {"add": (), "scaled_add": ("scaled_factor",), "interpolate": ("beta",)}.get(kind)
    if scalars is None:
        raise CannotBuild(f"link_tower_type {kind!r} is not known", ("link_tower_type",))
    tensors = tuple(Tensor(name, ()) for name in scalars)
    return Module("Bridge", tensors, (("LayerNorm", layer_norm(config.integer("hidden_size"))),))


def cross_modal_layer(text: ModelConfig) -> Module:
    """Sizes are those of the text encoder. Nothing is cached: all positions are known at once."""
    layer = bert_layer(
        text.integer("hidden_size"), text.integer("num_attention_heads"), text.integer("intermediate_size"), cross=True
    )
    children = tuple(
        (name, child.with_(caches=()) if isinstance(child, Module) else child) for name, child in layer.children
    )
    return layer.with_(children=children)


def backbone(config: ModelConfig) -> Module:
    text, vision = config.nested_config("text_config"), config.nested_config("vision_config")
    hidden, layers = config.integer("hidden_size"), config.integer("num_hidden_layers")
    if text.flag("add_cross_attention"):
        raise CannotBuild("cross attention in the text encoder is not known", ("add_cross_attention",))

    def transform(source: ModelConfig) -> Module | Stack:
        projection = linear(source.integer("hidden_size"), hidden, part="projector")
        return projection if config.flag("share_cross_modal_transformer_layers") else uniform(projection, layers)

    def bridges() -> Module | Stack:
        return bridge(config) if config.flag("share_link_tower_layers") else uniform(bridge(config), layers - 1)

    parts: dict[str, Module | Stack | None] = {
        "cross_modal_text_transform": transform(text),
        "cross_modal_image_transform": transform(vision),
        "token_type_embeddings": embedding(2, hidden),
        "vision_model": in_part(vision_model(vision), "vision"),
        "text_model": text_model(text),
        "cross_modal_image_layers": uniform(cross_modal_layer(text), layers),
        "cross_modal_text_layers": uniform(cross_modal_layer(text), layers),
        "cross_modal_image_pooler": pooler(hidden),
        "cross_modal_text_pooler": pooler(hidden),
        "cross_modal_text_layernorm": layer_norm(hidden),
        "cross_modal_image_layernorm": layer_norm(hidden),
        "cross_modal_text_link_tower": bridges(),
        "cross_modal_image_link_tower": bridges(),
    }
    return Module("Model", children=named(parts))


def build(config: ModelConfig) -> Module:
    head, hidden, model = head_name(config.architecture), config.integer("hidden_size"), backbone(config)
    if head == "Model":
        return model
    parts: dict[str, Module | Stack | None] = {"bridgetower": model}
    tensors: tuple[Tensor, ...] = ()
    if head == "ForMaskedLM":
        words = "bridgetower.text_model.embeddings.word_embeddings.weight"
        parts["mlm_score"] = vocabulary_head(config, words if config.flag("tie_word_embeddings") else None)
    elif head == "ForImageAndTextRetrieval":
        parts["itm_score.fc"] = linear(2 * hidden, 2, part="head")
    elif head == "ForContrastiveLearning":
        width = config.integer("contrastive_hidden_size", 512)
        parts["itc_text_head.fc"] = linear(hidden, width, part="head")
        parts["itc_image_head.fc"] = linear(hidden, width, part="head")
        parts["itc_cross_modal_head.fc"] = linear(2 * hidden, width, part="head")
        tensors = (Tensor("logit_scale", ()),)
    else:
        raise unknown_head(config.architecture)
    return Module(config.architecture, tensors, named(parts))


def vocabulary_head(config: ModelConfig, tied_to: str | None) -> Module:
    """BERT's, with a bias of its own and none in the projection."""
    hidden, vocabulary = config.integer("hidden_size"), config.nested_config("text_config").integer("vocab_size")
    parts: dict[str, Module | Stack | None] = {
        "transform.dense": linear(hidden, hidden),
        "transform.LayerNorm": layer_norm(hidden),
        "decoder": linear(hidden, vocabulary, bias=False, tied_to=tied_to),
    }
    return Module("MaskedLMHead", (Tensor("bias", (vocabulary,)),), named(parts), part="head")
