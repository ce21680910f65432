from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place, Related
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.places import whole_number
from neurarch_rules.facts.words import listed
from neurarch_schemas.documents.json_value import JSONValue

RULE = RuleInfo(
    name="generation-token-id-mismatch",
    severity="warning",
    category="correctness",
    summary="Token ids of generation_config.json that do not fit the config beside it",
    reads=("generation_config",),
)

IDS = (
    "pad_token_id",
    "bos_token_id",
    "eos_token_id",
    "decoder_start_token_id",
    "forced_bos_token_id",
    "forced_eos_token_id",
)


def check(context: Context) -> Iterator[Finding]:
    data, beside = context.analysis.document.data, context.analysis.folder.json_files.get("config.json")
    if not isinstance(data, dict):
        return
    text = beside.get("text_config") if isinstance(beside, dict) else None
    config: dict[str, JSONValue] = {
        **(text if isinstance(text, dict) else {}),
        **(beside if isinstance(beside, dict) else {}),
    }
    rows = whole_number(config.get("vocab_size"))
    for name in IDS:
        value = data.get(name)
        for at, item in enumerate(value if isinstance(value, list) else [value]):
            number = whole_number(item)
            if number is None:
                continue
            place = Place(f"/{name}/{at}" if isinstance(value, list) else f"/{name}")
            if rows is not None and rows > 0 and number >= rows:
                yield Finding(
                    f"{name} {number:,} is outside the {rows:,} rows of the embedding of config.json",
                    place,
                    (Related(Place("/vocab_size", file="config.json"), f"vocab_size is {rows:,}"),),
                )
            elif number < 0:
                yield Finding(f"{name} {number} is no token: batches cannot be padded or stopped with it", place)
    yield from _words(data, rows)
    if config.get("model_type") == "whisper" and not data.keys() & {"language", "task"}:
        yield from _forced(data, rows)
    yield from _end_tokens(data, config)


def _words(data: dict[str, JSONValue], rows: int | None) -> Iterator[Finding]:
    """Words that generation avoids or prefers, by their tokens."""
    for name in ("bad_words_ids", "sequence_bias"):
        words = data.get(name)
        for at, entry in enumerate(words if isinstance(words, list) else []):
            word = entry[0] if name == "sequence_bias" and isinstance(entry, list) and entry else entry
            outside = [token for token in _ids(word) if rows is not None and token >= rows > 0]
            if rows is not None and outside:
                yield _outside(f"{name} names", min(outside), rows, f"/{name}/{at}", "generate refuses it")


def _forced(data: dict[str, JSONValue], rows: int | None) -> Iterator[Finding]:
    """Whisper's old way to name language and task: pairs of a position and the token that stands there."""
    pairs = data.get("forced_decoder_ids")
    for at, pair in enumerate(pairs if isinstance(pairs, list) else []):
        token = whole_number(pair[1]) if isinstance(pair, list) and len(pair) == 2 else None
        if token is not None and rows is not None and token >= rows > 0:
            pointer = f"/forced_decoder_ids/{at}"
            yield _outside("forced_decoder_ids starts with", token, rows, pointer, "looking it up crashes")


def _outside(names: str, token: int, rows: int, pointer: str, effect: str) -> Finding:
    return Finding(
        f"{names} the token {token:,}, outside the {rows:,} rows of the embedding of config.json: {effect}",
        Place(pointer),
        (Related(Place("/vocab_size", file="config.json"), f"vocab_size is {rows:,}"),),
        severity="error",
    )


def _end_tokens(data: dict[str, JSONValue], config: dict[str, JSONValue]) -> Iterator[Finding]:
    ours, theirs = _ids(data.get("eos_token_id")), _ids(config.get("eos_token_id"))
    if ours and theirs and not ours & theirs:
        yield Finding(
            f"generation stops at {listed(sorted(ours))}, but config.json says the end token is "
            f"{listed(sorted(theirs))}: one of the two files belongs to another model",
            Place("/eos_token_id"),
            (Related(Place("/eos_token_id", file="config.json"), f"eos_token_id is {listed(sorted(theirs))}"),),
            severity="info",
        )


def _ids(value: JSONValue) -> set[int]:
    items = value if isinstance(value, list) else [value]
    return {number for item in items if (number := whole_number(item)) is not None}
