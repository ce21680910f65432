"""Places that lead elsewhere: documentation, model repositories, files beside the document."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from neurarch_schemas.catalogue import load as catalogue
from neurarch_schemas.documents.pointer import join_pointer

if TYPE_CHECKING:
    from neurarch_schemas.documents.document import Span
    from neurarch_schemas.documents.json_document import JsonDocument

REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
CLASS_PATH = re.compile(r"(?:[\w./-]+--)?([A-Za-z_]\w*)\.([A-Za-z_]\w*)")
MAX_LINKS = 2_000
REPOSITORY_KEYS = ("base_model_name_or_path", "_name_or_path", "name_or_path")


@dataclass(frozen=True, slots=True)
class Link:
    """``url`` or ``file`` (a name beside the document) is set; ``symbol`` a class to find in that file."""

    span: Span
    tooltip: str
    url: str | None = None
    file: str | None = None
    symbol: str | None = None


def links(document: JsonDocument, kind: str | None) -> Iterator[Link]:
    """In no particular order; at most ``MAX_LINKS``."""
    data = document.data
    if not isinstance(data, dict):
        return
    yield from _model_types(document, data, "")
    for key in REPOSITORY_KEYS:
        value, span = data.get(key), document.value_span(f"/{key}")
        if isinstance(value, str) and span and REPOSITORY.fullmatch(value) and not value.startswith("."):
            yield Link(_inner(span), f"{value} on Hugging Face", url=f"https://huggingface.co/{value}")
    mapping = data.get("auto_map")
    if isinstance(mapping, dict):
        for key, value in mapping.items():
            found = class_file(value)
            span = document.value_span(join_pointer("/auto_map", key))
            if found and span:
                yield Link(_inner(span), f"{found[1]} in {found[0]}", file=found[0], symbol=found[1])
    if kind == "index":
        yield from _shards(document, data.get("weight_map"))


def class_file(value: object) -> tuple[str, str] | None:
    """File and class of an auto_map entry ("modeling_x.XModel"), None for one in another repository."""
    match = CLASS_PATH.fullmatch(value) if isinstance(value, str) else None
    return (match[1] + ".py", match[2]) if match and isinstance(value, str) and "--" not in value else None


def _model_types(document: JsonDocument, data: Mapping[str, object], pointer: str) -> Iterator[Link]:
    name, span = data.get("model_type"), document.value_span(f"{pointer}/model_type")
    record = catalogue.config_type(name) if isinstance(name, str) else None
    if record is not None and span is not None:
        url = f"https://huggingface.co/docs/transformers/model_doc/{record.module}"
        yield Link(_inner(span), f"{record.config_class} in the transformers documentation", url=url)
    for key, value in data.items():
        if isinstance(value, dict) and key.endswith("_config"):
            yield from _model_types(document, value, join_pointer(pointer, key))


def _shards(document: JsonDocument, weight_map: object) -> Iterator[Link]:
    if not isinstance(weight_map, dict):
        return
    for number, (tensor, file) in enumerate(weight_map.items()):
        if number >= MAX_LINKS:
            return
        span = document.value_span(join_pointer("/weight_map", tensor))
        if isinstance(file, str) and span and "/" not in file:
            yield Link(_inner(span), file, file=file)


def _inner(span: Span) -> Span:
    return span[0] + 1, span[1] - 1
