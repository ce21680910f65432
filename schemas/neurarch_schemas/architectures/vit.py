"""Vision Transformers (arXiv:2010.11929): ViT, DeiT, BEiT, I-JEPA, ViT-MSN, ViT-MAE, VideoMAE and DINO 2 and 3."""

from __future__ import annotations

from neurarch_schemas.architectures import with_settings
from neurarch_schemas.architectures.image_heads import classifier
from neurarch_schemas.architectures.language_heads import head_name, label_count, unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.feed_forward import gated_mlp, mlp
from neurarch_schemas.modules.layers import convolution, layer_norm, linear
from neurarch_schemas.modules.tree import Module, Stack, Tensor, named, stack
from neurarch_schemas.modules.vision import height_and_width, patch_grid, vit_attention

MODEL_TYPES = (
    "vit",
    "deit",
    "beit",
    "data2vec-vision",
    "ijepa",
    "vit_msn",
    "vit_mae",
    "videomae",
    "dinov2",
    "dinov2_with_registers",
    "dinov3_vit",
    "audio-spectrogram-transformer",
)

PREFIXES = {
    "audio-spectrogram-transformer": "audio_spectrogram_transformer",
    "vit_msn": "vit",
    "vit_mae": "vit",
    "data2vec-vision": "data2vec_vision",
}
"""The backbone's attribute, where it is not the model type."""
DINO = ("dinov2", "dinov2_with_registers", "dinov3_vit")
OLD_NAMES = {"attention": ("attention.query", "attention.key", "attention.value", "output.dense")}


def relative_position_table(config: ModelConfig) -> Tensor:
    """A bias for each distance between two patches, and three for the class token (arXiv:2106.08254)."""
    rows, columns = patch_grid(config)
    distances = (2 * rows - 1) * (2 * columns - 1) + 3
    return Tensor("relative_position_bias_table", (distances, config.integer("num_attention_heads")))


def relative_positions(config: ModelConfig) -> Module:
    return Module("RelativePositionBias", (relative_position_table(config),), part="position")


def spectrogram_grid(config: ModelConfig) -> tuple[int, int]:
    """Overlapping square patches of a spectrogram, in frequency and time (arXiv:2104.01778)."""
    patch = config.integer("patch_size")
    rows = (config.integer("num_mel_bins") - patch) // config.integer("frequency_stride") + 1
    return rows, (config.integer("max_length") - patch) // config.integer("time_stride") + 1


def patch_projection(config: ModelConfig) -> Module:
    if config.model_type == "audio-spectrogram-transformer":
        return convolution(1, config.integer("hidden_size"), height_and_width(config, "patch_size"))
    hidden, channels, kernel = (
        config.integer("hidden_size"),
        config.integer("num_channels"),
        height_and_width(config, "patch_size"),
    )
    if config.model_type == "videomae":
        return convolution(channels, hidden, (config.integer("tubelet_size"), *kernel))
    return convolution(channels, hidden, kernel)


def embeddings(config: ModelConfig, mask_token: bool) -> Module:
    hidden, kind = config.integer("hidden_size"), config.model_type
    spectrogram = kind == "audio-spectrogram-transformer"
    if kind in ("videomae", "dinov3_vit"):
        rows, columns = 0, 0
    else:
        rows, columns = spectrogram_grid(config) if spectrogram else patch_grid(config)
    patches, registers = rows * columns, config.integer("num_register_tokens", 0)
    class_tokens = {"ijepa": 0, "deit": 2, "audio-spectrogram-transformer": 2}.get(kind, 1)
    tensors: list[Tensor] = []
    if kind not in ("ijepa", "videomae"):
        tensors.append(Tensor("cls_token", (1, 1, hidden)))
    if kind == "deit" or spectrogram:
        tensors.append(Tensor("distillation_token", (1, 1, hidden)))
    if mask_token:
        tensors.append(Tensor("mask_token", (1, hidden) if kind.startswith("dinov2") else (1, 1, hidden)))
    absolute = kind not in ("beit", "data2vec-vision") or config.flag("use_absolute_position_embeddings")
    if absolute and kind not in ("videomae", "dinov3_vit"):
        tensors.append(Tensor("position_embeddings", (1, patches + class_tokens, hidden)))
    if kind in ("dinov2_with_registers", "dinov3_vit"):
        tensors.append(Tensor("register_tokens", (1, registers, hidden)))
    name = "patch_embeddings" if kind == "dinov3_vit" else "patch_embeddings.projection"
    return Module("Embeddings", tuple(tensors), named({name: patch_projection(config)}), part="embedding")


def feed_forward(config: ModelConfig) -> Module:
    hidden, kind = config.integer("hidden_size"), config.model_type
    if kind == "dinov3_vit":
        inner, bias = config.integer("intermediate_size"), config.flag("mlp_bias")
        if config.flag("use_gated_mlp"):
            return gated_mlp(hidden, inner, bias)
        return mlp(hidden, inner, bias, names=("up_proj", "down_proj"))
    if kind in DINO:
        inner = int(hidden * config.number("mlp_ratio"))
        if config.flag("use_swiglu_ffn"):
            return gated_mlp(hidden, (inner * 2 // 3 + 7) // 8 * 8, bias=True)
        return mlp(hidden, inner)
    return mlp(hidden, config.integer("intermediate_size"))


def attention(config: ModelConfig) -> Module:
    hidden, heads, kind = config.integer("hidden_size"), config.integer("num_attention_heads"), config.model_type
    if kind == "dinov3_vit":
        return vit_attention(
            hidden,
            heads,
            bias=config.flag("query_bias"),
            key_bias=config.flag("key_bias"),
            value_bias=config.flag("value_bias"),
            out_bias=config.flag("proj_bias"),
            width=hidden,
            position="rope",
        )
    if kind in ("beit", "data2vec-vision", "videomae"):
        bias = config.flag("qv_bias") if kind == "videomae" else True
        names = OLD_NAMES["attention"] if kind != "beit" else ("q_proj", "k_proj", "v_proj", "o_proj")
        relative = kind == "data2vec-vision" and config.flag("use_relative_position_bias")
        extra: dict[str, Module | Stack | None] = {
            "attention.relative_position_bias": relative_positions(config) if relative else None
        }
        return vit_attention(hidden, heads, bias=bias, key_bias=False, names=names, extra=extra)
    return vit_attention(hidden, heads, bias=config.flag("qkv_bias"), head_dim=config.optional_integer("head_dim"))


def layer(config: ModelConfig) -> Module:
    """Pre-norm attention and feed-forward; BEiT and DINO scale both branches, channel by channel."""
    hidden, kind = config.integer("hidden_size"), config.model_type
    tensors: tuple[Tensor, ...] = ()
    children: dict[str, Module | Stack | None]
    if kind in DINO:
        scale = Module("LayerScale", (Tensor("lambda1", (hidden,)),))
        children = {
            "norm1": layer_norm(hidden),
            "attention": attention(config),
            "layer_scale1": scale,
            "norm2": layer_norm(hidden),
            "mlp": feed_forward(config),
            "layer_scale2": scale,
        }
        return Module("EncoderLayer", children=named(children))
    children = {
        "attention": attention(config),
        "layernorm_before": layer_norm(hidden),
        "layernorm_after": layer_norm(hidden),
    }
    if kind in ("data2vec-vision", "videomae"):
        inner = config.integer("intermediate_size")
        children["intermediate.dense"] = linear(hidden, inner, part="feed-forward")
        children["output.dense"] = linear(inner, hidden, part="feed-forward")
    else:
        children["mlp"] = feed_forward(config)
    if kind in ("beit", "data2vec-vision") and config.number("layer_scale_init_value") > 0:
        tensors = (Tensor("lambda_1", (hidden,)), Tensor("lambda_2", (hidden,)))
    if kind == "beit" and config.flag("use_relative_position_bias"):
        children["relative_position_bias"] = relative_positions(config)
    return Module("EncoderLayer", tensors, named(children))


def pooler(config: ModelConfig) -> Module | None:
    """BEiT averages the patches and normalizes; ViT maps the class token."""
    hidden = config.integer("hidden_size")
    if config.model_type in ("beit", "data2vec-vision"):
        norm = {"layernorm": layer_norm(hidden)} if config.flag("use_mean_pooling") else {}
        return Module("Pooler", children=named(norm)) if norm else None
    width = config.integer("pooler_output_size", hidden)
    return Module("Pooler", children=named({"dense": linear(hidden, width)}), part="head")


def backbone(config: ModelConfig, *, with_pooler: bool, mask_token: bool = False) -> Module:
    hidden, kind = config.integer("hidden_size"), config.model_type
    mean = kind in ("beit", "data2vec-vision", "videomae") and config.flag("use_mean_pooling")
    list_name = {"dinov3_vit": "model.layer", "data2vec-vision": "encoder.layer", "videomae": "encoder.layer"}.get(
        kind, "encoder.layer" if kind in DINO else "layers"
    )
    shared = kind in ("beit", "data2vec-vision") and config.flag("use_shared_relative_position_bias")
    shared_name = "shared_position_bias" if kind == "beit" else "encoder.relative_position_bias"
    return Module(
        "Model",
        children=named(
            {
                "embeddings": embeddings(config, mask_token),
                shared_name: relative_positions(config) if shared else None,
                list_name: stack(layer(config), times=config.integer("num_hidden_layers")),
                ("norm" if kind == "dinov3_vit" else "layernorm"): None if mean else layer_norm(hidden),
                "pooler": pooler(config) if with_pooler else None,
            }
        ),
    )


def has_mask_token(config: ModelConfig) -> bool:
    """BEiT and DINO 2 by a setting, DINO with registers always, the others in masked image modelling only."""
    kind = config.model_type
    if kind in ("beit", "data2vec-vision", "dinov2"):
        return config.flag("use_mask_token")
    return kind in ("dinov2_with_registers", "dinov3_vit")


def masked_autoencoder(config: ModelConfig) -> Module:
    """MAE (arXiv:2111.06377) and VideoMAE: a narrower decoder guesses the pixels of the patches left out."""
    video, hidden = config.model_type == "videomae", config.integer("hidden_size")
    width, channels, patch = (config.integer(key) for key in ("decoder_hidden_size", "num_channels", "patch_size"))
    narrow = with_settings(
        config,
        hidden_size=width,
        num_attention_heads=config.integer("decoder_num_attention_heads"),
        intermediate_size=config.integer("decoder_intermediate_size"),
    )
    guesses = stack(layer(narrow), times=config.integer("decoder_num_hidden_layers"))
    mask, entry = Tensor("mask_token", (1, 1, width)), linear(hidden, width, bias=not video)
    pixels = linear(width, channels * patch**2 * (config.integer("tubelet_size") if video else 1), part="head")
    model = backbone(config, with_pooler=False)
    if video:
        decoder = named({"decoder_layers": guesses, "norm": layer_norm(width), "head": pixels})
        parts = {"videomae": model, "encoder_to_decoder": entry, "decoder": Module("Decoder", children=decoder)}
        return Module(config.architecture, (mask,), named({**parts}))
    rows, columns = patch_grid(config)
    positions = Tensor("decoder_pos_embed", (1, rows * columns + 1, width))
    decoder = named(
        {"decoder_embed": entry, "decoder_layers": guesses, "decoder_norm": layer_norm(width), "decoder_pred": pixels}
    )
    children = (("vit", model), ("decoder", Module("Decoder", (mask, positions), decoder)))
    return Module(config.architecture, children=children)


def build(config: ModelConfig) -> Module:
    head, kind, hidden = head_name(config.architecture), config.model_type, config.integer("hidden_size")
    pools = kind in ("vit", "deit", "beit")
    if head == "Model":
        return backbone(config, with_pooler=pools, mask_token=has_mask_token(config))
    if head == "Backbone" and kind in DINO:
        return backbone(config, with_pooler=False, mask_token=has_mask_token(config))
    prefix = PREFIXES.get(kind, kind)
    if head == "Backbone" and kind == "beit":
        model = backbone(config, with_pooler=False, mask_token=has_mask_token(config))
        return Module("Backbone", children=((prefix, model),))
    if head == "ForImageClassificationWithTeacher" and kind == "deit":
        scores = {"cls_classifier": classifier(config, hidden), "distillation_classifier": classifier(config, hidden)}
        return Module(config.architecture, children=named({prefix: backbone(config, with_pooler=False), **scores}))
    if head == "ForImageClassification" and kind != "dinov3_vit":
        model = backbone(config, with_pooler=kind in ("beit", "data2vec-vision"), mask_token=has_mask_token(config))
        width = 2 * hidden if kind in DINO else hidden
        children: dict[str, Module | Stack | None] = {prefix: model}
        children["classifier"] = classifier(config, width)
        return Module(config.architecture, children=named(children))
    if head == "ForMaskedImageModeling" and kind in ("vit", "deit"):
        # The pixels of every patch, one convolution and a rearrangement.
        pixels = config.integer("encoder_stride") ** 2 * config.integer("num_channels")
        decoder = convolution(hidden, pixels, (1, 1)).with_(part="head")
        model = backbone(config, with_pooler=False, mask_token=True)
        return Module(config.architecture, children=((prefix, model), ("decoder.0", decoder)))
    if head == "ForMaskedImageModeling" and kind == "beit":
        model = backbone(config, with_pooler=False, mask_token=has_mask_token(config))
        codes = linear(hidden, config.integer("vocab_size"), part="head")
        return Module(
            config.architecture, children=(("beit", model), ("layernorm", layer_norm(hidden)), ("lm_head", codes))
        )
    if head == "ForPreTraining" and kind in ("vit_mae", "videomae"):
        return masked_autoencoder(config)
    if head == "ForVideoClassification" and kind == "videomae":
        children = {
            "videomae": backbone(config, with_pooler=False),
            "fc_norm": layer_norm(hidden) if config.flag("use_mean_pooling") else None,
            "classifier": linear(hidden, label_count(config), part="head"),
        }
        return Module(config.architecture, children=named(children))
    if head == "ForAudioClassification" and kind == "audio-spectrogram-transformer":
        top = {"layernorm": layer_norm(hidden), "dense": linear(hidden, label_count(config))}
        audio_head = Module("ClassificationHead", children=named(top), part="head")
        children = {prefix: backbone(config, with_pooler=False), "classifier": audio_head}
        return Module(config.architecture, children=named(children))
    raise unknown_head(config.architecture)
