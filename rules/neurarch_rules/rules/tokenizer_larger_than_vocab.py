from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place, Related
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.decoder import decoder_config
from neurarch_rules.facts.places import integer, is_written, place, whole_number
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.surroundings.folder import Folder

RULE = RuleInfo(
    name="tokenizer-larger-than-vocab",
    severity="warning",
    category="correctness",
    summary="The tokenizer beside the config produces ids the embedding has no row for",
    when="tokenizer",
)


def check(context: Context) -> Iterator[Finding]:
    config = decoder_config(context)
    rows = None if config is None else integer(config, "vocab_size", "n_vocab", "padded_vocab_size")
    if config is None or rows is None or rows <= 0:
        return
    if _transcribes(context):
        yield from _characters(context, config, rows)
        return
    key = next(name for name in ("vocab_size", "n_vocab", "padded_vocab_size") if integer(config, name) is not None)
    found = _highest(context.analysis.folder)
    if found is None or found[0] < rows:
        return
    highest, file = found
    yield Finding(
        f"{file} defines ids up to {highest:,}, but the embedding has {rows:,} rows: the {highest - rows + 1:,} "
        "tokens beyond "
        f"crash when they are used; resize the embedding to {highest + 1:,} or drop them from the tokenizer",
        place(config, key),
        (Related(Place("", file=file), f"the highest id is {highest:,}"),),
    )


def _characters(context: Context, config: ModelConfig, rows: int) -> Iterator[Finding]:
    """CTC: each character of vocab.json is an output of the head. Models of many languages have one set for each."""
    characters = context.analysis.folder.json_files.get("vocab.json")
    ids = [
        number
        for token, value in (characters.items() if isinstance(characters, dict) else ())
        if (number := whole_number(value)) is not None and not token.startswith(("<", "["))
    ]
    if ids and max(ids) >= rows and is_written(config, "vocab_size"):
        yield Finding(
            f"vocab.json has characters up to id {max(ids):,}, but the head has {rows:,} outputs: those beyond are "
            "never transcribed, and labels that hold one are refused in training",
            place(config, "vocab_size"),
            (Related(Place("", file="vocab.json"), f"the highest id is {max(ids):,}"),),
        )


def _transcribes(context: Context) -> bool:
    """Whether the vocabulary is that of a CTC head alone: special tokens are neither scored nor embedded."""
    data = context.analysis.document.data
    names = data.get("architectures") if isinstance(data, dict) else None
    return isinstance(names, list) and any(isinstance(name, str) and name.endswith("ForCTC") for name in names)


def _highest(folder: Folder) -> tuple[int, str] | None:
    """The highest token id of what lies beside the config, with the file that has it."""
    found: list[tuple[int, str]] = []
    if folder.tokenizer_entries:
        found.append((folder.tokenizer_entries - 1, "tokenizer.json"))
    added = folder.json_files.get("added_tokens.json")
    if isinstance(added, dict):
        found += ((value, "added_tokens.json") for value in added.values() if isinstance(value, int))
    tokenizer = folder.json_files.get("tokenizer_config.json")
    decoder = tokenizer.get("added_tokens_decoder") if isinstance(tokenizer, dict) else None
    if isinstance(decoder, dict):
        found += ((int(key), "tokenizer_config.json") for key in decoder if key.isdecimal())
    return max(found, default=None)
