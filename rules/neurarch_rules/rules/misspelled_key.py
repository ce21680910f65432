from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import islice

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.data import fact_set
from neurarch_rules.facts.fixes import rename_key
from neurarch_rules.facts.keys import ROPE_KEYS, is_usual, keys_any_may_have, keys_of_all_types, partner, unread
from neurarch_rules.facts.places import configs, json_kind, written
from neurarch_rules.facts.quantization import Quantization, quantization
from neurarch_rules.facts.sources import config_type, keys_of_model_code, records
from neurarch_rules.facts.spelling import closest
from neurarch_rules.facts.words import quoted
from neurarch_schemas.catalogue.load import ConfigType
from neurarch_schemas.catalogue.load import config_type as load
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.documents.json_value import JSONValue
from neurarch_schemas.documents.pointer import join_pointer

RULE = RuleInfo(
    name="misspelled-key",
    severity="warning",
    category="correctness",
    summary="An unknown key that is almost a known one: the default is used instead",
    reads=("config", "params"),
    aliases=("key-typo", "unknown-key"),
    about="key",
)


FOREIGN_LENGTH = 8
OTHERS_LENGTH = 10
"""Shortest keys that are held against the 2,500 keys of all families: shorter ones are near one by chance."""
SHORTEST_WORD = 4
"""A difference in a shorter word of a name tells two words apart."""
MOST = 500
"""Keys that are looked at: more were not typed, and each is held against every known name."""


def check(context: Context) -> Iterator[Finding]:
    yield from _closed(context)
    if context.analysis.kind == "params":
        return
    for config in configs(context):
        record = config_type(config)
        if record is not None:
            yield from _native(context, config, record)
        elif not config.pointer or config.model_type:
            yield from _foreign(context, config)
    block = quantization(context.analysis)
    if block is not None:
        yield from _in_block(context, block)


def _native(context: Context, config: ModelConfig, record: ConfigType) -> Iterator[Finding]:
    data = written(context.analysis, config)
    for key, value in islice(unread(context, config), MOST):
        if partner(record, key) or key in keys_of_all_types():
            continue
        guess = closest(key, _names(config))
        if guess is None:
            yield from _of_other_families(context, config, data, key)
            continue
        if not _same_kind(record, guess, value):
            continue
        pointer = join_pointer(config.pointer, key)
        if guess in data:
            message = f"unknown key {key}: {guess} is given too, so this one has no effect"
            yield Finding(message, Place(pointer, on="key"), severity="info", tags=("unnecessary",))
            continue
        yield Finding(
            f"unknown key {key} (did you mean {guess}?): it is kept and never read, {_instead(config, guess)}",
            Place(pointer, on="key"),
            fixes=rename_key(context.analysis, pointer, guess, f"rename to {guess}"),
        )


def _of_other_families(
    context: Context, config: ModelConfig, data: Mapping[str, JSONValue], key: str
) -> Iterator[Finding]:
    """Keys that a class ignores are read by serving engines (``num_nextn_predict_layers``), foreign code reads many."""
    guess = closest(key, _keys_of_anybody(), 1) if len(key) >= OTHERS_LENGTH else None
    if guess is None or guess in data or guess.rstrip("s") == key.rstrip("s") or _is_another_abbreviation(key, guess):
        return
    reads = (
        f"{config.config_class} reads neither, other families do" if config.is_native else "other families have that"
    )
    yield _suspicion(context, config, key, guess, f"unknown key {key} is one letter from {guess}: {reads}")


@lru_cache(maxsize=1)
def _keys_of_anybody() -> frozenset[str]:
    return keys_of_all_types() | keys_any_may_have()


def _is_another_abbreviation(key: str, guess: str) -> bool:
    """``vt_hidden_size`` and ``vit_hidden_size``, ``seg_token_id`` and ``sep_token_id``: two names, no slip."""
    words, others = key.split("_"), guess.split("_")
    if len(words) != len(others):
        return False
    pairs = zip(words, others, strict=True)
    return any(word != other and min(len(word), len(other)) < SHORTEST_WORD for word, other in pairs)


def _foreign(context: Context, config: ModelConfig) -> Iterator[Finding]:
    """Foreign code has keys of its own; only near misses of names that many families share are reported."""
    data = written(context.analysis, config)
    common = fact_set("known_keys", "common")
    for key in islice(data, MOST):
        if len(key) < FOREIGN_LENGTH or key.startswith("_") or key in keys_of_all_types() or is_usual(key):
            continue
        guess = closest(key, common, 1)
        if guess is None:
            yield from _of_other_families(context, config, data, key)
        elif guess not in data and not key.startswith(guess) and key + "s" != guess:
            message = f"the key {key} is one letter from {guess}, which most families use and this file lacks"
            yield _suspicion(context, config, key, guess, message)


def _suspicion(context: Context, config: ModelConfig, key: str, guess: str, message: str) -> Finding:
    pointer = join_pointer(config.pointer, key)
    fixes = rename_key(context.analysis, pointer, guess, f"rename to {guess}", "unsafe")
    return Finding(message, Place(pointer, on="key"), fixes=fixes, severity="info")


def _in_block(context: Context, block: Quantization) -> Iterator[Finding]:
    known = fact_set("quantization_keys", "keys")
    for key in islice(block.values, MOST):
        guess = None if key in known else closest(key, known)
        if guess is not None and guess not in block.values:
            pointer = join_pointer(block.pointer, key)
            yield Finding(
                f"unknown quantization key {key} (did you mean {guess}?): it is not read",
                Place(pointer, on="key"),
                fixes=rename_key(context.analysis, pointer, guess, f"rename to {guess}"),
            )


TOKENS = ("bos_token_id", "eos_token_id", "pad_token_id")
"""Generation reads them from any config."""


def _closed(context: Context) -> Iterator[Finding]:
    """Objects whose keys are all known: a near miss of one is no key of anybody's own."""
    data = context.analysis.document.data
    if not isinstance(data, dict):
        return
    if context.analysis.kind == "params":
        yield from _near_misses(context, "", data, "params", "it is not read")
        return
    if isinstance(auto_map := data.get("auto_map"), dict):
        yield from _near_misses(context, "/auto_map", auto_map, "auto_map", "no Auto class looks there")
    block = quantization(context.analysis)
    groups = None if block is None or block.method != "compressed-tensors" else block.values.get("config_groups")
    if block is None or not isinstance(groups, dict):
        return
    refused = "compressed-tensors refuses the file"
    for name, group in islice(groups.items(), MOST):
        if not isinstance(group, dict):
            continue
        pointer = join_pointer(block.pointer, "config_groups", name)
        yield from _near_misses(context, pointer, group, "quantization_group", refused)
        for part, arguments in group.items():
            if part in fact_set("closed_names", "quantization_group") and isinstance(arguments, dict):
                inner = join_pointer(pointer, part)
                yield from _near_misses(context, inner, arguments, "quantization_arguments", refused)


def _near_misses(
    context: Context, pointer: str, values: Mapping[str, JSONValue], kind: str, consequence: str
) -> Iterator[Finding]:
    known = fact_set("closed_names", kind)
    for key in islice(values, MOST):
        guess = None if key in known else closest(key, known)
        if guess is not None and guess not in values:
            where = join_pointer(pointer, key)
            yield Finding(
                f"unknown key {key} (did you mean {guess}?): {consequence}",
                Place(where, on="key"),
                fixes=rename_key(context.analysis, where, guess, f"rename to {guess}"),
            )


def _names(config: ModelConfig) -> frozenset[str]:
    """What a key of this object may have been meant to be: also a key of a text model that is kept flat in it."""
    return _names_of(tuple(record.model_type for record in records(config)))


@lru_cache(maxsize=256)
def _names_of(model_types: tuple[str, ...]) -> frozenset[str]:
    names = set(TOKENS)
    for record in map(load, model_types):
        if record is None:
            continue
        names.update(record.properties, record.synonyms)
        if "rope_parameters" in record.properties:
            names.update(ROPE_KEYS)
        if not record.nested:
            names.update(keys_of_model_code(record))
    return frozenset(names)


def _instead(config: ModelConfig, name: str) -> str:
    value = config.get(name)
    return f"the default {quoted(value)} is used" if value is not None else "the model is built without it"


def _same_kind(record: ConfigType, name: str, value: object) -> bool:
    """The value could stand under that name: a new key of another type is no misspelling."""
    kinds = record.properties.get(record.canonical(name), {}).get("type")
    if kinds is None or value is None:
        return True
    kinds = [kinds] if isinstance(kinds, str) else kinds
    kind = json_kind(value)
    return kind in kinds or (kind == "number" and "integer" in kinds)
