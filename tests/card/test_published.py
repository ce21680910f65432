"""What holds of the card of every published model in the catalogue."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema

from neurarch_lsp.card.build import build_card
from neurarch_lsp.card.similar import catalogue
from neurarch_lsp.render.card_html import card_html, card_svg
from neurarch_lsp.render.card_markdown import card_markdown
from neurarch_lsp.render.card_text import card_text

SCHEMA = json.loads((Path(__file__).parent.parent.parent / "docs" / "report.schema.json").read_text(encoding="utf-8"))
CARD = jsonschema.Draft202012Validator(SCHEMA | {"type": "object", "items": {}, "$ref": "#/$defs/card"})
LARGEST_PAGE = 300_000


def test_every_published_model_has_a_card_in_every_format() -> None:
    for known in catalogue():
        found = known.analysis()
        assert found is not None, known.name
        card = build_card(f"{known.name}/config.json", found)
        page = card_html(card)
        assert len(page.encode()) < LARGEST_PAGE, known.name
        assert "<script" not in page
        assert "http" not in page.replace("http://www.w3.org/2000/svg", ""), known.name
        for text in (card_text(card), card_markdown(card), card_svg(card)):
            assert not re.search(r"(?:^|\s)None(?:\s|$)", text), known.name
        said = json.loads(json.dumps({part.key: dict(part.data) for part in card.sections}))
        assert not list(CARD.iter_errors(said)), known.name
