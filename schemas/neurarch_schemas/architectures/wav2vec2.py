"""wav2vec 2.0 (arXiv:2006.11477) and its relatives: HuBERT, WavLM, UniSpeech, data2vec, SEW, Conformer, w2v-BERT."""

from __future__ import annotations

from neurarch_schemas.architectures import deberta
from neurarch_schemas.architectures.language_heads import head_name, label_count, unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.encoder import bert_feed_forward, encoder_attention
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import (
    batch_norm,
    convolution,
    embedding,
    layer_norm,
    linear,
    position_embedding,
)
from neurarch_schemas.modules.speech import convolution_adapter, feature_encoder, positional_convolution
from neurarch_schemas.modules.t5 import first_and_rest
from neurarch_schemas.modules.tree import AttentionShape, Module, Stack, Tensor, named, stack
from neurarch_schemas.modules.vision import vit_attention
from neurarch_schemas.record import replace

MODEL_TYPES = (
    "wav2vec2",
    "hubert",
    "wavlm",
    "unispeech",
    "unispeech-sat",
    "data2vec-audio",
    "sew",
    "sew-d",
    "wav2vec2-conformer",
    "wav2vec2-bert",
)

PREFIXES = {
    "unispeech-sat": "unispeech_sat",
    "data2vec-audio": "data2vec_audio",
    "sew-d": "sew_d",
    "wav2vec2-conformer": "wav2vec2_conformer",
    "wav2vec2-bert": "wav2vec2_bert",
}
"""The backbone's attribute, where it is not the model type."""
ADAPTED = ("wav2vec2", "wavlm", "data2vec-audio", "wav2vec2-conformer")
FEED_FORWARD = ("intermediate_dense", "output_dense")


def attention(config: ModelConfig, first: bool) -> Module:
    """WavLM gates a relative bias, whose table is the first layer's, by a small projection of each head."""
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    if config.model_type != "wavlm":
        return encoder_attention(hidden, heads, position="convolution")
    extra: dict[str, Module | Stack | None] = {
        "gru_rel_pos_linear": linear(hidden // heads, 8),
        "rel_attn_embed": position_embedding(config.integer("num_buckets"), heads) if first else None,
    }
    built = encoder_attention(hidden, heads, position="relative", extra=extra)
    return built.with_(tensors=(Tensor("gru_rel_pos_const", (1, heads, 1, 1)),))


def transformer_layer(config: ModelConfig, first: bool) -> Module:
    """Adapters for languages stand only in the pre-norm ("stable") layers of wav2vec2, hubert and UniSpeech."""
    hidden, inner = config.integer("hidden_size"), config.integer("intermediate_size")
    stable = config.flag("do_stable_layer_norm") and config.model_type in (
        "wav2vec2",
        "hubert",
        "unispeech",
        "unispeech-sat",
    )
    adapter = None
    if stable and config.is_set("adapter_attn_dim"):
        narrow = config.integer("adapter_attn_dim")
        parts = {"norm": layer_norm(hidden), "linear_1": linear(hidden, narrow), "linear_2": linear(narrow, hidden)}
        adapter = Module("AttentionAdapter", children=named(parts))
    return Module(
        "EncoderLayer",
        children=named(
            {
                "attention": attention(config, first),
                "layer_norm": layer_norm(hidden),
                "feed_forward": mlp(hidden, inner, names=FEED_FORWARD),
                "final_layer_norm": layer_norm(hidden),
                "adapter_layer": adapter,
            }
        ),
    )


def conformer_attention(config: ModelConfig, width: int, position: str | None) -> Module:
    heads = config.integer("num_attention_heads")
    dim = width // heads
    tensors: tuple[Tensor, ...] = ()
    extra: dict[str, Module | Stack | None] = {}
    if position == "relative":
        tensors = (Tensor("pos_bias_u", (heads, dim)), Tensor("pos_bias_v", (heads, dim)))
        extra["linear_pos"] = linear(width, width, bias=False)
    if position == "relative_key":
        rows = config.integer("left_max_position_embeddings") + config.integer("right_max_position_embeddings") + 1
        extra["distance_embedding"] = position_embedding(rows, dim)
    shape = AttentionShape(heads, heads, dim, dim, "encoder", causal=False, position=position)
    names = ("linear_q", "linear_k", "linear_v", "linear_out")
    built = vit_attention(width, heads, names=names, position=position, tensors=tensors, extra=extra)
    children = dict(built.children)
    children.update({name: linear(width, width) for name in names})
    return built.with_(children=named(children), attention=shape)


def conformer_layer(config: ModelConfig) -> Module:
    """Two half feed-forwards around attention and a gated depth-wise convolution (arXiv:2005.08100)."""
    hidden, inner = config.integer("hidden_size"), config.integer("intermediate_size")
    kernel = config.integer("conv_depthwise_kernel_size")
    position = config.text("position_embeddings_type") if config.is_set("position_embeddings_type") else None
    bert = config.model_type == "wav2vec2-bert"
    mixing: dict[str, Module | Stack | None] = {
        "layer_norm": layer_norm(hidden),
        "pointwise_conv1": convolution(hidden, 2 * hidden, (1,), bias=False),
        "depthwise_conv": convolution(hidden, hidden, (kernel,), bias=False, groups=hidden),
        ("depthwise_layer_norm" if bert else "batch_norm"): layer_norm(hidden) if bert else batch_norm(hidden),
        "pointwise_conv2": convolution(hidden, hidden, (1,), bias=False),
    }
    return Module(
        "ConformerLayer",
        children=named(
            {
                "ffn1_layer_norm": layer_norm(hidden),
                "ffn1": mlp(hidden, inner, names=FEED_FORWARD),
                "self_attn_layer_norm": layer_norm(hidden),
                "self_attn": conformer_attention(config, hidden, position),
                "conv_module": Module("ConvolutionModule", children=named(mixing), part="convolution"),
                "ffn2_layer_norm": layer_norm(hidden),
                "ffn2": mlp(hidden, inner, names=FEED_FORWARD),
                "final_layer_norm": layer_norm(hidden),
            }
        ),
    )


def bert_adapter(config: ModelConfig) -> Module:
    """w2v-BERT's adapter: strided convolutions around an attention of its own."""
    hidden = config.integer("hidden_size")
    width = config.integer("output_hidden_size", hidden) or hidden
    strided = convolution(width, 2 * width, (config.integer("adapter_kernel_size"),))
    layer = Module(
        "AdapterLayer",
        children=named(
            {
                "residual_layer_norm": layer_norm(width),
                "residual_conv": strided,
                "self_attn_layer_norm": layer_norm(width),
                "self_attn_conv": strided,
                "self_attn": conformer_attention(config, width, None),
                "ffn_layer_norm": layer_norm(width),
                "ffn": mlp(width, config.integer("intermediate_size"), names=FEED_FORWARD),
            }
        ),
    )
    parts: dict[str, Module | Stack | None] = {
        "proj": linear(hidden, width) if width != hidden else None,
        "proj_layer_norm": layer_norm(width) if width != hidden else None,
        "layers": stack(layer, times=config.integer("num_adapter_layers")),
    }
    return Module("Adapter", children=named(parts))


def disentangled_encoder(config: ModelConfig) -> Module:
    """SEW-D: DeBERTa's layers and relative positions."""
    like = replace(config, model_type="deberta-v2")
    hidden = config.integer("hidden_size")
    feed_forward = bert_feed_forward(hidden, config.integer("intermediate_size"))
    layer = Module("EncoderLayer", children=named({"attention": deberta.attention(like), **feed_forward}))
    parts: dict[str, Module | Stack | None] = {"layer": stack(layer, times=config.integer("num_hidden_layers"))}
    if config.flag("relative_attention"):
        parts["rel_embeddings"] = embedding(2 * deberta.relative_positions(like), hidden, part="position")
    if "layer_norm" in config.text("norm_rel_ebd", "none").lower():
        parts["LayerNorm"] = layer_norm(hidden)
    return Module("Encoder", children=named(parts))


def encoder(config: ModelConfig) -> Module:
    hidden, count, kind = config.integer("hidden_size"), config.integer("num_hidden_layers"), config.model_type
    parts: dict[str, Module | Stack | None] = {}
    if kind == "data2vec-audio":
        groups, kernel = config.integer("num_conv_pos_embedding_groups"), config.integer("conv_pos_kernel_size")
        step = Module("ConvLayer", children=named({"conv": convolution(hidden, hidden, (kernel,), groups=groups)}))
        table = stack(step, times=config.integer("num_conv_pos_embeddings"))
        parts["pos_conv_embed"] = Module("PositionalConvolution", children=(("layers", table),), part="position")
    elif kind != "wav2vec2-bert":
        batch = kind == "hubert" and config.flag("conv_pos_batch_norm")
        parts["pos_conv_embed"] = positional_convolution(config, batch=batch)
    if kind == "sew-d":
        parts["encoder"] = disentangled_encoder(config)
    elif kind in ("wav2vec2-conformer", "wav2vec2-bert"):
        parts["layers"] = stack(conformer_layer(config), times=count)
    elif kind == "wavlm":
        parts["layers"] = layers(first_and_rest(count), lambda first: transformer_layer(config, first))
    else:
        parts["layers"] = stack(transformer_layer(config, first=False), times=count)
    if kind not in ("sew-d", "wav2vec2-bert"):
        parts["layer_norm"] = layer_norm(hidden)
    if kind in ("sew", "sew-d"):
        parts["upsample.projection"] = linear(hidden, hidden * config.integer("squeeze_factor"))
    return Module("Encoder", children=named(parts))


def front(config: ModelConfig) -> dict[str, Module | Stack | None]:
    """From audio (w2v-BERT: spectrogram frames) to the hidden size."""
    hidden, kind = config.integer("hidden_size"), config.model_type
    if kind == "wav2vec2-bert":
        width = config.integer("feature_projection_input_dim")
        return {"feature_projection": projection(width, hidden, norm=True)}
    norm = "layer" if kind == "data2vec-audio" else config.text("feat_extract_norm")
    width = config.integers("conv_dim")[-1]
    parts: dict[str, Module | Stack | None] = {"feature_extractor": feature_encoder(config, norm)}
    if kind in ("sew", "sew-d"):
        parts["layer_norm"] = layer_norm(width)
        parts["feature_projection"] = linear(width, hidden) if width != hidden else None
        return parts
    parts["feature_projection"] = projection(
        width, hidden, norm=kind != "hubert" or config.flag("feat_proj_layer_norm")
    )
    return parts


def projection(inputs: int, outputs: int, *, norm: bool) -> Module:
    parts: dict[str, Module | Stack | None] = {
        "layer_norm": layer_norm(inputs) if norm else None,
        "projection": linear(inputs, outputs),
    }
    return Module("FeatureProjection", children=named(parts), part="projector")


def backbone(config: ModelConfig) -> Module:
    """The vector that replaces masked frames exists only where masking does (UniSpeech-SAT: always)."""
    hidden, kind = config.integer("hidden_size"), config.model_type
    masks = config.number("mask_time_prob", 0.0) > 0 or config.number("mask_feature_prob", 0.0) > 0
    tensors = (Tensor("masked_spec_embed", (hidden,)),) if masks or kind == "unispeech-sat" else ()
    parts = {**front(config), "encoder": encoder(config)}
    if config.flag("add_adapter"):
        if kind in ADAPTED:
            parts["adapter"] = convolution_adapter(config)
        elif kind == "wav2vec2-bert":
            parts["adapter"] = bert_adapter(config)
    if kind == "wav2vec2-bert" and config.flag("use_intermediate_ffn_before_adapter"):
        parts["intermediate_ffn"] = mlp(hidden, config.integer("intermediate_size"), names=FEED_FORWARD)
    return Module("Model", tensors, named(parts))


def quantizer(config: ModelConfig, inputs: int | None = None) -> Module:
    """Codebooks that frames of width ``inputs`` are matched with in pre-training (arXiv:2006.11477, section 2)."""
    groups, width = config.integer("num_codevector_groups"), config.integer("codevector_dim")
    entries = groups * config.integer("num_codevectors_per_group")
    codes = Tensor("codevectors", (1, entries, width // groups))
    scores = linear(config.integers("conv_dim")[-1] if inputs is None else inputs, entries)
    return Module("Quantizer", (codes,), (("weight_proj", scores),), part="head")


def speech_pretraining(config: ModelConfig) -> tuple[tuple[Tensor, ...], dict[str, Module | Stack | None]]:
    """UniSpeech also predicts phonemes, UniSpeech-SAT speakers; tensors and children of the class."""
    hidden, codes = config.integer("hidden_size"), config.integer("codevector_dim")
    shared = config.integer("proj_codevector_dim")
    project_q = linear(codes, shared, part="head")
    if config.model_type == "unispeech":
        return (), {
            "quantizer": quantizer(config),
            "project_q": project_q,
            "project_hid": linear(shared, hidden, part="head"),
            "ctc_proj": linear(hidden, config.integer("num_ctc_classes"), part="head"),
        }
    return (Tensor("label_embeddings_concat", (config.integer("num_clusters"), codes)),), {
        "quantizer": quantizer(config, hidden),
        "project_q": project_q,
        "project_hid": linear(hidden, shared, part="head"),
        "speaker_proj": linear(hidden, codes, part="head"),
        "layer_norm_for_extract": layer_norm(hidden),
    }


def speaker_head(config: ModelConfig) -> dict[str, Module | Stack | None]:
    """X-vectors (Snyder et al., 2018): convolutions over time, written as linear maps, and pooled statistics."""
    widths, kernels = config.integers("tdnn_dim"), config.integers("tdnn_kernel")
    outputs = config.integer("xvector_output_dim")
    steps = [
        Module("TDNN", children=(("kernel", linear(widths[max(index - 1, 0)] * kernels[index], width)),), part="head")
        for index, width in enumerate(widths)
    ]
    speakers = Tensor("weight", (outputs, label_count(config)))
    return {
        "projector": linear(config.integer("hidden_size"), widths[0], part="head"),
        "tdnn": stack(*steps),
        "feature_extractor": linear(2 * widths[-1], outputs, part="head"),
        "classifier": linear(outputs, outputs, part="head"),
        "objective": Module("SpeakerLoss", (speakers,), part="head"),
    }


def build(config: ModelConfig) -> Module:
    head, hidden, kind = head_name(config.architecture), config.integer("hidden_size"), config.model_type
    model = backbone(config)
    if head == "Model":
        return model
    children: dict[str, Module | Stack | None] = {PREFIXES.get(kind, kind): model}
    tensors: tuple[Tensor, ...] = ()
    if head == "ForCTC":
        adapted = config.flag("add_adapter") and (kind in ADAPTED or kind == "wav2vec2-bert")
        width = (config.integer("output_hidden_size", hidden) or hidden) if adapted else hidden
        children["lm_head"] = linear(width, config.integer("vocab_size"), part="head")
    elif head == "ForPreTraining" and kind in ("wav2vec2", "wav2vec2-conformer"):
        shared = config.integer("proj_codevector_dim")
        children["quantizer"] = quantizer(config)
        children["project_hid"] = linear(hidden, shared, part="head")
        children["project_q"] = linear(config.integer("codevector_dim"), shared, part="head")
    elif head == "ForPreTraining" and kind in ("unispeech", "unispeech-sat"):
        tensors, parts = speech_pretraining(config)
        children.update(parts)
    elif head in ("ForSequenceClassification", "ForAudioFrameClassification", "ForXVector"):
        if config.flag("use_weighted_layer_sum"):
            tensors = (Tensor("layer_weights", (config.integer("num_hidden_layers") + 1,)),)
        width, labels = hidden, label_count(config)
        if head == "ForSequenceClassification":
            width = config.integer("classifier_proj_size")
            children["projector"] = linear(hidden, width, part="head")
        children["classifier"] = linear(width, labels, part="head")
        if head == "ForXVector":
            children.update(speaker_head(config))
    else:
        raise unknown_head(config.architecture)
    return Module(config.architecture, tensors, named(children))
