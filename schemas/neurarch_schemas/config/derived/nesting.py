"""Derivations between a parent config and its nested configs; ``composites`` says which class uses which."""

from __future__ import annotations

from collections.abc import Callable

from neurarch_schemas.catalogue.load import config_type
from neurarch_schemas.config.draft import Draft, Rule, as_integer
from neurarch_schemas.documents.json_value import JSONValue

# Before the nested configs are opened.


def completed(*keys: str) -> Rule:
    """What a nested config does not write comes from the parent's defaults for it, not from its own type's."""

    def rule(draft: Draft) -> None:
        for key in keys:
            value = draft.values.get(key)
            if isinstance(value, dict):
                draft.values[key] = {**(draft.type.nested[key].settings or {}), **value}

    return rule


def retyped(key: str, new: str, *old: str | None) -> Rule:
    """Names of nested types that were used before they had a type of their own."""

    def rule(draft: Draft) -> None:
        value = draft.nested_values(key)
        if value is not None and (not old or value.get("model_type") in old):
            value["model_type"] = new

    return rule


def flat(key: str, *extra: str, only_defaults: bool = False) -> Rule:
    """Older files write the keys of the text model beside the others; they are moved into the nested config."""

    def rule(draft: Draft) -> None:
        if draft.values.get(key) is not None:
            return
        nested = draft.type.nested[key]
        record = config_type(nested.record or nested.model_type)
        if record is None:
            return
        names = set(nested.settings or ()) if only_defaults else record.fields | set(extra)
        found = {name: draft.take(name) for name in [name for name in draft.keywords if name in names | ROPE_KEYS]}
        if found or not only_defaults:
            place(draft, key, draft.pointer, found)
        if found and only_defaults:
            draft.values[key] = {"partial_rotary_factor": 0.5, **found}

    return rule


def everything_flat(key: str, keep_type: bool = False) -> Rule:
    """As ``flat``; the nested config gets every key that is not the parent's own."""

    def rule(draft: Draft) -> None:
        if draft.values.get(key) is None:
            found = {name: value for name, value in draft.keywords.items() if keep_type or name != "model_type"}
            place(draft, key, draft.pointer, found)

    return rule


def place(draft: Draft, key: str, pointer: str, found: dict[str, JSONValue]) -> None:
    """The nested config is written at ``pointer``, with these keys."""
    draft.values[key] = found
    draft.places[key] = (pointer, {name: value for name, value in found.items() if name != "model_type"})


ROPE_KEYS = {"rope_parameters", "rope_scaling", "rope_theta"}


def moved(old: str, key: str) -> Rule:
    """A nested config under an older key."""

    def rule(draft: Draft) -> None:
        value = draft.take(old)
        if isinstance(value, dict) and draft.values.get(key) is None:
            place(draft, key, f"{draft.pointer}/{old}", value)

    return rule


def legacy_nested(*keys: str) -> Rule:
    """CLIP and its relatives: ``text_config_dict`` takes the place of ``text_config``."""

    def rule(draft: Draft) -> None:
        for key in keys:
            old = f"{key}_dict"
            value = draft.take(old)
            if isinstance(value, dict):
                place(draft, key, f"{draft.pointer}/{old}", value)

    return rule


def timm_backbone(channels: bool, indices: Callable[[Draft], JSONValue] | None = None) -> Rule:
    """DETR: a ResNet-50 from timm unless another backbone is described."""

    def rule(draft: Draft) -> None:
        if draft.values.get("backbone_config") is not None or not draft.take("use_timm_backbone", True):
            return
        settings = draft.keywords.get("backbone_kwargs")
        if settings:
            return
        backbone: dict[str, JSONValue] = {
            "model_type": "timm_backbone",
            "backbone": draft.take("backbone") or "resnet50",
            "num_channels": draft.get("num_channels") if channels else 3,
            "features_only": True,
            "use_pretrained_backbone": False,
            "out_indices": indices(draft) if indices else [1, 2, 3, 4],
        }
        if draft.flag("dilation"):
            backbone["output_stride"] = 16
        draft.values["backbone_config"] = backbone

    return rule


def turbo_backbone(draft: Draft) -> None:
    if draft.values.get("backbone_config") is not None or not draft.take("use_timm_backbone", True):
        return
    if not draft.keywords.get("backbone_kwargs"):
        draft.values["backbone_config"] = {
            "model_type": "timm_backbone",
            "backbone": draft.take("backbone") or "swin_tiny_patch4_window7_224",
            "out_indices": [1, 2, 3],
            "img_size": draft.get("image_size"),
            "always_partition": True,
        }


def default_backbone(model_type: str, **settings: JSONValue) -> Rule:
    def rule(draft: Draft) -> None:
        if draft.values.get("backbone_config") is None and draft.keywords.get("backbone") is None:
            draft.values["backbone_config"] = {"model_type": model_type, **settings}

    return rule


def nested_image_size(draft: Draft) -> None:
    """Depth Pro: every tower sees patches."""
    size = draft.get("patch_size")
    for key in draft.type.nested:
        value = draft.nested_values(key)
        if value is not None:
            value["image_size"] = size


def moshi(draft: Draft) -> None:
    audio = draft.values.get("audio_encoder_config")
    if isinstance(audio, dict) and draft.is_null("audio_vocab_size"):
        draft.derive("audio_vocab_size", audio.get("codebook_size", 2048), "audio_encoder_config.codebook_size")
    depth = draft.nested_values("depth_decoder_config")
    if depth is not None:
        depth |= {
            "audio_vocab_size": draft.get("audio_vocab_size"),
            "input_size": draft.get("hidden_size"),
            "vocab_size": draft.get("vocab_size"),
            "num_codebooks": draft.get("num_codebooks"),
        }


def inkling(draft: Draft) -> None:
    """The multi-token-prediction settings belong to the text model."""
    given = draft.keywords.get("mtp_config")
    settings: dict[str, JSONValue] = given if isinstance(given, dict) else {}
    text = draft.nested_values("text_config")
    if text is not None:
        text.setdefault("num_mtp_layers", settings.get("num_nextn_predict_layers"))
        text.setdefault("chain_hidden_post_norm", settings.get("chain_hidden_post_norm", False))
        text.setdefault("mtp_local_layer_ids", settings.get("local_layer_ids"))


def projector_queries(draft: Draft) -> None:
    """Aria: how many queries stand for an image of so many patches."""
    if draft.is_null("projector_patch_to_query_dict"):
        draft.derive("projector_patch_to_query_dict", {"1225": 128, "4900": 256}, "default of the config class")
    given = draft.get("projector_patch_to_query_dict")
    if isinstance(given, dict):
        most = max(as_integer(count) for count in given.values())
        draft.derive("max_value_projector_patch_to_query_dict", most, "projector_patch_to_query_dict")


def omni_audio(draft: Draft) -> None:
    audio = draft.nested_values("audio_config")
    if audio is not None:
        audio.setdefault("attention_bias", False)
        audio.setdefault("scale_input", False)


OMNI_NAMES = {
    "img_context_token_id": "image_token_id",
    "video_context_token_id": "video_token_id",
    "sound_context_token_id": "audio_token_id",
    "vit_hidden_size": "vision_hidden_size",
}


def omni_names(draft: Draft) -> None:
    """An older name counts only while the newer one has its default."""
    for old, name in OMNI_NAMES.items():
        value = draft.take(old)
        if value is not None and draft.get(name) == draft.type.declared.get(name):
            draft.derive(name, value, old)


def drop_types(*keys: str) -> Rule:
    def rule(draft: Draft) -> None:
        for key in keys:
            value = draft.nested_values(key)
            if value is not None:
                value.pop("model_type", None)

    return rule


def unlimited_ocr(draft: Draft) -> None:
    if draft.values.get("text_config") is not None:
        return
    value = draft.take("language_config", {})
    text: dict[str, JSONValue] = dict(value) if isinstance(value, dict) else {}
    place(draft, "text_config", f"{draft.pointer}/language_config", text)
    if "sliding_window" in draft.keywords:
        draft.values["text_config"] = {**text, "sliding_window": draft.take("sliding_window")}


def dots3_note(draft: Draft) -> None:
    if draft.values.get("text_config") is None:
        found = {name: value for name, value in draft.keywords.items() if name != "model_type"}
        place(draft, "text_config", draft.pointer, found)
        draft.values["text_config"] = {**found, "tie_word_embeddings": draft.get("tie_word_embeddings")}


def folding_model(draft: Draft) -> None:
    if draft.flag("is_folding_model"):
        if draft.is_null("esmfold_config"):
            draft.values["esmfold_config"] = {}
        return
    draft.derive("esmfold_config", None, "is_folding_model is off")
    draft.derive("vocab_list", None, "is_folding_model is off")


def expert_width(draft: Draft) -> None:
    """DBRX: the experts are as wide as the model, whatever their own object says."""
    experts = draft.values.get("ffn_config")
    if experts is None or isinstance(experts, dict):
        draft.values["ffn_config"] = {**(experts or {}), "hidden_size": draft.get("d_model")}
