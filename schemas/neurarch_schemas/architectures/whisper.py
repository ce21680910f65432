"""Speech encoder-decoders with BART's layers over convolved spectrograms: Whisper and Speech2Text."""

from __future__ import annotations

from neurarch_schemas.architectures.language_heads import head_name, label_count, unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import in_part
from neurarch_schemas.modules.encoder import bart_decoder_layer, bart_encoder_layer, encoder_attention
from neurarch_schemas.modules.layers import convolution, embedding, layer_norm, linear, position_embedding
from neurarch_schemas.modules.tree import Module, Stack, Tensor, named, stack

MODEL_TYPES = ("whisper", "speech_to_text")


def subsampler(config: ModelConfig) -> Stack:
    """Speech2Text's strided convolutions, each followed by a gated linear unit that halves the channels."""
    kernels, middle = config.integers("conv_kernel_sizes"), config.integer("conv_channels")
    first = config.integer("input_feat_per_channel") * config.integer("input_channels")
    last = len(kernels) - 1
    layers = [
        convolution(
            first if index == 0 else middle // 2,
            middle if index < last else 2 * config.integer("d_model"),
            (kernel,),
        )
        for index, kernel in enumerate(kernels)
    ]
    return stack(*layers)


def audio_encoder(config: ModelConfig) -> Module:
    """Keys have no bias in Whisper; its sinusoidal positions are a frozen parameter."""
    hidden, heads, whisper = (
        config.integer("d_model"),
        config.integer("encoder_attention_heads"),
        config.model_type == "whisper",
    )
    attention = encoder_attention(hidden, heads, key_bias=not whisper)
    layer = bart_encoder_layer(hidden, heads, config.integer("encoder_ffn_dim"), attention=attention)
    front: dict[str, Module | Stack | None]
    if whisper:
        front = {
            "conv1": convolution(config.integer("num_mel_bins"), hidden, (3,)),
            "conv2": convolution(hidden, hidden, (3,)),
            "embed_positions": position_embedding(config.integer("max_source_positions"), hidden),
        }
    else:
        front = {"conv.conv_layers": subsampler(config)}
    children = named(
        {**front, "layers": stack(layer, times=config.integer("encoder_layers")), "layer_norm": layer_norm(hidden)}
    )
    return in_part(Module("Encoder", children=children), "audio")


def decoder(config: ModelConfig, *, alone: bool) -> Module:
    hidden, whisper = config.integer("d_model"), config.model_type == "whisper"
    layer = bart_decoder_layer(
        hidden,
        config.integer("decoder_attention_heads"),
        config.integer("decoder_ffn_dim"),
        key_bias=not whisper,
        source_length=None if alone else config.integer("max_source_positions"),
        source_cached=not alone,
    )
    positions = position_embedding(config.integer("max_target_positions"), hidden) if whisper else None
    return Module(
        "Decoder",
        children=named(
            {
                "embed_tokens": embedding(config.integer("vocab_size"), hidden, lookup=True),
                "embed_positions": positions,
                "layers": stack(layer, times=config.integer("decoder_layers")),
                "layer_norm": layer_norm(hidden),
            }
        ),
    )


def build(config: ModelConfig) -> Module:
    head, hidden = head_name(config.architecture), config.integer("d_model")
    whisper = config.model_type == "whisper"
    if head == "ForAudioClassification" and whisper:
        width = config.integer("classifier_proj_size")
        weights: tuple[Tensor, ...] = ()
        if config.flag("use_weighted_layer_sum"):
            weights = (Tensor("layer_weights", (config.integer("encoder_layers") + 1,)),)
        parts: dict[str, Module | Stack | None] = {
            "encoder": audio_encoder(config),
            "projector": linear(hidden, width, part="head"),
            "classifier": linear(width, label_count(config), part="head"),
        }
        return Module(config.architecture, weights, named(parts))
    if config.architecture == "WhisperEncoder":
        return audio_encoder(config)
    if head not in ("Model", "ForConditionalGeneration") and not (head == "ForCausalLM" and whisper):
        raise unknown_head(config.architecture)
    alone = head == "ForCausalLM"
    model = Module(
        "Model",
        children=named({"encoder": None if alone else audio_encoder(config), "decoder": decoder(config, alone=alone)}),
    )
    if head == "Model":
        return model
    tied = "model.decoder.embed_tokens.weight" if config.flag("tie_word_embeddings") else None
    output = linear(hidden, config.integer("vocab_size"), bias=False, tied_to=tied, part="head")
    return Module(config.architecture, children=named({"model": model, "proj_out" if whisper else "lm_head": output}))
