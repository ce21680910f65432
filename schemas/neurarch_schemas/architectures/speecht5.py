"""SpeechT5 (arXiv:2110.07205): one encoder-decoder with relative positions for speech and text, and its vocoder."""

from __future__ import annotations

from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.architectures.wav2vec2 import FEED_FORWARD, projection
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import in_part, uniform
from neurarch_schemas.modules.encoder import encoder_attention
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import layer_norm, linear, position_embedding, token_embedding
from neurarch_schemas.modules.speech import feature_encoder, positional_convolution
from neurarch_schemas.modules.tree import Module, Stack, Tensor, concatenate, named, stack
from neurarch_schemas.modules.vocoder import hifi_gan, postnet

MODEL_TYPES = ("speecht5", "hifigan")


def speech_front(config: ModelConfig) -> Module:
    """The vector that replaces masked frames exists only where masking does."""
    hidden = config.integer("hidden_size")
    masks = config.number("mask_time_prob", 0.0) > 0 or config.number("mask_feature_prob", 0.0) > 0
    parts: dict[str, Module | Stack | None] = {
        "feature_encoder": feature_encoder(config, config.text("feat_extract_norm")),
        "feature_projection": projection(config.integers("conv_dim")[-1], hidden, norm=True),
        "pos_conv_embed": positional_convolution(config),
    }
    return Module("SpeechFront", (Tensor("masked_spec_embed", (hidden,)),) if masks else (), named(parts))


def encoder(config: ModelConfig) -> Module:
    hidden, heads = config.integer("hidden_size"), config.integer("encoder_attention_heads")
    layer: dict[str, Module | Stack | None] = {
        "attention": encoder_attention(hidden, heads, position="relative"),
        "layer_norm": layer_norm(hidden),
        "feed_forward": mlp(hidden, config.integer("encoder_ffn_dim"), names=FEED_FORWARD),
        "final_layer_norm": layer_norm(hidden),
    }
    rows = 2 * config.integer("encoder_max_relative_position")
    parts: dict[str, Module | Stack | None] = {
        "layer_norm": layer_norm(hidden),
        "layers": uniform(Module("EncoderLayer", children=named(layer)), config.integer("encoder_layers")),
        "embed_positions.pe_k": position_embedding(rows, hidden // heads),
    }
    return Module("Encoder", children=named(parts))


def decoder(config: ModelConfig) -> Module:
    hidden, heads = config.integer("hidden_size"), config.integer("decoder_attention_heads")
    layer: dict[str, Module | Stack | None] = {
        "self_attn": encoder_attention(hidden, heads, role="decoder", position="sinusoidal"),
        "self_attn_layer_norm": layer_norm(hidden),
        "encoder_attn": encoder_attention(
            hidden, heads, role="cross", source_length=config.integer("max_speech_positions")
        ),
        "encoder_attn_layer_norm": layer_norm(hidden),
        "feed_forward": mlp(hidden, config.integer("decoder_ffn_dim"), names=FEED_FORWARD),
        "final_layer_norm": layer_norm(hidden),
    }
    block = Module("DecoderLayer", children=named(layer))
    return Module("Decoder", children=named({"layers": uniform(block, config.integer("decoder_layers"))}))


def vocoder(config: ModelConfig) -> Module:
    """HiFi-GAN, with the statistics of the spectrogram as buffers."""
    bins = config.integer("model_in_dim")
    statistics = (Tensor("mean", (bins,), "buffer"), Tensor("scale", (bins,), "buffer"))
    return Module("Vocoder", statistics, named(hifi_gan(config, bins)), part="audio")


def scaled_positions() -> Module:
    """Sinusoids times one learned number."""
    return Module("ScaledPositions", (Tensor("alpha", ()),), part="position")


def speech_to_text(config: ModelConfig) -> Module:
    hidden, vocabulary = config.integer("hidden_size"), config.integer("vocab_size")
    speech = {"prenet": speech_front(config), "wrapped_encoder": encoder(config)}
    text = {"prenet.embed_tokens": token_embedding(vocabulary, hidden), "wrapped_decoder": decoder(config)}
    parts: dict[str, Module | Stack | None] = {
        "encoder": in_part(Module("SpeechEncoder", children=named(speech)), "audio"),
        "decoder": Module("TextDecoder", children=named(text)),
    }
    tied = "speecht5.decoder.prenet.embed_tokens.weight" if config.flag("tie_word_embeddings") else None
    output = linear(hidden, vocabulary, bias=False, tied_to=tied, part="head")
    model = Module("Model", children=named(parts))
    return Module(config.architecture, children=named({"speecht5": model, "text_decoder_postnet.lm_head": output}))


def to_speech(config: ModelConfig, *, from_text: bool) -> Module:
    """The decoder reads spectrogram frames and the speaker's embedding, and predicts ``reduction_factor`` frames."""
    hidden, bins, units = (
        config.integer("hidden_size"),
        config.integer("num_mel_bins"),
        config.integer("speech_decoder_prenet_units"),
    )
    steps = config.integer("speech_decoder_prenet_layers")
    first = stack(linear(bins, units), times=min(steps, 1))
    speaker = config.integer("speaker_embedding_dim")
    front: dict[str, Module | Stack | None] = {
        "layers": concatenate(first, stack(linear(units, units), times=steps - 1)),
        "final_layer": linear(units, hidden),
        "encode_positions": scaled_positions(),
        "speaker_embeds_layer": linear(speaker + hidden, hidden),
    }
    source: dict[str, Module | Stack | None] = {"prenet": speech_front(config)}
    if from_text:
        source = {
            "prenet.embed_tokens": token_embedding(config.integer("vocab_size"), hidden),
            "prenet.encode_positions": scaled_positions(),
        }
    source["wrapped_encoder"] = encoder(config)
    speech = {"prenet": Module("SpeechFront", children=named(front)), "wrapped_decoder": decoder(config)}
    factor = config.integer("reduction_factor")
    output: dict[str, Module | Stack | None] = {
        "feat_out": linear(hidden, bins * factor),
        "prob_out": linear(hidden, factor),
        "layers": postnet(config),
    }
    reader = Module("Encoder", children=named(source))
    parts = {
        "speecht5.encoder": reader if from_text else in_part(reader, "audio"),
        "speecht5.decoder": Module("SpeechDecoder", children=named(speech)),
        "speech_decoder_postnet": Module("SpeechPostnet", children=named(output), part="head"),
    }
    return Module(config.architecture, children=named(parts))


def build(config: ModelConfig) -> Module:
    head = head_name(config.architecture)
    if config.model_type == "hifigan":
        return vocoder(config)
    if head == "Model":
        parts = {"encoder.wrapped_encoder": encoder(config), "decoder.wrapped_decoder": decoder(config)}
        return Module("Model", children=named({**parts}))
    if head == "ForSpeechToText":
        return speech_to_text(config)
    if head in ("ForTextToSpeech", "ForSpeechToSpeech"):
        return to_speech(config, from_text=head == "ForTextToSpeech")
    raise unknown_head(config.architecture)
