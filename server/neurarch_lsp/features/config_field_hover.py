"""The hover of a config class's field: its default, what such a key means, and where the file reads it."""

from __future__ import annotations

import re

from neurarch_lsp.features import config_fields
from neurarch_lsp.render.hover import Hover
from neurarch_lsp.render.markup import Block, Text, code
from neurarch_lsp.render.sections import meaning

MAX_LINES = 8
_DEFAULT = re.compile(r"[ \t]*(?::[^=\n]*)?=(?!=)[ \t]*([^\n#]+?),?[ \t]*(?:#[^\n]*)?$", re.MULTILINE)


def hover(text: str, offset: int) -> Hover | None:
    """For the place that defines a field of one of the text's own config classes, or gives or reads it."""
    defined = config_fields.field_at(text, offset)
    given = config_fields.given_at(text, offset)
    used = config_fields.used_at(text, offset)
    if defined is None and given is None and used is None:
        return None
    name = defined[1] if defined is not None else given[1] if given is not None else used[0] if used else ""
    wanted = defined[0] if defined is not None else given[0] if given is not None else None
    classes = [
        each
        for each in config_fields.config_classes(text)
        if each.defines(name) and (wanted is None or each.name == wanted)
    ]
    if not classes:
        return None
    owner = classes[0]
    spans = [span for field, span in owner.fields if field == name]
    here = next((span for span in spans if span[0] <= offset <= span[1]), None)
    if here is None:
        here = given[2] if given is not None else used[1] if used is not None else spans[0]
    default = default_of(text, spans[0][1])
    told = "" if default is None else f": {code(default)} where nothing is given"
    blocks: list[Block] = [Text(f"**{code(name)}** of {code(owner.name)}{told}")]
    known = meaning(name)
    if known:
        blocks.append(Text(known))
    read = sorted({text.count("\n", 0, start) + 1 for start, _ in config_fields.uses(text, name, {owner.name})})
    if read:
        more = f" and {len(read) - MAX_LINES} more" if len(read) > MAX_LINES else ""
        lines = ", ".join(f"{line:,}" for line in read[:MAX_LINES])
        blocks.append(Text(f"Used in line{'s' if len(read) > 1 else ''} {lines}{more}."))
    return Hover(here, tuple(blocks))


def default_of(text: str, end: int) -> str | None:
    """The default of the field whose name ends at ``end``, as far as one line shows it."""
    line_end = text.find("\n", end)
    line = text[end : len(text) if line_end < 0 else line_end]
    found = _DEFAULT.match(line)
    if found is None or len(found[1]) > 60 or found[1].count("(") != found[1].count(")"):
        return None
    return found[1]
