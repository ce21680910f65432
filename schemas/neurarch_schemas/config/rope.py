"""Rotary position embedding: every old spelling ends as ``rope_parameters``, flat or one object per layer type."""

from __future__ import annotations

from collections.abc import Mapping

from neurarch_schemas.config.draft import Draft
from neurarch_schemas.documents.json_value import JSONValue

# RoPE types that stretch a pretrained window and therefore record its length.
STRETCHED = ("llama3", "yarn", "longrope")
REQUIRED: Mapping[str, tuple[str, ...]] = {
    "linear": ("factor",),
    "dynamic": ("factor",),
    "yarn": ("factor",),
    "longrope": ("short_factor", "long_factor"),
    "llama3": ("factor", "low_freq_factor", "high_freq_factor"),
}
"""Fields transformers 5.24 refuses to do without (those it fills in are left out)."""


def nested_keys(draft: Draft, parameters: dict[str, JSONValue]) -> list[str]:
    """The layer types ``rope_parameters`` is split by; empty when it is one object for all layers."""
    if draft.type.rope_labels:
        labels: object = draft.type.rope_labels
    elif "layer_types" in draft.patterns:
        labels = draft.patterns["layer_types"]
    else:
        value = draft.get("layer_types")
        labels = value if isinstance(value, list) else ()
    return [key for key in parameters if key in labels]  # type: ignore[operator]  # tuple, list or pattern


def convert(draft: Draft) -> None:
    """Fill ``rope_parameters`` from rope_scaling, rope_theta and partial_rotary_factor, wherever they are written."""
    both = draft.keywords.get("rope_scaling") and draft.keywords.get("rope_theta")
    if "rope_parameters" not in draft.values and not both:
        return
    scaling = draft.keywords.pop("rope_scaling", None)
    current = scaling or draft.values.get("rope_parameters")
    parameters = copy(current) if isinstance(current, dict) else {}
    theta = draft.keywords.pop(
        "rope_theta", draft.get("rope_theta") if draft.has("rope_theta") else draft.type.rope_theta
    )
    partial = draft.keywords.pop("partial_rotary_factor", draft.get("partial_rotary_factor"))
    keys = nested_keys(draft, parameters)
    for part in [parameters[key] for key in keys] if keys else [parameters]:
        if isinstance(part, dict):
            part.setdefault("rope_theta", theta)
            if partial is not None:
                part.setdefault("partial_rotary_factor", partial)
    standardize(draft, parameters)


def copy(parameters: dict[str, JSONValue]) -> dict[str, JSONValue]:
    return {key: dict(value) if isinstance(value, dict) else value for key, value in parameters.items()}


def standardize(draft: Draft, parameters: dict[str, JSONValue]) -> None:
    """Give every part its ``rope_type`` (once called ``type``) and the pretrained length where its type needs one."""
    theta = draft.get("rope_theta")
    partial = draft.get("partial_rotary_factor")
    keys = nested_keys(draft, parameters)
    if not keys:
        fill(draft, parameters, theta, partial)
        if parameters.get("rope_type") in STRETCHED:
            if draft.has("original_max_position_embeddings"):
                parameters["original_max_position_embeddings"] = draft.get("original_max_position_embeddings")
            else:
                parameters.setdefault("original_max_position_embeddings", draft.get("max_position_embeddings"))
    for key in keys:
        part = parameters[key]
        if isinstance(part, dict):
            fill(draft, part, theta, partial)
            if part.get("rope_type") in STRETCHED:
                part.setdefault("original_max_position_embeddings", draft.get("max_position_embeddings"))
    draft.derive("rope_parameters", parameters)


def fill(draft: Draft, part: dict[str, JSONValue], theta: JSONValue, partial: JSONValue) -> None:
    part.setdefault("rope_type", part.get("type", "default"))
    part.setdefault("rope_theta", theta)
    if partial is not None:
        part.setdefault("partial_rotary_factor", partial)
    if draft.type.rope_type != "default" and part["rope_type"] == "default":
        part["rope_type"] = draft.type.rope_type


def name_types(draft: Draft) -> None:
    """Every part says its ``rope_type`` in the end, also where a class keeps its RoPE parameters as they are."""
    parameters = draft.values.get("rope_parameters")
    if not isinstance(parameters, dict) or not parameters:
        return
    keys = nested_keys(draft, parameters)
    parts = [parameters[key] for key in keys] if keys else [parameters]
    if all(not isinstance(part, dict) or "rope_type" in part for part in parts):
        return
    named = copy(parameters)
    for part in [named[key] for key in keys] if keys else [named]:
        if isinstance(part, dict):
            part["rope_type"] = part.get("rope_type", part.get("type", "default"))
    draft.derive("rope_parameters", named)
