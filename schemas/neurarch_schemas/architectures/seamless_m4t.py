"""SeamlessM4T (arXiv:2308.11596, arXiv:2312.05187): text and speech to text, and by units to speech.

The class of a checkpoint holds both encoders, the text decoder, a model from text to units, and a vocoder.
"""

from __future__ import annotations

from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import in_part
from neurarch_schemas.modules.encoder import encoder_attention
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import batch_norm, convolution, embedding, layer_norm, linear, position_embedding
from neurarch_schemas.modules.tree import Module, Stack, Tensor, named, stack
from neurarch_schemas.modules.vision import vit_attention
from neurarch_schemas.modules.vocoder import generator, variance_predictor

MODEL_TYPES = ("seamless_m4t", "seamless_m4t_v2")

PARTS = {
    "Model": ("text_encoder", "speech_encoder", "t2u_model"),
    "ForTextToText": ("text_encoder",),
    "ForSpeechToText": ("speech_encoder",),
    "ForTextToSpeech": ("text_encoder", "t2u_model"),
    "ForSpeechToSpeech": ("speech_encoder", "t2u_model"),
}
"""Beside the text decoder, which every class has."""


def encoder_layer(config: ModelConfig, prefix: str = "") -> Module:
    hidden = config.integer("hidden_size")
    parts: dict[str, Module | Stack | None] = {
        "self_attn": encoder_attention(hidden, config.integer(f"{prefix}encoder_attention_heads")),
        "self_attn_layer_norm": layer_norm(hidden),
        "ffn": mlp(hidden, config.integer(f"{prefix}encoder_ffn_dim")),
        "ffn_layer_norm": layer_norm(hidden),
    }
    return Module("EncoderLayer", children=named(parts))


def decoder_layer(config: ModelConfig, prefix: str = "") -> Module:
    hidden, heads = config.integer("hidden_size"), config.integer(f"{prefix}decoder_attention_heads")
    length = config.integer("max_position_embeddings", config.integer("max_source_positions", 4096))
    parts: dict[str, Module | Stack | None] = {
        "self_attn": encoder_attention(hidden, heads, role="decoder"),
        "self_attn_layer_norm": layer_norm(hidden),
        "cross_attention": encoder_attention(hidden, heads, role="cross", source_length=length),
        "cross_attention_layer_norm": layer_norm(hidden),
        "ffn": mlp(hidden, config.integer(f"{prefix}decoder_ffn_dim")),
        "ffn_layer_norm": layer_norm(hidden),
    }
    return Module("DecoderLayer", children=named(parts))


def transformer(config: ModelConfig, table: Module | None, layer: Module, count: int, **extra: Module) -> Module:
    """Positions are sinusoidal and not stored."""
    parts: dict[str, Module | Stack | None] = {
        "embed_tokens": table,
        **extra,
        "layers": stack(layer, times=count),
        "layer_norm": layer_norm(config.integer("hidden_size")),
    }
    return Module("Transformer", children=named(parts))


def speech_attention(config: ModelConfig, position: str | None) -> Module:
    hidden, heads = config.integer("hidden_size"), config.integer("speech_encoder_attention_heads")
    dim = hidden // heads
    tensors: tuple[Tensor, ...] = ()
    extra: dict[str, Module | Stack | None] = {}
    if position == "relative" and config.model_type == "seamless_m4t":
        tensors = (Tensor("pos_bias_u", (heads, dim)), Tensor("pos_bias_v", (heads, dim)))
        extra["linear_pos"] = linear(hidden, hidden, bias=False)
    if position == "relative_key" and config.model_type == "seamless_m4t_v2":
        rows = config.integer("left_max_position_embeddings") + config.integer("right_max_position_embeddings") + 1
        extra["distance_embedding"] = position_embedding(rows, dim)
    names = ("linear_q", "linear_k", "linear_v", "linear_out")
    return vit_attention(hidden, heads, width=hidden, names=names, position=position, tensors=tensors, extra=extra)


def speech_feed_forward(config: ModelConfig) -> Module:
    inner = config.integer("speech_encoder_intermediate_size")
    return mlp(config.integer("hidden_size"), inner, names=("intermediate_dense", "output_dense"))


def conformer_layer(config: ModelConfig) -> Module:
    """The second version's convolutions are causal, with a layer norm in place of the batch norm."""
    hidden, second = config.integer("hidden_size"), config.model_type == "seamless_m4t_v2"
    position = config.text("position_embeddings_type") if config.is_set("position_embeddings_type") else None
    kernel = config.integer("conv_depthwise_kernel_size")
    mixing: dict[str, Module | Stack | None] = {
        "layer_norm": layer_norm(hidden),
        "pointwise_conv1": convolution(hidden, 2 * hidden, (1,), bias=False),
        "depthwise_conv": convolution(hidden, hidden, (kernel,), bias=False, groups=hidden),
        ("depthwise_layer_norm" if second else "batch_norm"): layer_norm(hidden) if second else batch_norm(hidden),
        "pointwise_conv2": convolution(hidden, hidden, (1,), bias=False),
    }
    parts: dict[str, Module | Stack | None] = {
        "ffn1_layer_norm": layer_norm(hidden),
        "ffn1": speech_feed_forward(config),
        "self_attn_layer_norm": layer_norm(hidden),
        "self_attn": speech_attention(config, position),
        "conv_module": Module("ConvolutionModule", children=named(mixing), part="convolution"),
        "ffn2_layer_norm": layer_norm(hidden),
        "ffn2": speech_feed_forward(config),
        "final_layer_norm": layer_norm(hidden),
    }
    return Module("ConformerLayer", children=named(parts))


def adapter_layer(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    strided = convolution(hidden, 2 * hidden, (config.integer("adaptor_kernel_size"),))
    parts: dict[str, Module | Stack | None] = {
        "residual_layer_norm": layer_norm(hidden),
        "residual_conv": strided,
        "self_attn_layer_norm": layer_norm(hidden),
        "self_attn_conv": strided,
        "self_attn": speech_attention(config, None),
        "ffn_layer_norm": layer_norm(hidden),
        "ffn": speech_feed_forward(config),
    }
    return Module("AdapterLayer", children=named(parts))


def speech_encoder(config: ModelConfig) -> Module:
    hidden, bins = config.integer("hidden_size"), config.integer("feature_projection_input_dim")
    adapter = stack(adapter_layer(config), times=config.integer("num_adapter_layers"))
    layers = stack(conformer_layer(config), times=config.integer("speech_encoder_layers"))
    parts: dict[str, Module | Stack | None] = {
        "feature_projection.layer_norm": layer_norm(bins),
        "feature_projection.projection": linear(bins, hidden),
        "encoder": Module("Encoder", children=(("layers", layers), ("layer_norm", layer_norm(hidden)))),
        "intermediate_ffn": speech_feed_forward(config),
        "adapter": Module("Adapter", children=(("layers", adapter),)) if config.flag("add_adapter") else None,
        "inner_layer_norm": layer_norm(hidden),
    }
    return in_part(Module("SpeechEncoder", children=named(parts)), "audio")


def unit_decoder(config: ModelConfig, table: Module) -> Module:
    """From text to units: a decoder; in the second version all units at once, by predicted durations."""
    hidden, count = config.integer("hidden_size"), config.integer("t2u_decoder_layers")
    if config.model_type == "seamless_m4t":
        return transformer(config, table, decoder_layer(config, "t2u_"), count)
    wide = convolution(hidden, hidden, (7,))
    parts: dict[str, Module | Stack | None] = {
        "self_attn": encoder_attention(hidden, config.integer("t2u_decoder_attention_heads")),
        "self_attn_layer_norm": layer_norm(hidden),
        "conv1": wide,
        "conv2": wide,
        "conv_layer_norm": layer_norm(hidden),
    }
    predictor = variance_predictor(
        config.integer("t2u_variance_predictor_embed_dim"),
        config.integer("t2u_variance_predictor_hidden_dim"),
        config.integer("t2u_variance_predictor_kernel_size"),
    )
    characters = embedding(config.integer("char_vocab_size"), hidden)
    layer = Module("DecoderLayer", children=named(parts))
    built = transformer(config, table, layer, count, embed_char=characters, duration_predictor=predictor)
    return built.with_(tensors=(Tensor("pos_emb_alpha_char", (1,)), Tensor("pos_emb_alpha", (1,))))


def unit_model(config: ModelConfig) -> Module:
    hidden, units = config.integer("hidden_size"), config.integer("t2u_vocab_size")
    shared = "t2u_model.model.decoder.embed_tokens.weight" if config.flag("tie_word_embeddings") else None
    encoder = transformer(config, None, encoder_layer(config, "t2u_"), config.integer("t2u_encoder_layers"))
    parts: dict[str, Module | Stack | None] = {
        "model.encoder": encoder,
        "model.decoder": unit_decoder(config, embedding(units, hidden)),
        "lm_head": linear(hidden, units, bias=False, tied_to=shared),
    }
    return in_part(Module("TextToUnits", children=named(parts)), "audio")


def vocoder(config: ModelConfig) -> Module:
    unit, language = config.integer("unit_embed_dim"), config.integer("lang_embed_dim")
    speaker = config.integer("spkr_embed_dim")
    parts: dict[str, Module | Stack | None] = {
        "dur_predictor": variance_predictor(unit, unit, config.integer("variance_predictor_kernel_size")),
        "unit_embedding": embedding(config.integer("unit_hifi_gan_vocab_size"), unit),
        "speaker_embedding": embedding(config.integer("vocoder_num_spkrs"), speaker),
        "language_embedding": embedding(config.integer("vocoder_num_langs"), language),
        "hifi_gan": generator(config, unit + language + speaker),
    }
    return in_part(Module("Vocoder", children=named(parts)), "audio")


def build(config: ModelConfig) -> Module:
    head, hidden, vocabulary = (
        head_name(config.architecture),
        config.integer("hidden_size"),
        config.integer("vocab_size"),
    )
    if head not in PARTS or "TextToUnit" in config.architecture:
        raise unknown_head(config.architecture)
    shared = "shared.weight" if config.flag("tie_word_embeddings") else None
    table = embedding(vocabulary, hidden, lookup=True, tied_to=shared)
    chosen = PARTS[head]
    parts: dict[str, Module | Stack | None] = {"shared": embedding(vocabulary, hidden, lookup=True)}
    if "text_encoder" in chosen:
        parts["text_encoder"] = transformer(config, table, encoder_layer(config), config.integer("encoder_layers"))
    if "speech_encoder" in chosen:
        parts["speech_encoder"] = speech_encoder(config)
    parts["text_decoder"] = transformer(config, table, decoder_layer(config), config.integer("decoder_layers"))
    parts["lm_head"] = linear(hidden, vocabulary, bias=False, tied_to=shared, part="head")
    if "t2u_model" in chosen:
        parts["t2u_model"] = unit_model(config)
        parts["vocoder"] = vocoder(config)
    return Module(config.architecture, children=named(parts))
