"""Speech and audio models and codecs."""

from __future__ import annotations

from collections.abc import Mapping
from math import log2, prod

from neurarch_schemas.config.derived.vocabulary import (
    computed,
    default,
    default_unless_set,
    fixed,
    head_dim,
    head_dim_or_zero,
    keyword_default,
    kv_heads,
    same_as,
    same_as_unless_set,
    short,
)
from neurarch_schemas.config.draft import Draft, Rule
from neurarch_schemas.documents.json_value import JSONValue


def feature_layers(draft: Draft) -> None:
    draft.derive("num_feat_extract_layers", len(draft.items("conv_dim")), "length of conv_dim")


def dac(draft: Draft) -> None:
    ratios = draft.integers("downsampling_ratios")
    draft.derive("upsampling_ratios", [*reversed(ratios)], "downsampling_ratios, reversed")
    draft.derive(
        "hidden_size",
        draft.integer("encoder_hidden_size") * 2 ** short(len(ratios)),
        "encoder_hidden_size, doubled at each ratio",
    )
    draft.derive("hop_length", prod(ratios), "product of downsampling_ratios")


# FastSpeech2: settings of the encoder and of the decoder in one object each.
CONFORMER = {
    "num_attention_heads": "num_attention_heads",
    "layers": "layers",
    "kernel_size": "kernel_size",
    "attention_dropout_rate": "attention_dropout_rate",
    "dropout_rate": "dropout_rate",
    "positional_dropout_rate": "positional_dropout_rate",
    "linear_units": "linear_units",
    "normalize_before": "normalize_before",
    "concat_after": "concat_after",
}


def conformers(draft: Draft) -> None:
    for half in ("encoder", "decoder"):
        settings: dict[str, JSONValue] = {name: draft.get(f"{half}_{key}") for name, key in CONFORMER.items()}
        draft.derive(f"{half}_config", settings, f"keys that begin with {half}_")


def shrunken_input(draft: Draft) -> None:
    """Phi-4 multimodal: the input width after the subsampling convolutions."""
    size = draft.integer("input_size")
    for _ in range(short(int(log2(draft.integer("time_reduction"))))):
        size = (size - 1) // 2 + 1
    draft.derive("nemo_final_size", size, "input_size, halved log2(time_reduction) times")


def rope_default(fraction: float) -> Rule:
    return default(
        "rope_parameters", {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": fraction}
    )


def conformer_head(draft: Draft) -> None:
    """Granite speech: the width is shared out among the heads unless the head size is given."""
    if draft.is_null("dim_head"):
        draft.derive("dim_head", draft.integer("hidden_dim") // draft.integer("num_heads"), "hidden_dim // num_heads")


def local_heads(draft: Draft) -> None:
    if not draft.flag("num_key_value_heads"):
        draft.derive("num_key_value_heads", draft.get("num_attention_heads"), "num_attention_heads")


def byte_head(draft: Draft) -> None:
    draft.derive(
        "head_dim",
        draft.integer("hidden_size") // draft.integer("num_attention_heads"),
        "hidden_size // num_attention_heads",
    )


def byte_width(draft: Draft) -> None:
    if not draft.flag("intermediate_size"):
        draft.derive("intermediate_size", int(8 * draft.integer("hidden_size") / 3), "8/3 * hidden_size")


UNTIED: Rule = fixed("tie_word_embeddings", False)
OUTPUT = same_as_unless_set("output_hidden_size", "hidden_size")
RESBLOCKS = default("resblock_dilation_sizes", [[1, 3, 5], [1, 3, 5], [1, 3, 5]])

BEFORE: Mapping[str, tuple[Rule, ...]] = {
    **dict.fromkeys(
        ["HubertConfig", "SEWConfig", "SEWDConfig", "SpeechT5Config", "UniSpeechConfig", "UniSpeechSatConfig"],
        (feature_layers,),
    ),
    **dict.fromkeys(
        ["Wav2Vec2Config", "Wav2Vec2ConformerConfig", "WavLMConfig", "Data2VecAudioConfig"], (feature_layers, OUTPUT)
    ),
    **dict.fromkeys(
        ("BltLocalDecoderConfig", "BltGlobalTransformerConfig"), (local_heads, byte_head, byte_width, UNTIED)
    ),
    "BltLocalEncoderConfig": (local_heads, byte_width, UNTIED),
    "BltPatcherConfig": (
        local_heads,
        byte_head,
        byte_width,
        UNTIED,
        fixed("hidden_act", "silu"),
    ),
    "DacConfig": (dac,),
    "EncodecConfig": (same_as("codebook_dim", "hidden_size"),),
    "FastSpeech2ConformerConfig": (conformers,),
    "FastSpeech2ConformerHifiGanConfig": (RESBLOCKS,),
    "MimiConfig": (
        default_unless_set("upsampling_ratios", [8, 6, 5, 4]),
        same_as("codebook_dim", "hidden_size"),
        head_dim_or_zero,
    ),
    "MoonshineStreamingEncoderConfig": (head_dim,),
    "MoonshineStreamingConfig": (rope_default(0.8), head_dim),
    "Nemotron3_5TranscribeAsrAudioConfig": (rope_default(0.5), keyword_default("partial_rotary_factor", 1.0), kv_heads),
    "Nemotron3_5TranscribeWordTimestampConfig": (kv_heads, rope_default(0.5)),
    "Nemotron3DiarizationAudioConfig": (keyword_default("partial_rotary_factor", 1.0), kv_heads),
    "Phi4MultimodalAudioConfig": (shrunken_input,),
    "PocketTTSAudioTokenizerConfig": (default_unless_set("upsampling_ratios", [6, 5, 4]), head_dim_or_zero),
    "Wav2Vec2BertConfig": (OUTPUT,),
}
ROPE: Mapping[str, tuple[Rule, ...]] = {}
AFTER: Mapping[str, tuple[Rule, ...]] = {
    **dict.fromkeys(("GraniteSpeechEncoderConfig", "GraniteSpeechPlusEncoderConfig"), (conformer_head,)),
    "Apertus1p5VisionTokenizerConfig": (
        computed(
            "spatial_scale_factor",
            lambda draft: 2 ** (short(len(draft.items("channel_multiplier"))) - 1),
            "doubled at each level",
        ),
    ),
}
