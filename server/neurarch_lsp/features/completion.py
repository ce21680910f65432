"""Completions: keys of this type at this level, values a key can take, a skeleton for an empty file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

from neurarch_lsp.features import completion_values, section_keys, skeleton
from neurarch_lsp.features.cursor import Cursor, cursor_at
from neurarch_lsp.render import key_facts
from neurarch_schemas.catalogue import load as catalogue
from neurarch_schemas.config.read import read_config
from neurarch_schemas.documents.json_style import Style, render
from neurarch_schemas.documents.pointer import join_pointer, parent_pointer, split_pointer

if TYPE_CHECKING:
    from neurarch_schemas.catalogue.load import ConfigType
    from neurarch_schemas.config.model_config import ModelConfig
    from neurarch_schemas.documents.document import FileKind, Span
    from neurarch_schemas.documents.json_document import JsonDocument
    from neurarch_schemas.documents.json_value import JSONValue
    from neurarch_schemas.documents.spelling import Spelling

ItemKind = Literal["key", "value", "enum", "skeleton"]


@dataclass(frozen=True, slots=True)
class Item:
    """``new_text`` replaces ``span``; with ``snippet`` it holds placeholders (``${1:32}``).

    ``pointer`` names the key whose documentation ``completionItem/resolve`` shows.
    """

    label: str
    kind: ItemKind
    span: Span
    new_text: str
    snippet: bool
    detail: str
    filter: str
    pointer: str | None = None
    deprecated: bool = False
    preselect: bool = False
    comma_at: int | None = None
    """Where a comma is missing before the new pair."""


def complete(document: JsonDocument, offset: int, kind: FileKind | None) -> list[Item]:
    """Items in the order they should be shown. ``kind`` is None for a file not (yet) known to be a model's."""
    cursor = _cursor(document, offset)
    data = document.data
    if kind is None and not _may_become_model(data):
        return []
    if kind not in (None, "config", "params"):
        return list(_other_keys(document, cursor, kind))
    if cursor.role == "root":
        return [_skeleton_item(name, cursor, whole=True) for name in skeleton.SUGGESTED]
    if cursor.role == "nothing":
        return []
    config = read_config(data, "params" if kind == "params" else "config")
    if cursor.role == "key":
        return list(_keys(document, cursor, config))
    return list(_values(document, cursor, config))


def _cursor(document: JsonDocument, offset: int) -> Cursor:
    if document.spelling.python:
        from neurarch_lsp.features.python_cursor import cursor_at as in_python
        from neurarch_schemas.config_calls.document import PythonConfigDocument

        assert isinstance(document, PythonConfigDocument)
        return in_python(document, offset)
    return cursor_at(document, offset)


def _may_become_model(data: object) -> bool:
    """Nothing yet, or hardly anything: a new file."""
    return data is None or (
        isinstance(data, dict) and len(data) <= 1 and not any(isinstance(v, dict) for v in data.values())
    )


# Keys


def _other_keys(document: JsonDocument, cursor: Cursor, kind: FileKind) -> Iterator[Item]:
    """Keys of a file that describes no model: a generation config, an adapter."""
    if cursor.role != "key" or cursor.pointer:
        return
    written = _written(document, cursor)
    known: Mapping[str, Any] = {}
    if kind == "generation_config":
        known = {**dict.fromkeys(sorted(catalogue.generation_keys())), **section_keys.GENERATION_KEYS}
    elif kind == "adapter_config":
        known = section_keys.ADAPTER_KEYS
    for name, example in known.items():
        if name not in written:
            yield _key_item(cursor, name, _placeholder(example, cursor.spelling), _kind_of(example), written)


def _keys(document: JsonDocument, cursor: Cursor, config: ModelConfig) -> Iterator[Item]:
    written = _written(document, cursor)
    if cursor.pointer == "" and not config.model_type:
        yield _key_item(cursor, "model_type", '"$1"', "string", written)
        if not written - {"", cursor.typed}:
            for name in skeleton.SUGGESTED:
                yield _skeleton_item(name, cursor, whole=False)
        yield _key_item(cursor, "architectures", '["$1"]', "list of strings", written)
        return
    owner = next((found for found in key_facts.configs(config) if found.pointer == cursor.pointer), None)
    if owner is not None:
        yield from _config_keys(cursor, owner, written)
        return
    section = split_pointer(cursor.pointer)[-1] if cursor.pointer else ""
    here = key_facts.value_at(document.data, cursor.pointer)
    kind = None
    if isinstance(here, dict):
        kind = here.get("rope_type", here.get("type", here.get("quant_method")))
    for name, example in section_keys.keys_of(section, kind).items():
        if name not in written:
            yield _key_item(cursor, name, _placeholder(example, cursor.spelling), _kind_of(example), written)


def _config_keys(cursor: Cursor, owner: ModelConfig, written: set[str]) -> Iterator[Item]:
    record = catalogue.config_type(owner.model_type) if owner.is_native else None
    canonical = {owner.synonyms.get(name, name) for name in written}
    base = catalogue.base_properties()
    properties: Mapping[str, Mapping[str, Any]] = record.properties if record else base
    own = [name for name in properties if name not in base]
    for name in ["model_type", "architectures", *own, *[name for name in base if name not in own]]:
        if name in canonical or name.startswith("_") or name not in properties:
            continue
        if name in ("torch_dtype", "model_type", "architectures") and cursor.pointer and name not in own:
            continue
        schema = properties[name]
        default = record.resolved.get(name, record.declared.get(name)) if record else schema.get("default")
        nested = record is not None and name in record.nested
        yield _key_item(
            cursor,
            name,
            "{$1}" if nested else _value_snippet(name, schema, default, record, cursor.spelling),
            _detail(schema, default, record is not None and (name in record.resolved or name in record.declared)),
            written,
            deprecated=name == "torch_dtype",
        )


def _key_item(cursor: Cursor, name: str, value: str, detail: str, written: set[str], deprecated: bool = False) -> Item:
    quoted = cursor.spelling.key(name, cursor.argument)
    text = quoted
    is_pair = cursor.after == cursor.colon
    if not is_pair:
        follows = cursor.after in ('"', "'") or (cursor.argument and cursor.after.isidentifier())
        colon = cursor.colon if cursor.argument else ": "
        text = f"{_escaped(quoted)}{colon}{value}" + ("," if follows else "")
    misses_comma = cursor.before not in (",", "{", "(", "") and bool(written)
    return Item(
        label=name,
        kind="key",
        span=cursor.span,
        new_text=text,
        snippet=not is_pair,
        detail=detail,
        filter=quoted if cursor.span[0] != cursor.span[1] else name,
        pointer=join_pointer(cursor.pointer, name),
        deprecated=deprecated,
        comma_at=cursor.before_end if misses_comma else None,
    )


def _detail(schema: Mapping[str, Any], default: object, has_default: bool) -> str:
    kind = key_facts.type_text(schema)
    return (
        f"{kind}, default {key_facts.value_text(default, 30)}".lstrip(", ")
        if has_default and default is not None
        else kind
    )


def _value_snippet(
    name: str, schema: Mapping[str, Any], default: object, record: ConfigType | None, spelling: Spelling
) -> str:
    """A value as a snippet, in the spelling of JSON; the quotes are those of the file."""
    text = _json_snippet(name, schema, default, record)
    if text is None:
        return _placeholder(default, spelling)
    return text.replace('"', spelling.quote)


def _json_snippet(name: str, schema: Mapping[str, Any], default: object, record: ConfigType | None) -> str | None:
    if name == "rope_parameters":
        theta = record.rope_theta if record else 10000.0
        return '{"rope_type": "${1:default}", "rope_theta": ${2:' + str(theta) + "}}"
    if name == "quantization_config":
        return '{"quant_method": "$1"}'
    if name == "architectures" and record is not None and record.architecture:
        return '["${1:' + record.architecture + '}"]'
    if default is None:
        kinds = schema.get("type", "")
        kinds = [kinds] if isinstance(kinds, str) else kinds
        return '"$1"' if "string" in kinds else "[$1]" if "array" in kinds else "{$1}" if "object" in kinds else "$1"
    return None


def _placeholder(value: object, spelling: Spelling) -> str:
    """A value as a snippet the cursor lands in."""
    if isinstance(value, bool):
        return "${1|" + ",".join(spelling.scalar(item) for item in (value, not value)) + "|}"
    if isinstance(value, str):
        text = spelling.string(value)
        return text[0] + "${1:" + _escaped(text[1:-1]) + "}" + text[-1]
    if isinstance(value, dict | list):
        text = _escaped(render(cast("JSONValue", value), Style(inline=True, spelling=spelling)))
        return text[0] + ("${1:" + text[1:-1] + "}" if len(text) > 2 else "$1") + text[-1]
    return "${1:" + spelling.scalar(value) + "}" if isinstance(value, int | float) else "$1"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("$", "\\$").replace("}", "\\}")


def _written(document: JsonDocument, cursor: Cursor) -> set[str]:
    """Keys of the object around, the one being typed left out."""
    keys = set(document.keys(cursor.pointer))
    under = document.pointer_at(cursor.span[0])
    if cursor.span[0] < cursor.span[1] and under.part == "key" and parent_pointer(under.pointer) == cursor.pointer:
        keys.discard(split_pointer(under.pointer)[-1])
    return keys


# Values


def _values(document: JsonDocument, cursor: Cursor, config: ModelConfig) -> Iterator[Item]:
    container = cursor.pointer if cursor.role == "value" else parent_pointer(cursor.pointer)
    owner = next((found for found in key_facts.configs(config) if found.pointer == container), None)
    key = cursor.key or ""
    present: set[object] = set()
    if cursor.role == "element" and key == "architectures":
        here = key_facts.value_at(document.data, cursor.pointer)
        present = {item for item in here if isinstance(item, str)} if isinstance(here, list) else set()
    section = split_pointer(container)[-1] if container and owner is None else None
    for value, detail in completion_values.of_key(key, owner, section):
        if value in present:
            continue
        text = cursor.spelling.string(value) if isinstance(value, str) else cursor.spelling.scalar(value)
        yield Item(
            label=text if not isinstance(value, str) else value,
            kind="enum" if isinstance(value, str) else "value",
            span=cursor.span,
            new_text=text,
            snippet=False,
            detail=detail,
            filter=text if cursor.span[0] != cursor.span[1] else text.strip("\"'"),
            pointer=join_pointer(container, key) if owner is not None else None,
            preselect=detail == "default",
        )


def _skeleton_item(name: str, cursor: Cursor, whole: bool) -> Item:
    return Item(
        label=f"{name} config",
        kind="skeleton",
        span=cursor.span,
        new_text=skeleton.snippet(name, whole),
        snippet=True,
        detail=f"a {name} model with its main keys",
        filter='"model_type' if cursor.span[0] != cursor.span[1] else f"model_type {name} config",
        pointer=None,
    )


def _kind_of(value: object) -> str:
    return {bool: "boolean", int: "integer", float: "number", str: "string", list: "list", dict: "object"}.get(
        type(value), ""
    )
