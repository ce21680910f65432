"""Relatives of CLIP with encoders of their own types: Chinese-CLIP, AltCLIP, CLIPSeg, OWL-ViT, AIMv2, TIPS v2, MLCD."""

from __future__ import annotations

from neurarch_schemas.architectures import clip, vit
from neurarch_schemas.architectures.clip_vision import vision_transformer
from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import in_part, uniform
from neurarch_schemas.modules.encoder import bert_embeddings, bert_layer
from neurarch_schemas.modules.feed_forward import gated_mlp
from neurarch_schemas.modules.layers import convolution, embedding, layer_norm, linear, position_embedding, rms_norm
from neurarch_schemas.modules.tree import Module, Stack, Tensor, named
from neurarch_schemas.modules.vision import clip_layer, height_and_width, patch_count, vision_attention
from neurarch_schemas.record import replace

MODEL_TYPES = (
    "chinese_clip",
    "chinese_clip_vision_model",
    "altclip",
    "clipseg",
    "owlvit",
    "owlv2",
    "aimv2",
    "aimv2_vision_model",
    "tipsv2",
    "tipsv2_text_model",
    "tipsv2_vision_model",
    "mlcd",
    "mlcd_vision_model",
)


def bert_text(config: ModelConfig, layers: str, pooler: Module | None = None) -> Module:
    """BERT's encoder, its layers called ``layers``."""
    hidden = config.integer("hidden_size")
    layer = bert_layer(hidden, config.integer("num_attention_heads"), config.integer("intermediate_size"))
    embeddings = bert_embeddings(
        config.integer("vocab_size"),
        hidden,
        positions=config.integer("max_position_embeddings"),
        types=config.integer("type_vocab_size"),
    )
    parts: dict[str, Module | Stack | None] = {
        "embeddings": embeddings,
        layers: uniform(layer, config.integer("num_hidden_layers")),
        "pooler": pooler,
    }
    return Module("TextModel", children=named(parts))


def alt_text(config: ModelConfig) -> Module:
    """AltCLIP (arXiv:2211.06679): XLM-RoBERTa, normalized and mapped to CLIP's width."""
    hidden = config.integer("hidden_size")
    parts: dict[str, Module | Stack | None] = {
        "roberta": bert_text(config, "encoder.layers"),
        "transformation": linear(hidden, config.integer("project_dim")),
        "pre_LN": layer_norm(hidden),
    }
    return Module("TextModel", children=named(parts))


def clip_vision(config: ModelConfig, pre_norm: str = "pre_layrnorm") -> Module:
    built = vision_transformer(replace(config, model_type="clip_vision_model"))
    children = tuple((pre_norm if name == "pre_layrnorm" else name, child) for name, child in built.children)
    return built.with_(children=children)


def mlcd_vision(config: ModelConfig) -> Module:
    """MLCD (arXiv:2407.17331): CLIP's encoder with rotary positions; the class token's position is learned."""
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    layer = clip_layer(hidden, heads, config.integer("intermediate_size"))
    patches = convolution(config.integer("num_channels"), hidden, height_and_width(config, "patch_size"), bias=False)
    table = Module(
        "Embeddings",
        (Tensor("class_embedding", (hidden,)),),
        named({"patch_embedding": patches}),
        part="embedding",
    )
    parts: dict[str, Module | Stack | None] = {
        "embeddings": table,
        "pre_layrnorm": layer_norm(hidden),
        "encoder.layers": uniform(layer, config.integer("num_hidden_layers")),
        "post_layernorm": layer_norm(hidden),
    }
    return Module("VisionModel", (Tensor("class_pos_emb", (1, hidden // heads // 2)),), named(parts))


def aimv2_layers(config: ModelConfig) -> Stack:
    """AIMv2 (arXiv:2411.14402): RMSNorm and gated feed-forwards."""
    hidden, bias = config.integer("hidden_size"), config.flag("qkv_bias")
    layer = Module(
        "EncoderLayer",
        children=named(
            {
                "attention": vision_attention(hidden, config.integer("num_attention_heads"), bias=bias),
                "ffn": gated_mlp(hidden, config.integer("intermediate_size"), config.flag("mlp_bias")),
                "rms_norm1": rms_norm(hidden),
                "rms_norm2": rms_norm(hidden),
            }
        ),
    )
    return uniform(layer, config.integer("num_hidden_layers"))


def aimv2_vision(config: ModelConfig) -> Module:
    """The head pools by one learned query; models of native resolution have computed positions."""
    hidden, bias = config.integer("hidden_size"), config.flag("qkv_bias")
    patches = convolution(config.integer("num_channels"), hidden, height_and_width(config, "patch_size"))
    positions = None if config.flag("is_native") else position_embedding(patch_count(config), hidden)
    pooling = {
        "k_proj": linear(hidden, hidden, bias),
        "v_proj": linear(hidden, hidden, bias),
        "output_proj": linear(hidden, hidden),
    }
    head = Module("AttentionPooling", (Tensor("cls_token", (1, 1, hidden)),), named(pooling), part="head")
    parts: dict[str, Module | Stack | None] = {
        "embeddings.patch_embed": patches,
        "embeddings.rms_norm": rms_norm(hidden),
        "embeddings.position_embedding": positions,
        "encoder.layers": aimv2_layers(config),
        "rms_norm": rms_norm(hidden),
        "head": head if config.flag("use_head") else None,
    }
    return Module("VisionModel", children=named(parts))


def aimv2_text(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    parts: dict[str, Module | Stack | None] = {
        "embeddings.token_embedding": embedding(config.integer("vocab_size"), hidden, lookup=True),
        "embeddings.position_embedding": position_embedding(config.integer("max_position_embeddings"), hidden),
        "encoder.layers": aimv2_layers(config),
        "rms_norm": rms_norm(hidden),
    }
    return Module("TextModel", children=named(parts))


def tips_text(config: ModelConfig) -> Module:
    """TIPS v2: CLIP's layers over computed positions."""
    hidden = config.integer("hidden_size")
    layer = clip_layer(hidden, config.integer("num_attention_heads"), config.integer("intermediate_size"))
    parts: dict[str, Module | Stack | None] = {
        "embeddings.token_embedding": embedding(config.integer("vocab_size"), hidden, lookup=True),
        "encoder.layers": uniform(layer, config.integer("num_hidden_layers")),
        "final_layer_norm": layer_norm(hidden),
    }
    return Module("TextModel", children=named(parts))


def tips_vision(config: ModelConfig) -> Module:
    """DINO 2 with registers."""
    return vit.backbone(replace(config, model_type="dinov2_with_registers"), with_pooler=False, mask_token=True)


def two_towers(config: ModelConfig, text: Module, vision: Module, widths: tuple[int, int]) -> Module:
    """Both encoders and a projection of each into the shared space; ``widths`` of vision and text."""
    size = config.integer("projection_dim")
    parts: dict[str, Module | Stack | None] = {
        "text_model": text,
        "vision_model": in_part(vision, "vision"),
        "visual_projection": linear(widths[0], size, bias=False, part="projector"),
        "text_projection": linear(widths[1], size, bias=False, part="projector"),
    }
    return Module("Model", (Tensor("logit_scale", ()),), named(parts))


def open_detector(config: ModelConfig, model: Module, width: int, queries: int) -> Module:
    """OWL-ViT (arXiv:2205.06230): every patch is a box, scored against text queries; OWLv2 also asks if it is any."""

    def scores(outputs: int) -> Module:
        parts = {"dense0": linear(width, width), "dense1": linear(width, width), "dense2": linear(width, outputs)}
        return Module("BoxHead", children=named({**parts}), part="head")

    names = {"dense0": linear(width, queries), "logit_shift": linear(width, 1), "logit_scale": linear(width, 1)}
    parts: dict[str, Module | Stack | None] = {
        config.model_type: model,
        "class_head": Module("ClassHead", children=named({**names}), part="head"),
        "box_head": scores(4),
        "objectness_head": scores(1) if config.model_type == "owlv2" else None,
        "layer_norm": layer_norm(width),
    }
    return Module(config.architecture, children=named(parts))


def build(config: ModelConfig) -> Module:
    kind = config.model_type
    detects = head_name(config.architecture) == "ForObjectDetection" and kind in ("owlvit", "owlv2")
    if head_name(config.architecture) != "Model" and not detects:
        raise unknown_head(config.architecture)
    single = {
        "chinese_clip_vision_model": clip_vision,
        "aimv2_vision_model": aimv2_vision,
        "tipsv2_text_model": tips_text,
        "tipsv2_vision_model": tips_vision,
        "mlcd": mlcd_vision,
        "mlcd_vision_model": mlcd_vision,
    }.get(kind)
    if single is not None:
        return single(config)
    if config.architecture.endswith(("TextModel", "VisionModel")):
        raise CannotBuild(f"the class {config.architecture} is not known for {kind}", ("architectures",))
    text, vision = config.nested_config("text_config"), config.nested_config("vision_config")
    if kind == "tipsv2":
        parts = {"text_model": tips_text(text), "vision_model": in_part(tips_vision(vision), "vision")}
        return Module("Model", (Tensor("temperature", ()),), named(parts))
    widths = (vision.integer("hidden_size"), text.integer("project_dim" if kind == "altclip" else "hidden_size"))
    if kind == "aimv2":
        return two_towers(config, aimv2_text(text), aimv2_vision(vision), widths)
    if kind == "chinese_clip":
        return two_towers(config, bert_text(text, "encoder.layer"), clip_vision(vision), widths)
    if kind == "altclip":
        return two_towers(config, alt_text(text), clip_vision(vision), widths)
    pre_norm = "pre_layernorm" if kind.startswith("owl") else "pre_layrnorm"
    model = two_towers(config, clip.text_transformer(text), clip_vision(vision, pre_norm), widths)
    return open_detector(config, model, *widths) if detects else model
