"""Pocket TTS and Gradium Phonon: a language model over text and audio whose head denoises the next latent by a flow."""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import head_dim
from neurarch_schemas.architectures.language_heads import unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.attention import attention
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import embedding, layer_norm, linear, rms_norm, token_embedding
from neurarch_schemas.modules.tree import Module, Stack, Tensor, children, concatenate

MODEL_TYPES = ("pocket_tts", "gradium_phonon_tts")


def layer(config: ModelConfig) -> Module:
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    mixer = attention(
        hidden,
        heads,
        config.integer("num_key_value_heads", heads),
        head_dim(config),
        bias=config.flag("attention_bias"),
    )
    return Module(
        "DecoderLayer",
        children=children(
            self_attn=mixer,
            mlp=mlp(hidden, config.integer("intermediate_size"), bias=False),
            input_layernorm=layer_norm(hidden),
            post_attention_layernorm=layer_norm(hidden),
        ),
        width_in=hidden,
        width_out=hidden,
    )


def language_model(config: ModelConfig) -> Module:
    """Text, a prompt's audio and latents all become embeddings.

    Gradium Phonon is also told the number of speakers and a change of duration.
    """
    hidden, latent = config.integer("hidden_size"), config.integer("latent_dim")
    told: dict[str, Module | Stack | None] = {}
    prompt = latent
    if config.model_type == "gradium_phonon_tts":
        prompt, width = config.integer("audio_prompt_dim"), config.integer("num_speakers_embedding_dim")
        speakers = embedding(config.integer("num_speakers_vocab_size"), width, lookup=True)
        durations = linear(config.integer("duration_delta_embedding_dim"), hidden, bias=False)
        told = {
            "num_speakers_embed": speakers,
            "num_speakers_proj": linear(width, hidden, bias=False),
            "duration_delta_proj": durations,
        }
    return Module(
        "Model",
        (Tensor("bos_latent", (latent,)),),
        children(
            embed_tokens=token_embedding(config.integer("vocab_size"), hidden),
            layers=uniform(layer(config), config.integer("num_hidden_layers")),
            norm=layer_norm(hidden),
            audio_prompt_proj=linear(prompt, hidden, bias=False),
            audio_latent_proj=linear(latent, hidden, bias=False),
            **told,
        ),
        width_out=hidden,
    )


def time_embedding(config: ModelConfig) -> Module:
    hidden, frequencies = config.integer("hidden_size"), config.integer("frequency_embedding_size")
    return Module(
        "TimestepEmbedding",
        (Tensor("freqs", (frequencies // 2,), "buffer"),),
        children(fc1=linear(frequencies, hidden), fc2=linear(hidden, hidden), norm=rms_norm(hidden)),
    )


def flow_head(config: ModelConfig) -> Module:
    """Adaptive layer norms scale and shift by the language model's state and, for "lsd", both flow times."""
    hidden, latent = config.integer("hidden_size"), config.integer("latent_dim")
    block = Module(
        "FlowBlock",
        children=children(
            norm=layer_norm(hidden),
            fc1=linear(hidden, hidden),
            fc2=linear(hidden, hidden),
            adaln_proj=linear(hidden, 3 * hidden),
        ),
    )
    last = Module("FlowFinal", children=children(adaln_proj=linear(hidden, 2 * hidden), proj=linear(hidden, latent)))
    return Module(
        "FlowHead",
        children=children(
            input_proj=linear(latent, hidden),
            cond_proj=linear(config.integer("condition_dim"), hidden),
            timestep_embeddings=uniform(time_embedding(config), 2 if config.text("flow_type") == "lsd" else 0),
            layers=uniform(block, config.integer("num_hidden_layers")),
            final_layer=last,
        ),
        part="head",
    )


def loss_weighting(config: ModelConfig) -> Module:
    """Used in training alone."""
    width, count = config.integer("loss_weighting_hidden_size"), config.integer("loss_weighting_num_layers")
    maps = concatenate(uniform(linear(2, width), 1), uniform(linear(width, width), count - 1)) if count else Stack(())
    return Module(
        "FlowLossWeighting", children=children(layers=maps, proj=linear(width if count else 2, 1)), part="head"
    )


def build(config: ModelConfig) -> Module:
    if config.architecture.endswith("Model"):
        return language_model(config)
    if not config.architecture.endswith("ForConditionalGeneration"):
        raise unknown_head(config.architecture)
    flow, latent = config.nested_config("flow_head_config"), config.integer("latent_dim")
    statistics = tuple(Tensor(name, (latent,), "buffer") for name in ("latent_mean", "latent_std"))
    return Module(
        config.architecture,
        (*statistics, Tensor("latent_stats_num_updates", (), "buffer")),
        children(
            model=language_model(config),
            flow_head=flow_head(flow),
            eos_head=linear(config.integer("hidden_size"), 1, part="head"),
            loss_weighting=loss_weighting(flow),
        ),
    )
