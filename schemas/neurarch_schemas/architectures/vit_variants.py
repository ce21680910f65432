"""Vision Transformers with further inputs or outputs: YOLOS, ViViT, TimeSformer, ViLT, Pixio, VisualBERT, DPT."""

from __future__ import annotations

from neurarch_schemas.architectures.encoder_heads import masked_lm_head
from neurarch_schemas.architectures.language_heads import head_name, label_count, unknown_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.dense_prediction import neck
from neurarch_schemas.modules.detection import perceptron
from neurarch_schemas.modules.encoder import bert_embeddings, bert_layer
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import batch_norm, convolution, embedding, layer_norm, linear, position_embedding
from neurarch_schemas.modules.tree import Module, Stack, Tensor, named
from neurarch_schemas.modules.vision import (
    fused_vision_attention,
    height_and_width,
    patch_grid,
    sequential,
    vit_attention,
)

MODEL_TYPES = ("yolos", "vivit", "timesformer", "vilt", "pixio", "visual_bert", "dpt")

OLD_NAMES = ("attention.query", "attention.key", "attention.value", "output.dense")


def layer(config: ModelConfig) -> Module:
    hidden, heads, kind = config.integer("hidden_size"), config.integer("num_attention_heads"), config.model_type
    bias = config.flag("qkv_bias")
    norms: dict[str, Module | Stack | None] = {
        "layernorm_before": layer_norm(hidden),
        "layernorm_after": layer_norm(hidden),
    }
    if kind == "pixio":
        inner = int(hidden * config.number("mlp_ratio"))
        return Module(
            "EncoderLayer",
            children=named({"attention": vit_attention(hidden, heads, bias=bias), **norms, "mlp": mlp(hidden, inner)}),
        )
    inner = config.integer("intermediate_size")
    if kind == "vivit":
        attention = vit_attention(hidden, heads, bias=bias, head_dim=config.optional_integer("head_dim"))
        return Module("EncoderLayer", children=named({"attention": attention, **norms, "mlp": mlp(hidden, inner)}))
    feed_forward = {
        "intermediate.dense": linear(hidden, inner, part="feed-forward"),
        "output.dense": linear(inner, hidden, part="feed-forward"),
    }
    if kind == "timesformer":
        return Module("EncoderLayer", children=named({**space_and_time(config), **norms, **feed_forward}))
    attention = vit_attention(hidden, heads, bias=bias, names=OLD_NAMES)
    return Module("EncoderLayer", children=named({"attention": attention, **norms, **feed_forward}))


def space_and_time(config: ModelConfig) -> dict[str, Module | Stack | None]:
    """TimeSformer (arXiv:2102.05095): with divided attention, one over time beside that over space."""
    hidden, heads, bias = config.integer("hidden_size"), config.integer("num_attention_heads"), config.flag("qkv_bias")
    attention = fused_vision_attention(
        hidden, heads, bias=bias, out_bias=True, names=("attention.qkv", "output.dense"), position="learned"
    )
    parts: dict[str, Module | Stack | None] = {"attention": attention}
    if config.text("attention_type") == "divided_space_time":
        parts["temporal_layernorm"] = layer_norm(hidden)
        parts["temporal_attention"] = attention
        parts["temporal_dense"] = linear(hidden, hidden)
    return parts


def video_patches(config: ModelConfig) -> tuple[Module, int]:
    """ViViT (arXiv:2103.15691): boxes of several frames."""
    kernel = config.integers("tubelet_size")
    if len(kernel) != 3:
        raise CannotBuild("tubelet_size needs three sizes", ("tubelet_size",))
    height, width = height_and_width(config, "image_size")
    count = (config.integer("num_frames") // kernel[0]) * (height // kernel[1]) * (width // kernel[2])
    return convolution(config.integer("num_channels"), config.integer("hidden_size"), kernel), count


def embeddings(config: ModelConfig) -> Module:
    hidden, kind = config.integer("hidden_size"), config.model_type
    tokens = config.integer("n_cls_tokens") if kind == "pixio" else 1
    children: dict[str, Module | Stack | None] = {}
    if kind == "vivit":
        projection, patches = video_patches(config)
    else:
        rows, columns = patch_grid(config)
        patches = rows * columns
        projection = convolution(config.integer("num_channels"), hidden, height_and_width(config, "patch_size"))
    children["patch_embeddings.projection"] = projection
    tensors = [Tensor("cls_token", (1, tokens, hidden))]
    if kind == "yolos":
        extra = config.integer("num_detection_tokens")
        tensors.append(Tensor("detection_tokens", (1, extra, hidden)))
        patches += extra
    tensors.append(Tensor("position_embeddings", (1, patches + tokens, hidden)))
    if kind == "timesformer" and config.text("attention_type") != "space_only":
        tensors.append(Tensor("time_embeddings", (1, config.integer("num_frames"), hidden)))
    if kind == "vilt":
        children["text_embeddings"] = bert_embeddings(
            config.integer("vocab_size"),
            hidden,
            positions=config.integer("max_position_embeddings"),
            types=config.integer("type_vocab_size"),
        )
        children["token_type_embeddings"] = embedding(config.integer("modality_type_vocab_size"), hidden)
    return Module("Embeddings", tuple(tensors), named(children), part="embedding")


def middle_positions(config: ModelConfig) -> Module | None:
    """YOLOS (arXiv:2106.00666) may add positions again before each further layer."""
    layers = config.integer("num_hidden_layers")
    if not config.flag("use_mid_position_embeddings"):
        return None
    height, width = height_and_width(config, "image_size")
    patch = config.integer("patch_size")
    rows = 1 + height * width // patch**2 + config.integer("num_detection_tokens")
    shape = (layers - 1, 1, rows, config.integer("hidden_size"))
    return Module("MiddlePositions", (Tensor("mid_position_embeddings", shape),), part="position")


def backbone(config: ModelConfig, *, with_pooler: bool) -> Module:
    hidden, kind = config.integer("hidden_size"), config.model_type
    name = "layers" if kind in ("vivit", "pixio") else "encoder.layer"
    width = config.integer("pooler_output_size", hidden) if kind in ("vivit", "dpt") else hidden
    parts: dict[str, Module | Stack | None] = {
        "embeddings": embeddings(config),
        name: uniform(layer(config), config.integer("num_hidden_layers")),
        "encoder.interpolation": middle_positions(config) if kind == "yolos" else None,
        "layernorm": layer_norm(hidden),
    }
    if with_pooler:
        dense = named({"dense": linear(hidden, width)})
        parts["pooler"] = Module("Pooler", children=dense, part="head")
    return Module("Model", children=named(parts))


def visual_bert(config: ModelConfig) -> Module:
    """VisualBERT (arXiv:1908.03557): BERT over words and projected image regions."""
    hidden = config.integer("hidden_size")
    if config.flag("bypass_transformer"):
        raise CannotBuild("a transformer beside the encoder is not known", ("bypass_transformer",))
    types, positions = config.integer("type_vocab_size"), config.integer("max_position_embeddings")
    visual: dict[str, Module | Stack | None] = {
        "visual_token_type_embeddings": embedding(types, hidden),
        "visual_position_embeddings": position_embedding(positions, hidden),
        "visual_projection": linear(config.integer("visual_embedding_dim"), hidden, part="projector"),
    }
    table = bert_embeddings(config.integer("vocab_size"), hidden, positions=positions, types=types, extra=visual)
    built = bert_layer(hidden, config.integer("num_attention_heads"), config.integer("intermediate_size"))
    parts: dict[str, Module | Stack | None] = {
        "embeddings": table,
        "encoder.layer": uniform(built, config.integer("num_hidden_layers")),
        "pooler.dense": linear(hidden, hidden, part="head"),
    }
    return Module("Model", children=named(parts))


def dense_prediction(config: ModelConfig, head: str) -> Module:
    """DPT (arXiv:2103.13413): depth, or labels with a second head for training."""
    if config.is_set("backbone_config"):
        raise CannotBuild("a backbone of its own config is not known", ("backbone_config",))
    width = config.integer("fusion_hidden_size")
    if head == "ForDepthEstimation":
        half = width // 2
        steps = (
            convolution(width, half, (3, 3)),
            None,
            convolution(half, 32, (3, 3)),
            None,
            convolution(32, 1, (1, 1)),
        )
        projection = convolution(256, 256, (3, 3)) if config.flag("add_projection") else None
        depth = Module("DepthHead", children=named({"projection": projection, "head": sequential(*steps)}), part="head")
        heads: dict[str, Module | Stack | None] = {"head": depth}
    else:
        start = (convolution(width, width, (3, 3), bias=False), batch_norm(width), None, None)
        labels = sequential(*start, convolution(width, label_count(config), (1, 1))).with_(part="head")
        heads = {"head.head": labels, "auxiliary_head.head": labels if config.flag("use_auxiliary_head") else None}
    parts: dict[str, Module | Stack | None] = {
        "dpt": backbone(config, with_pooler=False),
        "neck": neck(config, config.integer("hidden_size"), reads_class_token=config.text("readout_type") == "project"),
        **heads,
    }
    return Module(config.architecture, children=named(parts))


def visual_bert_pretraining(config: ModelConfig) -> Module:
    hidden, name = config.integer("hidden_size"), "cls.predictions"
    table = "visual_bert.embeddings.word_embeddings.weight" if config.flag("tie_word_embeddings") else None
    names = ("transform.dense", "transform.LayerNorm")
    top = masked_lm_head(hidden, config.integer("vocab_size"), tied_to=table, name=name, transform=names)
    parts = {"visual_bert": visual_bert(config), name: top, "cls.seq_relationship": linear(hidden, 2, part="head")}
    return Module(config.architecture, children=named(parts))


def build(config: ModelConfig) -> Module:
    head, kind, hidden = head_name(config.architecture), config.model_type, config.integer("hidden_size")
    if kind == "dpt" and config.flag("is_hybrid"):
        raise CannotBuild("a convolutional stem before the transformer is not known", ("is_hybrid",))
    if head == "Model" and kind == "visual_bert":
        return visual_bert(config)
    if head == "Model":
        return backbone(config, with_pooler=kind in ("yolos", "vivit", "vilt", "dpt"))
    if head == "ForVideoClassification" and kind in ("vivit", "timesformer"):
        parts: dict[str, Module | Stack | None] = {
            kind: backbone(config, with_pooler=False),
            "classifier": linear(hidden, label_count(config), part="head"),
        }
        return Module(config.architecture, children=named(parts))
    if head == "Backbone" and kind == "pixio":
        parts = {"pixio": backbone(config, with_pooler=False), "layernorm": layer_norm(hidden)}
        return Module("Backbone", children=named(parts))
    if head in ("ForDepthEstimation", "ForSemanticSegmentation") and kind == "dpt":
        return dense_prediction(config, head)
    if head == "ForObjectDetection" and kind == "yolos":
        parts = {
            "vit": backbone(config, with_pooler=False),
            "class_labels_classifier": perceptron(hidden, hidden, hidden, label_count(config) + 1).with_(part="head"),
            "bbox_predictor": perceptron(hidden, hidden, hidden, 4).with_(part="head"),
        }
        return Module(config.architecture, children=named(parts))
    if head == "ForQuestionAnswering" and kind == "vilt":
        wide = sequential(
            linear(hidden, 2 * hidden), layer_norm(2 * hidden), None, linear(2 * hidden, label_count(config))
        )
        parts = {"vilt": backbone(config, with_pooler=True), "classifier": wide.with_(part="head")}
        return Module(config.architecture, children=named(parts))
    if head == "ForPreTraining" and kind == "visual_bert":
        return visual_bert_pretraining(config)
    raise unknown_head(config.architecture)
