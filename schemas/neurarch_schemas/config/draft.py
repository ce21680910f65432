"""A config while it is being resolved: what was written, laid over the defaults, changed step by step by derivations.

The steps are those of a transformers config class: declared keys first, derivations, nested configs, RoPE and dtype,
then the remaining keys, so that the same key wins when two say the same thing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from neurarch_schemas.catalogue.load import special_float
from neurarch_schemas.config.layer_pattern import LayerPattern

if TYPE_CHECKING:
    from neurarch_schemas.catalogue.load import ConfigType
    from neurarch_schemas.documents.json_value import JSONScalar, JSONValue


class Unusable(Exception):
    """A derivation met a value it cannot work with; what it would have filled in stays as it is."""


class Draft:
    """Mutable, short-lived, local to one ``read_config`` call.

    ``values`` holds canonical keys (and computed ones); ``keywords`` the written keys the class does not declare, until
    a derivation takes them or they become values at the end. ``patterns`` holds per-layer lists that were derived,
    ``per_layer`` the values of keys which ``per_layer_config`` overrides in some layers; ``places`` says where a nested
    config is written (pointer and written keys) when that is not under its own key.
    """

    __slots__ = (
        "derived",
        "is_complete",
        "keywords",
        "nested",
        "patterns",
        "per_layer",
        "places",
        "pointer",
        "type",
        "values",
        "written",
    )

    def __init__(self, record: ConfigType, pointer: str, written: Mapping[str, JSONValue]) -> None:
        self.type = record
        self.pointer = pointer
        self.written = written
        fields, synonyms = record.fields, record.synonyms
        self.values: dict[str, JSONValue] = dict(record.declared)
        self.keywords: dict[str, JSONValue] = {}
        for key, value in written.items():
            if key in record.shadowed:
                continue
            if isinstance(value, list) and any(isinstance(item, dict) and "__float__" in item for item in value):
                value = [special_float(item) if isinstance(item, dict) else item for item in value]
            if key in fields:
                self.values[synonyms.get(key, key)] = value
            else:
                self.keywords[key] = value
        self.derived: dict[str, str | None] = {}
        self.is_complete = True
        self.patterns: dict[str, LayerPattern[JSONScalar]] = {}
        self.per_layer: dict[str, LayerPattern[JSONScalar]] = {}
        self.nested: dict[str, Draft] = {}
        self.places: dict[str, tuple[str, Mapping[str, JSONValue]]] = {}

    # Reading. Names are looked up as attributes of the class are: synonyms lead to the canonical key.

    def has(self, name: str) -> bool:
        return self.type.synonyms.get(name, name) in self.values

    def get(self, name: str) -> JSONValue:
        return self.values.get(self.type.synonyms.get(name, name))

    def is_null(self, name: str) -> bool:
        name = self.type.synonyms.get(name, name)
        return self.values.get(name) is None and name not in self.patterns

    def integer(self, name: str) -> int:
        """Raises Unusable unless the value is an integer."""
        return as_integer(self.get(name))

    def number(self, name: str) -> float:
        """Raises Unusable unless the value is a number."""
        return as_number(self.get(name))

    def text(self, name: str) -> str:
        value = self.get(name)
        if not isinstance(value, str):
            raise Unusable(name)
        return value

    def flag(self, name: str) -> bool:
        return bool(self.get(name))

    def items(self, name: str) -> list[JSONValue]:
        value = self.get(name)
        if not isinstance(value, list):
            raise Unusable(name)
        return value

    def integers(self, name: str) -> list[int]:
        return [as_integer(item) for item in self.items(name)]

    def pattern(self, name: str) -> LayerPattern[JSONScalar]:
        """A per-layer list, written or derived."""
        name = self.type.synonyms.get(name, name)
        if name in self.patterns:
            return self.patterns[name]
        return LayerPattern.of(layer_items(self.items(name)))

    # Changing.

    def derive(self, name: str, value: JSONValue, source: str | None = None) -> None:
        """The class sets this value; ``source`` says from what, for hovers."""
        name = self.type.synonyms.get(name, name)
        self.values[name] = value
        self.derived[name] = source
        self.patterns.pop(name, None)

    def derive_pattern(self, name: str, pattern: LayerPattern[JSONScalar], source: str | None = None) -> None:
        self.derive(name, None, source)
        self.patterns[self.type.synonyms.get(name, name)] = pattern

    def take(self, key: str, default: JSONValue = None) -> JSONValue:
        """The value of a key that is not declared, which is used up by this."""
        return self.keywords.pop(key, default)

    def inside(self, path: str) -> Draft:
        """The nested config at a dotted path ("text_config"). Raises Unusable when there is none."""
        draft = self
        for key in path.split(".") if path else ():
            found = draft.nested.get(key)
            if found is None:
                raise Unusable(path)
            draft = found
        return draft

    def nested_values(self, key: str) -> dict[str, JSONValue] | None:
        """A copy of the object written for a nested config, already put in its place; None when there is none."""
        value = self.values.get(key)
        if not isinstance(value, dict):
            return None
        copy = dict(value)
        self.values[key] = copy
        return copy

    def take_integer(self, key: str, default: int) -> int:
        return as_integer(self.keywords.pop(key, default))


Rule = Callable[[Draft], None]


def layer_items(items: list[JSONValue]) -> list[JSONScalar]:
    """A per-layer list holds names, numbers or flags. Raises Unusable for anything else."""
    kept = [item for item in items if item is None or isinstance(item, str | int | float)]
    if len(kept) != len(items):
        raise Unusable(items)
    return kept


def as_integer(value: JSONValue) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise Unusable(value)
    return value


def as_number(value: JSONValue) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Unusable(value)
    return value


def apply(rules: tuple[Rule, ...], draft: Draft) -> None:
    """Run derivations in order; one that meets unusable values is left out, as are the values it would have set."""
    for rule in rules:
        try:
            rule(draft)
        except (
            Unusable,
            ZeroDivisionError,
            OverflowError,
            KeyError,
            IndexError,
            ValueError,
            TypeError,
            AttributeError,
        ):
            draft.is_complete = False
