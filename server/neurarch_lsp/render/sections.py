"""Hovers of values and sections: model types, layer lists, RoPE, quantization."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from neurarch_lsp.render.key_facts import KeyFacts, value_text
from neurarch_lsp.render.markup import Block, Text, code, escape
from neurarch_schemas.documents.pointer import parent_pointer, split_pointer

if TYPE_CHECKING:
    from neurarch_schemas.analysis import Analysis
    from neurarch_schemas.documents.json_value import JSONValue


def meaning(name: str) -> str | None:
    """The hand-written sentence about a key."""
    from neurarch_schemas.catalogue.meanings import meaning as written

    return written(name)


def of_key(found: KeyFacts) -> list[Block]:
    """What a value or section of its own says."""
    value = found.setting.value if found.setting is not None else None
    if found.name == "model_type" and found.record is not None:
        classes = ", ".join(code(name) for name in found.record.classes[:6])
        url = f"https://huggingface.co/docs/transformers/model_doc/{found.record.module}"
        return [
            Text(f"{code(found.record.config_class)}; model classes: {classes}"),
            Text(f"[transformers: {found.record.module}]({url})"),
        ]
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value) and len(value) > 1:
        kinds = Counter(str(item) for item in value)
        return [
            Text(
                f"{len(value)} entries: "
                + ", ".join(f"{number} {escape(kind)}" for kind, number in kinds.most_common(8))
            )
        ]
    return []


def inner(analysis: Analysis, pointer: str) -> list[Block]:
    """A place inside a value: an entry of a list, a key of a section."""
    keys = split_pointer(pointer)
    if not keys:
        return []
    parent = parent_pointer(pointer)
    container = _value_at(analysis.document.data, split_pointer(parent))
    value = _value_at(analysis.document.data, keys)
    if isinstance(container, list):
        return _entry(keys, container, value)
    sentence = meaning(keys[-1])
    title = f"**{code(keys[-1])}** in {code(keys[-2])}" if len(keys) > 1 else f"**{code(keys[-1])}**"
    return [Text(title), Text(sentence)] if sentence else []


def _entry(keys: tuple[str, ...], container: list[JSONValue], value: JSONValue) -> list[Block]:
    name, index = keys[-2] if len(keys) > 1 else "", int(keys[-1])
    text = f"**{code(name)}**, entry {index} of {len(container)} (counted from 0): {code(value_text(value))}"
    if not isinstance(value, str | int | float | bool):
        return [Text(text)]
    same = sum(1 for item in container if item == value and type(item) is type(value))
    return [Text(text), Text(f"{same} of {len(container)} entries are {code(value_text(value))}.")]


def _value_at(data: JSONValue, keys: tuple[str, ...]) -> JSONValue:
    for key in keys:
        if isinstance(data, dict):
            data = data.get(key)
        elif isinstance(data, list) and key.isdecimal() and int(key) < len(data):
            data = data[int(key)]
        else:
            return None
    return data
