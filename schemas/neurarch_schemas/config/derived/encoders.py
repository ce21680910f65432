"""Text encoders, encoder-decoders and time-series models."""

from __future__ import annotations

from collections.abc import Mapping

from neurarch_schemas.config.derived.vocabulary import (
    computed,
    computed_default,
    default,
    dropped,
    fixed,
    keyword_default,
    same_as,
    same_as_unless_set,
    short,
)
from neurarch_schemas.config.draft import Draft, Rule, Unusable, as_integer
from neurarch_schemas.documents.json_value import JSONValue


def gated_activation(new_gelu: bool = True) -> Rule:
    """T5: ``feed_forward_proj`` names the activation, and whether the feed-forward is gated."""

    def rule(draft: Draft) -> None:
        parts = draft.text("feed_forward_proj").split("-")
        draft.derive("dense_act_fn", parts[-1], "feed_forward_proj")
        draft.derive("is_gated_act", parts[0] == "gated", "feed_forward_proj")
        if new_gelu and draft.get("feed_forward_proj") == "gated-gelu":
            draft.derive("dense_act_fn", "gelu_new", "feed_forward_proj")

    return rule


def scaled_output(draft: Draft) -> None:
    """The decoder's output is scaled unless ``tie_word_embeddings`` is written as false; the tables are always tied."""
    written = draft.take("tie_word_embeddings")
    if "tie_word_embeddings" in draft.type.fields:
        written = draft.get("tie_word_embeddings")
        draft.derive("scale_decoder_outputs", written, "tie_word_embeddings")
    else:
        draft.derive("scale_decoder_outputs", written is not False, "tie_word_embeddings")
    draft.derive("tie_word_embeddings", True, "always so for this type")


def always_tied(draft: Draft) -> None:
    draft.take("tie_word_embeddings")
    draft.derive("tie_word_embeddings", True, "always so for this type")


def sparse_steps(draft: Draft) -> None:
    """Switch Transformers: every how many layers there are experts."""
    for count, sparse, step in (
        ("num_layers", "num_sparse_encoder_layers", "encoder_sparse_step"),
        ("num_decoder_layers", "num_sparse_decoder_layers", "decoder_sparse_step"),
    ):
        total, chosen = draft.integer(count), draft.integer(sparse)
        draft.derive(step, total // chosen if chosen > 0 else total, f"{count} // {sparse}")


def position_terms(draft: Draft) -> None:
    """DeBERTa: "c2p|p2c" is a list of terms."""
    terms = draft.get("pos_att_type")
    if isinstance(terms, str):
        parts: list[JSONValue] = [part.strip() for part in terms.lower().split("|")]
        draft.derive("pos_att_type", parts, "split at |")
    width = draft.keywords.get("pooler_hidden_size", draft.get("hidden_size"))
    draft.derive("pooler_hidden_size", width, "hidden_size")


def bottleneck(draft: Draft) -> None:
    name = "intra_bottleneck_size" if draft.flag("use_bottleneck") else "hidden_size"
    draft.derive("true_hidden_size", draft.get(name), name)


def box_embeddings(draft: Draft) -> None:
    """Bros: sizes of the bounding-box embedding."""
    plane = draft.integer("hidden_size") // 4
    draft.derive("dim_bbox_sinusoid_emb_2d", plane, "hidden_size // 4")
    draft.derive("dim_bbox_sinusoid_emb_1d", plane // draft.integer("dim_bbox"), "dim_bbox_sinusoid_emb_2d // dim_bbox")
    head = draft.integer("hidden_size") // draft.integer("num_attention_heads")
    draft.derive("dim_bbox_projection", head, "hidden_size // num_attention_heads")


def funnel_blocks(draft: Draft) -> None:
    if draft.is_null("block_repeats"):
        draft.derive("block_repeats", [1] * len(draft.items("block_sizes")), "once each")


def funnel_counts(draft: Draft) -> None:
    sizes = draft.integers("block_sizes")
    draft.derive("num_hidden_layers", sum(sizes), "sum of block_sizes")
    draft.derive("num_blocks", len(sizes), "length of block_sizes")


def expand_attention_types(draft: Draft) -> None:
    """GPT-Neo: ``[[["global", "local"], 12]]`` stands for twelve times both."""
    groups = draft.get("attention_types")
    if groups is None:
        groups = [[["global", "local"], 12]]
        draft.derive("attention_types", groups, "default of the config class")
    expanded: list[JSONValue] = []
    for group in groups if isinstance(groups, list) else []:
        if not isinstance(group, list) or len(group) != 2 or not isinstance(group[0], list):
            raise Unusable(group)
        times = short(as_integer(group[1]))
        short(times * len(group[0]))
        expanded += group[0] * times
    draft.derive("attention_layers", expanded, "attention_types")


def hrm_layers(draft: Draft) -> None:
    """Two stacks run in cycles; the layers count once for each pass."""
    if draft.is_null("num_layers_per_stack"):
        stack = draft.integer("num_hidden_layers")
        passes = draft.integer("H_cycles") * (draft.integer("L_cycles") + 1)
        draft.derive("num_layers_per_stack", stack, "num_hidden_layers")
        draft.derive("num_hidden_layers", stack * passes, "num_layers_per_stack * H_cycles * (L_cycles + 1)")


def lxmert_layers(draft: Draft) -> None:
    counts: dict[str, JSONValue] = {
        "vision": draft.get("r_layers"),
        "cross_encoder": draft.get("x_layers"),
        "language": draft.get("l_layers"),
    }
    draft.derive("num_hidden_layers", counts, "r_layers, x_layers, l_layers")


def xlnet_head(draft: Draft) -> None:
    if not draft.flag("d_head"):
        draft.derive("d_head", draft.integer("d_model") // draft.integer("n_head"), "d_model // n_head")


def atom_features(draft: Draft) -> None:
    if draft.is_null("atom_feature_dim"):
        size = 5 + draft.integer("max_atomic_number") + draft.integer("char_vocab_size") * draft.integer("max_chars")
        draft.derive("atom_feature_dim", size, "max_atomic_number + char_vocab_size * max_chars + 5")


def series_features(draft: Draft) -> None:
    """Forecasting models: the width of one time step."""
    static = draft.integer("num_static_categorical_features")
    if not (draft.flag("cardinality") and static > 0):
        draft.derive("cardinality", [0], "no static categories")
    if not (draft.flag("embedding_dimension") and static > 0):
        sizes: list[JSONValue] = [min(50, (as_integer(count) + 1) // 2) for count in draft.items("cardinality")]
        draft.derive("embedding_dimension", sizes, "min(50, (cardinality + 1) // 2)")
    if not draft.flag("context_length"):
        draft.derive("context_length", draft.get("prediction_length"), "prediction_length")
    if draft.is_null("lags_sequence"):
        draft.derive("lags_sequence", [1, 2, 3, 4, 5, 6, 7], "default of the config class")
    features = (
        sum(draft.integers("embedding_dimension"))
        + draft.integer("num_dynamic_real_features")
        + draft.integer("num_time_features")
        + draft.integer("num_static_real_features")
        + draft.integer("input_size") * 2
    )
    width = draft.integer("input_size") * len(draft.items("lags_sequence")) + features
    draft.derive("feature_size", width, "input_size * lags + features")


def mixer_patches(draft: Draft) -> None:
    length, patch = draft.integer("context_length"), draft.integer("patch_length")
    count = (max(length, patch) - patch) // draft.integer("patch_stride") + 1
    draft.derive("num_patches", count, "context_length, patch_length, patch_stride")


def reformer_layers(draft: Draft) -> None:
    draft.derive("num_hidden_layers", len(draft.items("attn_layers")), "length of attn_layers")


def image_token(draft: Draft) -> None:
    """The id of "<image>" in the vocabulary."""
    vocabulary = draft.get("vocabulary_map")
    found = vocabulary.get("<image>") if isinstance(vocabulary, dict) else None
    draft.derive("image_token_id", found, "vocabulary_map")


def three_labels(draft: Draft) -> None:
    draft.take("num_labels")


T5_DEPTH = same_as("num_decoder_layers", "num_layers")
SERIES = (series_features,)

BEFORE: Mapping[str, tuple[Rule, ...]] = {
    **dict.fromkeys(("T5Config", "UMT5Config", "LongT5Config"), (T5_DEPTH, gated_activation(), scaled_output)),
    **dict.fromkeys(("DebertaConfig", "DebertaV2Config"), (position_terms,)),
    **dict.fromkeys(("AutoformerConfig", "InformerConfig", "TimeSeriesTransformerConfig"), SERIES),
    **dict.fromkeys(("ChameleonConfig", "Emu3Config"), (image_token,)),
    "BartConfig": (three_labels,),
    "BrosConfig": (box_embeddings,),
    "EsmFold2Config": (atom_features,),
    "FSMTConfig": (dropped("decoder"),),
    "FunnelConfig": (funnel_blocks,),
    "GPTNeoConfig": (expand_attention_types,),
    "HrmTextConfig": (
        default("L_bp_cycles", [2]),
        computed_default(
            "embedding_scale", lambda draft: 1.0 / draft.number("initializer_range"), "1 / initializer_range"
        ),
        hrm_layers,
    ),
    "LxmertConfig": (lxmert_layers,),
    "MarianConfig": (same_as_unless_set("decoder_vocab_size", "vocab_size"),),
    "MobileBertConfig": (bottleneck,),
    "MoonshineConfig": (
        same_as("encoder_num_key_value_heads", "encoder_num_attention_heads"),
        same_as("decoder_num_key_value_heads", "decoder_num_attention_heads"),
        keyword_default("partial_rotary_factor", 0.9),
    ),
    "MT5Config": (T5_DEPTH, gated_activation(), always_tied),
    "PatchTSMixerConfig": (mixer_patches, fixed("patch_last", True)),
    "Pop2PianoConfig": (
        T5_DEPTH,
        computed(
            "is_gated_act", lambda draft: draft.text("feed_forward_proj").split("-")[0] == "gated", "feed_forward_proj"
        ),
        scaled_output,
    ),
    "ReformerConfig": (reformer_layers,),
    "RoFormerConfig": (same_as("embedding_size", "hidden_size"),),
    "SwitchTransformersConfig": (T5_DEPTH, sparse_steps),
    "TapasConfig": (),
    "UdopConfig": (
        default("relative_bias_args", [{"type": "1d"}, {"type": "horizontal"}, {"type": "vertical"}]),
        T5_DEPTH,
        gated_activation(new_gelu=False),
        always_tied,
    ),
    "ViltConfig": (always_tied,),
    "XLNetConfig": (xlnet_head,),
}
ROPE: Mapping[str, tuple[Rule, ...]] = {}
AFTER: Mapping[str, tuple[Rule, ...]] = {"FunnelConfig": (funnel_counts,)}
