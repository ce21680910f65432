"""One config value with its origin."""

from __future__ import annotations

from typing import Literal, NamedTuple

from neurarch_schemas.documents.json_value import JSONValue

Origin = Literal["written", "defaulted", "derived"]


class Setting(NamedTuple):
    """``name`` is the canonical key (synonyms resolved).

    ``pointer`` is the JSON pointer of the key as written in the document (``/text_config/n_embd``), None unless
    ``origin`` is "written"; ``source`` says where a default or derivation comes from, for hovers.
    """

    name: str
    value: JSONValue
    origin: Origin
    pointer: str | None = None
    source: str | None = None
