from __future__ import annotations

from collections.abc import Collection, Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Fix, Place
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.fixes import replace_value, set_value
from neurarch_rules.facts.places import written
from neurarch_rules.facts.sources import config_type
from neurarch_rules.facts.spelling import closest
from neurarch_rules.facts.words import quoted
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.documents.pointer import join_pointer

RULE = RuleInfo(
    name="unknown-model-type",
    severity="error",
    category="correctness",
    summary="A model type that transformers does not have, or none at all",
    about="file",
)


def check(context: Context) -> Iterator[Finding]:
    config, data = context.analysis.config, context.analysis.document.data
    if config is None or not isinstance(data, dict) or data.get("auto_map"):
        return
    from neurarch_schemas.catalogue.load import index

    known = index()["types"]
    if config.is_native:
        yield from _parts(context, config, known)
    value = data.get("model_type")
    names = data.get("architectures")
    architecture = names[0] if isinstance(names, list) and names and isinstance(names[0], str) else None
    owners = index()["classes"].get(architecture, ()) if architecture else ()
    fixes: tuple[Fix, ...] = ()
    if value is None:
        if not owners:
            return
        if len(owners) == 1:
            fixes = set_value(context.analysis, "", "model_type", owners[0], f'model_type = "{owners[0]}"', "unsafe")
        yield Finding(
            f"no model_type: transformers' auto classes cannot tell what this is ({architecture} belongs to "
            f"{' or '.join(owners[:3])})",
            Place("/model_type"),
            fixes=fixes,
            severity="warning",
        )
    elif not isinstance(value, str):
        yield Finding(
            f"model_type must be a string, not {quoted(value)}: transformers cannot choose a config class",
            Place("/model_type"),
            severity="error",
        )
    elif value not in known:
        normal = value.lower().replace("-", "_")
        guess = normal if normal in known else closest(value, owners) or closest(value, known)
        if guess is not None and guess not in owners and _differs_by_version(value, guess):
            guess = None
        if guess is None and owners and architecture is not None and len(owners) == 1:
            guess = owners[0]
        if guess is None:
            return
        fixes = replace_value(context.analysis, "/model_type", guess, f'model_type = "{guess}"', "unsafe")
        reason = f" ({architecture} belongs to {guess})" if guess in owners else ""
        yield Finding(
            f"transformers has no model type {quoted(value)}: did you mean {quoted(guess)}?{reason}",
            Place("/model_type"),
            fixes=fixes,
            severity="warning",
        )


def _parts(context: Context, config: ModelConfig, known: Collection[str]) -> Iterator[Finding]:
    """Nested objects whose own model type chooses their class."""
    record, data = config_type(config), written(context.analysis, config)
    for key, nested in record.nested.items() if record is not None else ():
        part = data.get(key)
        value = part.get("model_type") if nested.any_type and isinstance(part, dict) else None
        if not isinstance(value, str) or value in known:
            continue
        guess = closest(value, known)
        if guess is None:
            continue  # some classes give names of their own to their parts
        pointer = join_pointer(config.pointer, key, "model_type")
        yield Finding(
            f"transformers has no model type {quoted(value)} for {key} and refuses the file: did you mean "
            f"{quoted(guess)}?",
            Place(pointer),
            fixes=replace_value(context.analysis, pointer, guess, f'model_type = "{guess}"', "unsafe"),
        )


SHORT = 5


def _differs_by_version(value: str, guess: str) -> bool:
    """A newer member of a family, or a name too short to be taken for another one."""
    letters = [character for character in value if not character.isdigit()]
    return len(value) < SHORT or letters == [character for character in guess if not character.isdigit()]
