"""Nemotron 3 speaker diarization and Nemotron 3.5 Transcribe: transformers over stacked mel frames.

Keys may have fewer heads than queries; values always have as many as queries.
"""

from __future__ import annotations

from neurarch_schemas.architectures import build_nested
from neurarch_schemas.architectures.decoder import head_dim
from neurarch_schemas.architectures.language_heads import unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import lm_head, uniform
from neurarch_schemas.modules.attention import attention_block
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import convolution, layer_norm, linear, transposed_convolution
from neurarch_schemas.modules.tree import AttentionShape, Module, Tensor, children

MODEL_TYPES = (
    "nemotron3_diarization",
    "nemotron3_diarization_audio",
    "nemotron3_5_transcribe",
    "nemo_speechlm",
    "nemotron3_5_transcribe_audio",
    "nemotron3_5_transcribe_asr_audio",
    "nemotron3_5_transcribe_word_timestamp",
)


def layer(config: ModelConfig, normed: bool) -> Module:
    """``normed``: LayerNorm of queries and keys over each head."""
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    kv_heads, dim = config.integer("num_key_value_heads", heads), head_dim(config)
    mixer = attention_block(
        {
            "q_proj": linear(hidden, heads * dim, bias=False),
            "k_proj": linear(hidden, kv_heads * dim, bias=False),
            "v_proj": linear(hidden, heads * dim, bias=False),
            "o_proj": linear(heads * dim, hidden),
            "q_norm": layer_norm(dim) if normed else None,
            "k_norm": layer_norm(dim) if normed else None,
        },
        AttentionShape(heads, kv_heads, dim, dim, "encoder", causal=False, qk_norm=normed, position="partial rope"),
        hidden=hidden,
        caches=(),
    )
    return Module(
        "AudioLayer",
        children=children(
            self_attn=mixer,
            layer_norm1=layer_norm(hidden),
            mlp=mlp(hidden, config.integer("intermediate_size")),
            layer_norm2=layer_norm(hidden),
        ),
        width_in=hidden,
        width_out=hidden,
    )


def tower(config: ModelConfig, normed: bool) -> Module:
    hidden = config.integer("hidden_size")
    inputs = config.integer("subsampling_factor") * config.integer("num_mel_bins")
    return Module(
        "AudioModel",
        children=children(
            embedder=Module("FeatureStacking", children=children(projection=linear(inputs, hidden, bias=False))),
            input_layer_norm=layer_norm(hidden),
            layers=uniform(layer(config, normed), config.integer("num_hidden_layers")),
            layer_norm=layer_norm(hidden),
        ),
        part="audio",
        width_out=hidden,
    )


def diarization(config: ModelConfig) -> Module:
    head = config.nested_config("head_config")
    hidden = head.integer("hidden_size")
    upsampler = convolution(hidden, hidden * head.integer("subsampling_factor"), (3,))
    return Module(
        "DiarizationModel",
        children=children(
            audio_tower=tower(config.nested_config("audio_config"), normed=False),
            proj=linear(head.integer("audio_hidden_size"), hidden),
            upsampler=Module("SubpixelUpsampler", children=children(conv=upsampler)),
        ),
        part="audio",
    )


def frame_classification(config: ModelConfig) -> Module:
    head = config.nested_config("head_config")
    hidden = head.integer("hidden_size")
    silence = config.nested_config("audio_config").integer("hidden_size")
    classifier = children(dense=linear(hidden, hidden), out_proj=linear(hidden, head.integer("num_speakers")))
    return Module(
        "DiarizationForAudioFrameClassification",
        (Tensor("silence_embeds", (silence,)),),
        children(model=diarization(config), classifier=Module("ClassificationHead", children=classifier, part="head")),
    )


def transcribe_audio(config: ModelConfig) -> Module:
    recognition, speakers = config.nested_config("asr_config"), config.nested_config("diarization_config")
    count = speakers.nested_config("head_config").integer("num_speakers")
    return Module(
        "TranscribeAudioModel",
        children=children(
            asr_encoder=tower(recognition, normed=True),
            diarization_model=frame_classification(speakers),
            asr_norm=layer_norm(recognition.integer("hidden_size")),
            speaker_norm=layer_norm(count),
        ),
        part="audio",
        width_out=recognition.integer("hidden_size"),
    )


def word_timestamps(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    return Module(
        "WordTimestampModel",
        children=children(
            upsampler=transposed_convolution(hidden, hidden, (config.integer("upsampling_factor"),)),
            input_layer_norm=layer_norm(hidden),
            layers=uniform(layer(config, normed=True), config.integer("num_hidden_layers")),
            layer_norm=layer_norm(hidden),
        ),
        part="audio",
        width_out=hidden,
    )


def transcribe(config: ModelConfig) -> Module:
    audio, text = config.nested_config("audio_config"), config.nested_config("text_config")
    stamps = config.nested_config("word_timestamp_config")
    width = audio.nested_config("asr_config").integer("hidden_size")
    model = Module(
        "TranscribeModel",
        children=children(
            audio_tower=transcribe_audio(audio),
            language_model=build_nested(config, "text_config"),
            multi_modal_projector=linear(width, text.integer("hidden_size"), part="projector"),
            word_timestamp_encoder=word_timestamps(stamps),
        ),
    )
    if config.architecture.endswith("Model"):
        return model
    head = convolution(stamps.integer("hidden_size"), stamps.integer("vocab_size"), (1,)).with_(part="head")
    # The class declares no tied weights.
    top = lm_head(text.integer("hidden_size"), text.integer("vocab_size"))
    return Module(config.architecture, children=children(model=model, lm_head=top, word_timestamp_head=head))


def build(config: ModelConfig) -> Module:
    kind, architecture = config.model_type, config.architecture
    if kind == "nemotron3_diarization" and architecture.endswith("ForAudioFrameClassification"):
        return frame_classification(config)
    if kind in ("nemotron3_5_transcribe", "nemo_speechlm") and architecture.endswith(
        ("Model", "ForConditionalGeneration")
    ):
        return transcribe(config)
    if not architecture.endswith("Model"):
        raise unknown_head(architecture)
    if kind == "nemotron3_diarization":
        return diarization(config)
    if kind == "nemotron3_5_transcribe_audio":
        return transcribe_audio(config)
    if kind == "nemotron3_5_transcribe_word_timestamp":
        return word_timestamps(config)
    return tower(config, normed=kind == "nemotron3_5_transcribe_asr_audio")
