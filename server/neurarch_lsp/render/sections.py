"""Hovers of values and sections: model types, nested configs, layer lists, RoPE, quantization."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from neurarch_lsp.render import effects
from neurarch_lsp.render.key_facts import KeyFacts, configs, owner_of, value_at, value_text
from neurarch_lsp.render.markup import Block, Text, code
from neurarch_lsp.render.model_numbers import tokens
from neurarch_schemas.accounting.quantities import count, decimal_bytes
from neurarch_schemas.config.language_model import LANGUAGE_MODELS
from neurarch_schemas.documents.pointer import parent_pointer, split_pointer

if TYPE_CHECKING:
    from neurarch_rules.engine.options import Options
    from neurarch_schemas.analysis import Analysis
    from neurarch_schemas.config.model_config import ModelConfig
    from neurarch_schemas.documents.json_value import JSONScalar, JSONValue

TOWERS = {"vision_config": "vision", "audio_config": "audio"}
ROPE = ("rope_parameters", "rope_scaling")
MAX_ENTRIES = 4_096
"""Lists longer than this are told about, but not built anew with another entry."""


def meaning(name: str) -> str | None:
    """The hand-written sentence about a key."""
    from neurarch_schemas.catalogue.meanings import meaning as written

    return written(name)


def of_key(analysis: Analysis, found: KeyFacts, pointer: str) -> list[Block]:
    """What a value or section of its own says."""
    value = value_at(analysis.document.data, pointer)
    if found.name == "model_type" and found.record is not None:
        classes = ", ".join(code(name) for name in found.record.classes[:6])
        url = f"https://huggingface.co/docs/transformers/model_doc/{found.record.module}"
        return [
            Text(f"{code(found.record.config_class)}; model classes: {classes}"),
            Text(f"[transformers: {found.record.module}]({url})"),
        ]
    if found.name in found.owner.nested:
        return _nested(analysis, found.name, found.owner.nested[found.name])
    if found.name in ROPE:
        return _rope(found.owner)
    if found.name == "quantization_config" and isinstance(value, dict):
        return _quantization(analysis, value)
    if isinstance(value, list) and len(value) > 1 and all(isinstance(item, str | int) for item in value):
        kinds = Counter(value_text(item, 30) for item in value).most_common(8)
        return [Text(f"{len(value)} entries: " + ", ".join(f"{number} x {code(kind)}" for kind, number in kinds))]
    return []


def parameters_of(analysis: Analysis, key: str) -> int | None:
    """Parameters of a nested config: a tower, or the language model with everything that is no tower."""
    counted = analysis.parameters
    if counted is None:
        return None
    parts: dict[str, int] = dict(counted.by_part)
    if key in TOWERS:
        return parts.get(TOWERS[key])
    if key in LANGUAGE_MODELS:
        return counted.total - sum(parts.get(part, 0) for part in ("vision", "audio", "projector"))
    return None


def _nested(analysis: Analysis, key: str, nested: ModelConfig) -> list[Block]:
    scalars = parameters_of(analysis, key)
    kind = f"A config of type {code(nested.model_type)}" if nested.model_type else "A config"
    return [Text(f"{kind}: **{count(scalars)}** parameters ({scalars:,})." if scalars else f"{kind}.")]


def _rope(owner: ModelConfig) -> list[Block]:
    """The rotary settings as the model class sees them."""
    settings = owner.get("rope_parameters")
    if not isinstance(settings, dict):
        return []
    if all(isinstance(item, dict) for item in settings.values()) and settings:
        lines = [f"- {code(name)}: {_rope_text(item)}" for name, item in settings.items() if isinstance(item, dict)]
        return [Text("\n".join(lines))]
    return [Text(_rope_text(settings) + ".")]


def _rope_text(settings: dict[str, JSONValue]) -> str:
    parts = [f"{code(settings.get('rope_type', 'default'))} frequencies, base {value_text(settings.get('rope_theta'))}"]
    factor, original = settings.get("factor"), settings.get("original_max_position_embeddings")
    if isinstance(factor, int | float) and isinstance(original, int) and not isinstance(factor, bool):
        parts.append(f"{value_text(factor)} times {tokens(original)} tokens are {int(factor * original):,}")
    elif isinstance(factor, int | float):
        parts.append(f"stretched {value_text(factor)} times")
    partial = settings.get("partial_rotary_factor")
    if isinstance(partial, int | float) and partial != 1:
        parts.append(f"{value_text(partial)} of each head turns")
    return ", ".join(parts)


def _quantization(analysis: Analysis, settings: dict[str, JSONValue]) -> list[Block]:
    method = settings.get("quant_method", settings.get("quant_algo"))
    facts = [
        f"{key} {value_text(settings[key])}"
        for key in ("quant_algo", "bits", "group_size", "fmt", "format")
        if key in settings
    ]
    blocks: list[Block] = [
        Text(f"{code(value_text(method).strip(chr(34)))}" + (": " + ", ".join(facts) if facts else ""))
    ]
    checkpoint, weights = analysis.checkpoint, analysis.weights
    if checkpoint is not None and checkpoint.bytes and weights is not None:
        word = "hold" if analysis.folder.checkpoint is not None else "would hold"
        exact = "" if checkpoint.exact else ", estimated"
        plain = f"{decimal_bytes(weights.bytes)} in {weights.dtype}"
        blocks.append(Text(f"The files {word} **{decimal_bytes(checkpoint.bytes)}**{exact}; unquantized {plain}."))
    return blocks


def inner(analysis: Analysis, pointer: str, options: Options) -> list[Block]:
    """A place inside a value: an entry of a list, a key of a section."""
    keys = split_pointer(pointer)
    if not keys:
        return []
    container = value_at(analysis.document.data, parent_pointer(pointer))
    value = value_at(analysis.document.data, pointer)
    if isinstance(container, list):
        return _entry(analysis, pointer, keys, container, value, options)
    sentence = meaning(keys[-1])
    title = f"**{code(keys[-1])}** in {code(keys[-2])}" if len(keys) > 1 else f"**{code(keys[-1])}**"
    blocks: list[Block] = [Text(title), Text(sentence)] if sentence else []
    if len(keys) > 1 and keys[-2] in ROPE and analysis.config is not None:
        owner = owner_of(analysis.config, parent_pointer(pointer))
        blocks += _rope(owner) if owner is not None else []
    return blocks


def _entry(
    analysis: Analysis,
    pointer: str,
    keys: tuple[str, ...],
    container: list[JSONValue],
    value: JSONValue,
    options: Options,
) -> list[Block]:
    """One entry of a list, and what the model would be with another that the list knows."""
    name, index = keys[-2] if len(keys) > 1 else "", int(keys[-1])
    text = f"**{code(name)}**, entry {index} of {len(container)} (counted from 0): {code(value_text(value))}"
    if isinstance(value, dict | list) or value is None:
        return [Text(text)]
    blocks: list[Block] = [Text(text)]
    if len(container) > 1:
        same = sum(1 for item in container if item == value and type(item) is type(value))
        blocks.append(Text(f"{same} of {len(container)} entries are {code(value_text(value))}."))
    others: list[JSONScalar] = []
    for item in container[:MAX_ENTRIES]:
        if not isinstance(item, dict | list) and item != value and item not in others:
            others.append(item)
    owned = analysis.config is not None and any(
        found.pointer == parent_pointer(parent_pointer(pointer)) for found in configs(analysis.config)
    )
    if others and owned and len(container) <= MAX_ENTRIES:
        dtype = options.serving.kv_cache_dtype
        blocks += effects.of_values(analysis, pointer, f"entry {index}", value, dtype, tuple(others[:4]))
    return blocks
