"""``neurarch.compare``: the model of an open file beside another one, or beside the file as git has it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from neurarch_lsp.lsp.job import Analysed

HEAD = "HEAD"


def comparison(analysed: Analysed, other: str, format_: str) -> tuple[str, str]:
    """Title and content. ``other`` is a path, ORG/NAME in the local Hugging Face cache, REV:FILE, or "HEAD"; "" lets
    the catalogue choose: the predecessor, else the most similar model. What cannot be read is said in the content.
    """
    from neurarch_lsp.card import sources
    from neurarch_lsp.card.compare import compare
    from neurarch_lsp.card.similar import counterpart
    from neurarch_lsp.render.card_html import card_html
    from neurarch_lsp.render.card_markdown import card_markdown

    analysis, path = analysed.analysis, analysed.document.path or "this file"
    assert analysis is not None
    name = f"{HEAD}:{path}" if other == HEAD else other
    if not name:
        known = counterpart(analysis)
        found = None if known is None else known.analysis()
        if known is None or found is None:
            return "Compare", "Nothing to compare with: the structure is not known."
        name = known.name
    else:
        source = sources.load_revision(name)
        if source.analysis is None:
            return "Compare", f"{name}: {source.error or 'not a model configuration'}"
        found = source.analysis
    card = compare(path, analysis, name, found)
    title = f"{os.path.basename(os.path.dirname(path)) or 'model'} against {name if other != HEAD else HEAD}"
    return title, card_html(card) if format_ == "html" else card_markdown(card)
