"""Grounding DINO (arXiv:2303.05499, arXiv:2401.02361): detection guided by text that is fused with the image."""

from __future__ import annotations

from neurarch_schemas.architectures import build_nested
from neurarch_schemas.architectures.backbones import backbone
from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import tied_copy, tied_stack
from neurarch_schemas.modules.detection import deformable_attention, prediction_head
from neurarch_schemas.modules.encoder import encoder_attention
from neurarch_schemas.modules.layers import convolution, embedding, group_norm, layer_norm, linear
from neurarch_schemas.modules.tree import AttentionShape, Module, Stack, Tensor, concatenate, named, stack
from neurarch_schemas.modules.vision import sequential

MODEL_TYPES = ("grounding-dino", "mm-grounding-dino")

LEARNED_ROWS = 50


def text_attention(hidden: int, heads: int) -> Module:
    return encoder_attention(hidden, heads, names=("query", "key", "value", "out_proj"), out_inputs=hidden)


def sampling(config: ModelConfig, side: str) -> Module:
    points = config.integer("num_feature_levels") * config.integer(f"{side}_n_points")
    return deformable_attention(config.integer("d_model"), config.integer(f"{side}_attention_heads"), points)


def fusion(config: ModelConfig) -> Module:
    """Attention both ways between image and text, of half the encoder's inner width and heads."""
    hidden, inner = config.integer("d_model"), config.integer("encoder_ffn_dim") // 2
    heads = config.integer("encoder_attention_heads") // 2
    dim = inner // heads
    names = ("vision_proj", "text_proj", "values_vision_proj", "values_text_proj")
    maps: dict[str, Module | Stack | None] = {name: linear(hidden, inner) for name in names}
    maps.update({name: linear(inner, hidden) for name in ("out_vision_proj", "out_text_proj")})
    shape = AttentionShape(heads, heads, dim, dim, "encoder", causal=False)
    parts: dict[str, Module | Stack | None] = {
        "layer_norm_vision": layer_norm(hidden),
        "layer_norm_text": layer_norm(hidden),
        "attn": Module("FusionAttention", children=named(maps), part="attention", attention=shape),
    }
    scales = (Tensor("vision_param", (hidden,)), Tensor("text_param", (hidden,)))
    return Module("FusionLayer", scales, named(parts))


def encoder_layer(config: ModelConfig) -> Module:
    hidden, inner = config.integer("d_model"), config.integer("encoder_ffn_dim")
    half = inner // 2
    text: dict[str, Module | Stack | None] = {
        "self_attn": text_attention(hidden, config.integer("encoder_attention_heads") // 2),
        "fc1": linear(hidden, half, part="feed-forward"),
        "fc2": linear(half, hidden, part="feed-forward"),
        "layer_norm_before": layer_norm(hidden),
        "layer_norm_after": layer_norm(hidden),
    }
    image: dict[str, Module | Stack | None] = {
        "self_attn": sampling(config, "encoder"),
        "self_attn_layer_norm": layer_norm(hidden),
        "fc1": linear(hidden, inner, part="feed-forward"),
        "fc2": linear(inner, hidden, part="feed-forward"),
        "final_layer_norm": layer_norm(hidden),
    }
    parts: dict[str, Module | Stack | None] = {
        "text_enhancer_layer": Module("TextLayer", children=named(text)),
        "fusion_layer": fusion(config),
        "deformable_layer": Module("DeformableLayer", children=named(image)),
    }
    return Module("EncoderLayer", children=named(parts))


def decoder_layer(config: ModelConfig) -> Module:
    hidden, inner, heads = (config.integer(k) for k in ("d_model", "decoder_ffn_dim", "decoder_attention_heads"))
    parts: dict[str, Module | Stack | None] = {
        "self_attn": text_attention(hidden, heads),
        "self_attn_layer_norm": layer_norm(hidden),
        "encoder_attn_text": text_attention(hidden, heads),
        "encoder_attn_text_layer_norm": layer_norm(hidden),
        "encoder_attn": sampling(config, "decoder"),
        "encoder_attn_layer_norm": layer_norm(hidden),
        "fc1": linear(hidden, inner, part="feed-forward"),
        "fc2": linear(inner, hidden, part="feed-forward"),
        "final_layer_norm": layer_norm(hidden),
    }
    return Module("DecoderLayer", children=named(parts))


def decoder(config: ModelConfig, heads: dict[str, Stack]) -> Module:
    hidden = config.integer("d_model")
    positions = prediction_head(config.integer("query_dim") // 2 * hidden, hidden, hidden, 2)
    parts: dict[str, Module | Stack | None] = {
        "layer_norm": layer_norm(hidden),
        "layers": stack(decoder_layer(config), times=config.integer("decoder_layers")),
        "reference_points_head": positions,
        **heads,
    }
    return Module("Decoder", children=named(parts))


def image_levels(config: ModelConfig, widths: tuple[int, ...]) -> Stack:
    """Feature maps brought to the transformer's width; further ones by strided convolutions of the last."""
    hidden, levels = config.integer("d_model"), config.integer("num_feature_levels")
    if levels <= 1:
        return stack(sequential(convolution(widths[-1], hidden, (1, 1)), group_norm(hidden)))
    maps = [sequential(convolution(width, hidden, (1, 1)), group_norm(hidden)) for width in widths]
    further = levels - len(widths)
    strided = [sequential(convolution(width, hidden, (3, 3)), group_norm(hidden)) for width in (widths[-1], hidden)]
    return concatenate(stack(*maps), stack(strided[0], times=min(further, 1)), stack(strided[1], times=further - 1))


def contrastive_bias(config: ModelConfig) -> Module | None:
    """Logits are products of image and text; MM-Grounding-DINO adds a learned bias."""
    if config.model_type == "grounding-dino":
        return None
    return Module("ContrastiveEmbedding", (Tensor("bias", ()),), part="head")


def text_backbone(config: ModelConfig) -> Module:
    """Built without a pooler."""
    built = build_nested(config, "text_config")
    return built.with_(children=tuple((name, child) for name, child in built.children if name != "pooler"))


def detector(config: ModelConfig, heads: dict[str, Stack]) -> Module:
    hidden, queries = config.integer("d_model"), config.integer("num_queries")
    image, widths = backbone(config, freeze=True)
    learned = config.text("position_embedding_type", "sine") == "learned"
    table = embedding(LEARNED_ROWS, hidden // 2, part="position") if learned else None
    two_stage = config.flag("two_stage") or config.model_type == "mm-grounding-dino"
    learns_queries = config.flag("embedding_init_target") or not config.flag("two_stage")
    parts: dict[str, Module | Stack | None] = {
        "backbone.conv_encoder.model": image,
        "backbone.position_embedding.row_embeddings": table,
        "backbone.position_embedding.column_embeddings": table,
        "input_proj_vision": image_levels(config, widths),
        "text_backbone": text_backbone(config),
        "text_projection": linear(config.nested_config("text_config").integer("hidden_size"), hidden, part="projector"),
        "query_position_embeddings": embedding(queries, hidden) if learns_queries else None,
        "encoder.layers": stack(encoder_layer(config), times=config.integer("encoder_layers")),
        "decoder": decoder(config, heads),
    }
    if two_stage:
        parts["enc_output"] = linear(hidden, hidden)
        parts["enc_output_norm"] = layer_norm(hidden)
        parts["encoder_output_bbox_embed"] = prediction_head(hidden, hidden, 4, 3)
        parts["encoder_output_class_embed"] = contrastive_bias(config)
    else:
        parts["reference_points"] = embedding(queries, 4)
    levels = Tensor("level_embed", (config.integer("num_feature_levels"), hidden))
    return Module("Model", (levels,), named(parts))


def shared(item: Module, count: int, path: str) -> Stack:
    """``count`` names of one module, which stands under ``path``."""
    copies = stack(tied_copy(item, f"{path}.0"), times=count - 1)
    return concatenate(stack(item, times=min(count, 1)), copies)


def build(config: ModelConfig) -> Module:
    """Heads of the decoder's layers are tied to those of the class, and to each other where they are shared."""
    head = head_name(config.architecture)
    if head == "Model":
        return detector(config, {})
    if head != "ForObjectDetection":
        raise unknown_head(config.architecture)
    hidden, count = config.integer("d_model"), config.integer("decoder_layers")
    boxes = prediction_head(hidden, hidden, 4, 3).with_(part="head")
    tied, bias = config.flag("tie_word_embeddings"), contrastive_bias(config)
    heads = {"bbox_embed": stack(boxes, times=count)}
    if tied and config.flag("decoder_bbox_embed_share"):
        heads["bbox_embed"] = shared(boxes, count, "model.decoder.bbox_embed")
    if bias is not None:
        heads["class_embed"] = shared(bias, count, "model.decoder.class_embed") if tied else stack(bias, times=count)
    again = {name: tied_stack(maps, f"model.decoder.{name}") if tied else maps for name, maps in heads.items()}
    return Module(config.architecture, children=named({"model": detector(config, heads), **again}))
