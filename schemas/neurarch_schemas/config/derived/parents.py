"""What parents and their open nested configs give each other; ``composites`` says which class uses which."""

from __future__ import annotations

from collections.abc import Callable

from neurarch_schemas.config.draft import Draft, Rule, Unusable, as_integer
from neurarch_schemas.documents.json_value import JSONValue


def tied_like(key: str) -> Rule:
    """Tied when the text model says so."""

    def rule(draft: Draft) -> None:
        if not draft.flag("tie_word_embeddings") and draft.inside(key).flag("tie_word_embeddings"):
            draft.derive(
                "tie_word_embeddings", draft.inside(key).get("tie_word_embeddings"), f"{key}.tie_word_embeddings"
            )

    return rule


def take(name: str, path: str, other: str | None = None, unless_set: bool = False) -> Rule:
    """``name`` comes from the nested config at ``path``."""

    def rule(draft: Draft) -> None:
        source = draft.inside(path)
        if not source.has(other or name):
            raise Unusable(path)
        if not unless_set or draft.is_null(name):
            draft.derive(name, source.get(other or name), f"{path}.{other or name}")

    return rule


def give(
    path: str, name: str, value: Callable[[Draft], JSONValue] | str | None = None, source: str = "set by the parent"
) -> Rule:
    """The nested config at ``path`` gets a value of its parent's."""

    def rule(draft: Draft) -> None:
        found = value(draft) if callable(value) else draft.get(value or name)
        draft.inside(path).derive(name, found, source)

    return rule


def give_fixed(path: str, name: str, value: JSONValue) -> Rule:
    return give(path, name, lambda _: value)


def of(path: str, name: str) -> Callable[[Draft], JSONValue]:
    """Reads a value of another nested config."""
    return lambda draft: draft.inside(path).get(name)


def byte_latent(draft: Draft) -> None:
    if not draft.flag("encoder_hash_byte_group_size"):
        draft.derive("encoder_hash_byte_group_size", [3, 4, 5, 6, 7, 8], "default of the config class")
    draft.inside("encoder_config").derive(
        "sliding_window", draft.get("local_attention_window_len"), "local_attention_window_len"
    )
    width = draft.inside("encoder_config").integer("hidden_size") * draft.integer("cross_attn_k")
    same = width == draft.inside("global_config").integer("hidden_size")
    draft.inside("global_config").derive(
        "encoder_cross_output_size", None if same else width, "encoder hidden_size * cross_attn_k"
    )


def clap(draft: Draft) -> None:
    for key in ("text_config", "audio_config"):
        for name in ("projection_dim", "projection_hidden_act"):
            draft.inside(key).derive(name, draft.get(name), name)
    draft.derive("hidden_size", draft.inside("text_config").get("hidden_size"), "text_config.hidden_size")
    depth = draft.inside("text_config").integer("num_hidden_layers") + len(draft.inside("audio_config").items("depths"))
    draft.derive("num_hidden_layers", depth, "text layers + audio stages")


def causal_language_model(draft: Draft) -> None:
    """BLIP-2: whether the text model is a decoder."""
    from neurarch_schemas.catalogue.load import index

    model_type = draft.inside("text_config").type.model_type
    entry = index()["types"].get(model_type)
    draft.derive(
        "use_decoder_only_language_model", bool(entry and len(entry) > 2 and entry[2]), "text_config.model_type"
    )


def granite_vision(draft: Draft) -> None:
    width = draft.inside("vision_config").integer("hidden_size")
    queries = draft.inside("qformer_config")
    queries.derive("hidden_size", width, "vision_config.hidden_size")
    queries.derive("num_attention_heads", width // 64, "vision_config.hidden_size // 64")
    queries.derive("encoder_hidden_size", width, "vision_config.hidden_size")


def perceiver_width(draft: Draft) -> None:
    text, perceiver = draft.inside("text_config"), draft.inside("perceiver_config")
    if text.get("hidden_size") != perceiver.get("hidden_size"):
        perceiver.derive("hidden_size", text.get("hidden_size"), "text_config.hidden_size")
        perceiver.derive("rms_norm_eps", text.get("rms_norm_eps"), "text_config.rms_norm_eps")


def shared_kv_layers(draft: Draft) -> None:
    text = draft.inside("text_config")
    if not text.flag("num_kv_shared_layers"):
        text.derive("num_kv_shared_layers", text.get("num_hidden_layers"), "all layers")


def image_tokens(draft: Draft) -> None:
    """PaliGemma: one token a patch."""
    text, vision = draft.inside("text_config"), draft.inside("vision_config")
    if text.is_null("use_bidirectional_attention"):
        text.derive("use_bidirectional_attention", True, "set by the parent")
    side = vision.integer("image_size") // vision.integer("patch_size")
    text.derive("num_image_tokens", side**2, "(image_size // patch_size) ** 2")
    vision.derive("projection_dim", draft.get("projection_dim"), "projection_dim")


def molmo2_layers(draft: Draft) -> None:
    """Older files keep the whole vision tower; only the layers up to the last one read are built."""
    if draft.written.get("vit_config") is None:
        return
    vision, adapter = draft.inside("vision_config"), draft.inside("adapter_config")
    count = vision.integer("num_hidden_layers")
    read: list[JSONValue] = [layer % count for layer in adapter.integers("vision_feature_layer")]
    adapter.derive("vision_feature_layer", read, "counted from the first layer")
    vision.derive("num_hidden_layers", max(as_integer(layer) for layer in read) + 1, "the last layer that is read")


def t5gemma(draft: Draft) -> None:
    encoder, decoder = draft.inside("encoder"), draft.inside("decoder")
    for half in (encoder, decoder):
        half.derive("is_decoder", half is decoder, "set by the parent")
        for name in ("dropout_rate", "attention_dropout"):
            half.derive(name, draft.get(name), name)
    decoder.derive("use_cache", True, "set by the parent")
    decoder.derive("cross_attention_hidden_size", encoder.get("hidden_size"), "encoder.hidden_size")


def from_decoder(*names: str) -> Rule:
    def rule(draft: Draft) -> None:
        for name in names:
            if name not in draft.written or name in draft.type.fields:
                draft.derive(name, draft.inside("decoder").get(name), f"decoder.{name}")

    return rule


def t5gemma2(draft: Draft) -> None:
    encoder, decoder = draft.inside("encoder"), draft.inside("decoder")
    for half in (encoder.inside("text_config"), decoder):
        for name in ("dropout_rate", "attention_dropout"):
            half.derive(name, draft.get(name), name)
    encoder.inside("vision_config").derive("attention_dropout", draft.get("attention_dropout"), "attention_dropout")
    encoder.derive("image_token_index", draft.get("image_token_index"), "image_token_index")
    draft.derive("eoi_token_index", encoder.get("eoi_token_index"), "encoder.eoi_token_index")


def music_flamingo(draft: Draft) -> None:
    parameters = draft.values.get("rope_parameters")
    if isinstance(parameters, dict):
        draft.derive("max_position_embeddings", parameters.get("rope_theta"), "rope_theta")
    draft.derive("head_dim", draft.inside("audio_config").get("hidden_size"), "audio_config.hidden_size")


def codebook_sum(draft: Draft) -> None:
    if draft.is_null("codebook_dim"):
        width = draft.inside("acoustic_model_config").integer("hidden_size") + draft.inside(
            "semantic_model_config"
        ).integer("hidden_size")
        draft.derive("codebook_dim", width, "acoustic and semantic hidden sizes together")


def vocabulary_of_text(path: str) -> Rule:
    """Retrieval models read the vocabulary size from the outside."""

    def rule(draft: Draft) -> None:
        outer = draft.inside(path)
        if not outer.has("vocab_size"):
            outer.derive("vocab_size", outer.inside("text_config").get("vocab_size"), "text_config.vocab_size")

    return rule


def special_tokens_outside(draft: Draft) -> None:
    """Dia: special tokens written on the outside go to the decoder."""
    for name in ("pad_token_id", "eos_token_id", "bos_token_id"):
        if not draft.is_null(name):
            draft.inside("decoder_config").derive(name, draft.get(name), name)


def merged_patches(draft: Draft) -> None:
    """MiniMax-M3: the projector sees spatial_merge_size x spatial_merge_size patches at once."""
    side = draft.inside("vision_config").integer("spatial_merge_size")
    width = draft.inside("text_config").integer("hidden_size") * side**2
    draft.derive("merged_hidden_size", width, "text_config.hidden_size * vision_config.spatial_merge_size ** 2")


def descriptor_sizes(draft: Draft) -> None:
    """LightGlue: everything has the width of a descriptor."""
    width = draft.integer("descriptor_dim")
    draft.derive("intermediate_size", 2 * width, "2 * descriptor_dim")
    draft.derive("hidden_size", width, "descriptor_dim")


def frame_size(draft: Draft) -> None:
    """Kyutai: samples a frame of the codec stands for, its sampling rate over its frame rate."""
    codec = draft.inside("codec_config")
    rate = codec.get("frame_rate") if codec.has("frame_rate") else None
    if isinstance(rate, int | float) and rate:
        draft.derive("frame_size", int(codec.integer("sampling_rate") / rate), "sampling_rate / frame_rate")


def prior_of_labels(draft: Draft) -> None:
    """PP-DocLayout: every class is as likely as any other, or nothing.

    A written num_labels replaces another number of labels in id2label (``PreTrainedConfig.__post_init__``).
    """
    if draft.is_null("initializer_bias_prior_prob"):
        labels = draft.get("id2label")
        named = len(labels) if isinstance(labels, dict) else 2
        count = as_integer(draft.values.get("num_labels", named))
        draft.derive("initializer_bias_prior_prob", 1 / (count + 1), "1 / (number of labels + 1)")
