"""LayoutLMv3 (arXiv:2204.08387): text, boxes and image patches in one encoder."""

from __future__ import annotations

from neurarch_schemas.architectures.language_heads import head_name, label_count, unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.encoder import bert_embeddings, bert_layer
from neurarch_schemas.modules.layers import convolution, layer_norm, linear, position_embedding
from neurarch_schemas.modules.tree import Module, Stack, Tensor, named, stack
from neurarch_schemas.modules.vision import height_and_width

MODEL_TYPES = ("layoutlmv3",)


def text_embeddings(config: ModelConfig) -> Module:
    rows, coordinate, shape = (
        config.integer("max_2d_position_embeddings"),
        config.integer("coordinate_size"),
        config.integer("shape_size"),
    )
    axes: dict[str, Module | Stack | None] = {
        f"{axis}_position_embeddings": position_embedding(rows, coordinate if axis in "xy" else shape)
        for axis in "xyhw"
    }
    return bert_embeddings(
        config.integer("vocab_size"),
        config.integer("hidden_size"),
        positions=config.integer("max_position_embeddings"),
        types=config.integer("type_vocab_size"),
        extra=axes,
    )


def backbone(config: ModelConfig) -> Module:
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    children: dict[str, Module | Stack | None] = {}
    tensors: tuple[Tensor, ...] = ()
    if config.flag("text_embed"):
        children["embeddings"] = text_embeddings(config)
    if config.flag("visual_embed"):
        kernel = height_and_width(config, "patch_size")
        children["patch_embed.proj"] = convolution(config.integer("num_channels"), hidden, kernel).with_(part="vision")
        side = config.integer("input_size") // config.integer("patch_size")
        tensors = (Tensor("cls_token", (1, 1, hidden)), Tensor("pos_embed", (1, side * side + 1, hidden)))
        children["LayerNorm"] = layer_norm(hidden)
        children["norm"] = layer_norm(hidden)
    built = bert_layer(hidden, heads, config.integer("intermediate_size"))
    children["encoder.layer"] = stack(built, times=config.integer("num_hidden_layers"))
    if config.flag("has_relative_attention_bias"):
        bias = linear(config.integer("rel_pos_bins"), heads, bias=False, part="position")
        children["encoder.rel_pos_bias"] = bias
    if config.flag("has_spatial_attention_bias"):
        bias = linear(config.integer("rel_2d_pos_bins"), heads, bias=False, part="position")
        children["encoder.rel_pos_x_bias"] = bias
        children["encoder.rel_pos_y_bias"] = bias
    return Module("Model", tensors, named(children))


def build(config: ModelConfig) -> Module:
    """Token classification with few labels (under ten) has a plain linear head, as question answering never has."""
    head, hidden, labels = head_name(config.architecture), config.integer("hidden_size"), label_count(config)
    model = backbone(config)
    if head == "Model":
        return model
    two_layers = {"dense": linear(hidden, hidden), "out_proj": linear(hidden, labels)}
    classifier = Module("ClassificationHead", children=named(two_layers), part="head")
    parts: dict[str, Module | Stack | None] = {"layoutlmv3": model}
    if head == "ForQuestionAnswering":
        parts["qa_outputs"] = classifier
    elif head == "ForSequenceClassification" or (head == "ForTokenClassification" and labels >= 10):
        parts["classifier"] = classifier
    elif head == "ForTokenClassification":
        parts["classifier"] = linear(hidden, labels, part="head")
    else:
        raise unknown_head(config.architecture)
    return Module(config.architecture, children=named(parts))
