from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place, Related
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.decoder import decoder_config
from neurarch_rules.facts.places import integer, place
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
    if config is None or rows is None or rows <= 0 or _transcribes(context):
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
