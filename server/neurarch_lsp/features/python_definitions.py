"""From ``config.hidden_size`` in model code to the field of the config class in the same text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from neurarch_schemas.documents.document import Span

_CLASS = re.compile(r"^class[ \t]+(\w+)[^\n]*:[^\n]*\n((?:[ \t]+[^\n]*\n|[ \t]*\n|[ \t]*#[^\n]*\n)*)", re.MULTILINE)
_PARAMETER = re.compile(r"\bconfig[ \t]*:[ \t]*[\"']?(\w+)")


def field_of(text: str, name: str, offset: int) -> Span | None:
    """Where a class of the text defines the field (``name: int = 4``, ``name = 4``, ``self.name = ...``).

    The class that the nearest ``config`` parameter above is annotated with comes first, then classes named like a
    config; None where nothing defines it.
    """
    field = re.compile(rf"^[ \t]+(?:self\.)?({re.escape(name)})[ \t]*(?::|=(?!=))", re.MULTILINE)
    classes = {match[1]: match.span(2) for match in _CLASS.finditer(text + "\n")}
    annotated = [match[1] for match in _PARAMETER.finditer(text, 0, offset)]
    likely = [each for each in classes if each.endswith(("Config", "Configuration", "Args", "Arguments"))]
    for each in dict.fromkeys((*reversed(annotated), *likely)):
        if each in classes:
            match = field.search(text, *classes[each])
            if match is not None:
                return match.span(1)
    return None
