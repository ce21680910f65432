"""What may stand behind ``config.``: the fields of the config classes at hand, as far as the code says which."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from neurarch_lsp.features import config_fields
from neurarch_lsp.features.completion import Item
from neurarch_lsp.features.config_field_hover import default_of
from neurarch_lsp.render.key_facts import value_text
from neurarch_schemas.catalogue.load import config_type
from neurarch_schemas.config_calls.damaged import TOKEN
from neurarch_schemas.config_calls.names import types_by_class

if TYPE_CHECKING:
    from neurarch_schemas.documents.document import Span

_BEFORE = re.compile(r"([A-Za-z_]\w*)\.(\w*)$")
_WORD = re.compile(r"\w*")


def complete(text: str, offset: int, beside: Iterable[str]) -> list[Item]:
    """Fields of the class that ``config`` is annotated with, else of all config classes of the text and, where it has
    none, of the texts ``beside`` it. [] where the cursor is not behind a config's dot."""
    place = _place(text, offset)
    if place is None:
        return []
    owner, span = place
    wanted = config_fields.annotated(text, span[0], owner)
    own = _by_class([text])
    known = own if own and wanted <= own.keys() else {**_by_class(beside), **own}
    named = {name: fields for name, fields in known.items() if name in wanted}
    if not named:
        named = {name: fields for name in wanted if (fields := _of_library(name))} or known
    details = {field: detail for fields in named.values() for field, detail in fields.items()}
    return [
        Item(label=name, kind="key", span=span, new_text=name, snippet=False, detail=details[name], filter=name)
        for name in sorted(details)
    ]


def _place(text: str, offset: int) -> tuple[str, Span] | None:
    """The name of a config, and the word behind its dot that the cursor stands in, which may be empty."""
    line = text.rfind("\n", 0, offset) + 1
    before = _BEFORE.search(text[line:offset])
    if before is None or not config_fields.is_config(text, before[1]):
        return None
    start = line + before.start(2)
    end = text.find("\n", offset)
    for token in TOKEN.finditer(text, line, len(text) if end < 0 else end):
        if token.lastgroup in ("string", "comment") and token.start() < start <= token.end():
            return None
    word = _WORD.match(text, offset)
    return before[1], (start, offset if word is None else word.end())


def _by_class(texts: Iterable[str]) -> dict[str, dict[str, str]]:
    """For each config class its fields with what is said about them."""
    return {
        each.name: {name: _detail(each.name, default_of(text, span[1])) for name, span in reversed(each.fields)}
        for text in texts
        for each in config_fields.config_classes(text)
    }


def _of_library(name: str) -> dict[str, str]:
    """The keys of a config class of transformers."""
    record = config_type(types_by_class().get(name, ""))
    if record is None:
        return {}
    return {key: _detail(name, value_text(value, 24)) for key, value in record.declared.items()}


def _detail(owner: str, default: str | None) -> str:
    return owner if default is None else f"{owner}: {default} where nothing is given"
