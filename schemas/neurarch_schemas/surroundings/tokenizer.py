"""How many ids a tokenizer.json gives out, without building the tokenizer."""

from __future__ import annotations

import json
from collections.abc import Iterator

from neurarch_schemas.documents.strict import scan_string
from neurarch_schemas.surroundings.source import Source

MAX_BYTES = 64_000_000


def read_entries(source: Source, name: str = "tokenizer.json") -> int | None:
    """The highest id + 1 of vocabulary and added tokens; None where that cannot be told."""
    size = source.size(name)
    if size is None or size > MAX_BYTES:
        return None
    data = source.read(name, MAX_BYTES)
    if not data:
        return None
    try:
        highest = max(_ids(data.decode("utf-8-sig")), default=-1)
    except (ValueError, IndexError, StopIteration, RecursionError):
        return None
    return highest + 1 if highest >= 0 else None


def _ids(text: str) -> Iterator[int]:
    """The highest id of each part. The merges, most of a file, come last and are not read."""
    decode = json.JSONDecoder().raw_decode
    known = False
    for key, at in _members(text, _space(text, 0)):
        if key == "added_tokens":
            known = True
            tokens = decode(text, at)[0]
            yield from (token["id"] for token in tokens if isinstance(token, dict) and type(token.get("id")) is int)
        elif key == "model":
            for inner, place in _members(text, at):
                if inner == "vocab":
                    yield _highest(decode(text, place)[0])
                    break
            if known:
                return


def _highest(vocabulary: object) -> int:
    """Of a vocabulary by token (BPE, WordPiece), or in the order of ids (Unigram)."""
    if isinstance(vocabulary, dict):
        return max((value for value in vocabulary.values() if type(value) is int), default=-1)
    return len(vocabulary) - 1 if isinstance(vocabulary, list) else -1


def _members(text: str, at: int) -> Iterator[tuple[str, int]]:
    """Keys of the object at ``at`` with the places of their values; each value is skipped only to reach the next."""
    decode = json.JSONDecoder().raw_decode
    if text[at] != "{":
        return
    at = _space(text, at + 1)
    while text[at] == '"':
        key, at = scan_string(text, at + 1, True)
        at = _space(text, _space(text, at) + 1)
        yield key, at
        at = _space(text, decode(text, at)[1])
        if text[at] != ",":
            return
        at = _space(text, at + 1)


def _space(text: str, at: int) -> int:
    while text[at : at + 1] in (" ", "\t", "\n", "\r"):
        at += 1
    return at
