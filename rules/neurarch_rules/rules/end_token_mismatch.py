from __future__ import annotations

from collections.abc import Iterator, Mapping

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place, Related
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.places import whole_number
from neurarch_rules.facts.words import listed, quoted
from neurarch_schemas.config.language_model import LANGUAGE_MODELS
from neurarch_schemas.documents.json_value import JSONValue
from neurarch_schemas.surroundings.folder import Folder

RULE = RuleInfo(
    name="end-token-mismatch",
    severity="warning",
    category="correctness",
    summary="Generation does not stop at the end token of the tokenizer beside the file",
    reads=("config", "generation_config"),
    needs=("eos_token_id",),
    when="tokenizer",
)


def check(context: Context) -> Iterator[Finding]:
    analysis = context.analysis
    tokenizer = analysis.folder.json_files.get("tokenizer_config.json")
    token = _content(tokenizer.get("eos_token")) if isinstance(tokenizer, dict) else None
    if token is None or not isinstance(tokenizer, dict) or not isinstance(analysis.document.data, dict):
        return
    id_ = _id(token, tokenizer, analysis.folder)
    ours = analysis.document.data
    pointer, found = _written(ours)
    if id_ is None or not found or id_ in found:
        return
    if analysis.kind == "config":
        beside = analysis.folder.json_files.get("generation_config.json")
        others = _written(beside)[1] if isinstance(beside, dict) else set()
        if id_ in others:
            return
    yield Finding(
        f"generation stops at {listed(sorted(found))}, but the tokenizer ends a text with {quoted(token)}, which is "
        f"{id_}: the model runs on to the length limit",
        Place(pointer),
        (Related(Place("/eos_token", file="tokenizer_config.json"), f"eos_token is {quoted(token)}, id {id_}"),),
    )


def _content(token: JSONValue) -> str | None:
    """A special token is a string, or an object that says how it is treated."""
    found = token.get("content") if isinstance(token, dict) else token
    return found if isinstance(found, str) and found else None


def _id(token: str, tokenizer: Mapping[str, JSONValue], folder: Folder) -> int | None:
    """The id of an added token; None for tokens of the vocabulary itself, which is not read."""
    decoder = tokenizer.get("added_tokens_decoder")
    for key, entry in decoder.items() if isinstance(decoder, dict) else ():
        if key.isdecimal() and _content(entry) == token:
            return int(key)
    added = folder.json_files.get("added_tokens.json")
    return whole_number(added.get(token)) if isinstance(added, dict) else None


def _written(data: Mapping[str, JSONValue]) -> tuple[str, set[int]]:
    """The end tokens of a file and where they stand: at the top, else in the text model's object."""
    for key in ("", *LANGUAGE_MODELS):
        owner = data.get(key) if key else data
        value = owner.get("eos_token_id") if isinstance(owner, dict) else None
        items = value if isinstance(value, list) else [value]
        ids = {number for item in items if (number := whole_number(item)) is not None}
        if ids:
            return (f"/{key}" if key else "") + "/eos_token_id", ids
    return "/eos_token_id", set()
