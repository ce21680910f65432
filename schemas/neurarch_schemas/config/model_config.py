"""A model's configuration with synonyms resolved, nested configs opened and defaults filled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from math import inf, isfinite

from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.layer_pattern import LayerPattern
from neurarch_schemas.config.setting import Setting
from neurarch_schemas.documents.json_value import JSONScalar, JSONValue
from neurarch_schemas.record import Record


class Conflict(Record):
    """One canonical key written twice under different names, with different values."""

    name: str
    first: str
    """JSON pointers of the two keys; ``ModelConfig.setting(name).pointer`` is the one that counts."""
    second: str


LARGEST_SIZE = 10**18
"""Beyond it sums leave what a float can show; no model comes near."""

LISTS_OF_LAYER_KINDS = frozenset({"layer_types", "mlp_layer_types"})


class ModelConfig(Record):
    """Settings of one config object (the document itself, or a nested ``text_config``).

    The typed readers raise CannotBuild when a value is missing or of the wrong type, so an architecture file can
    read keys without checking them: the reason reaches the user instead of a number.
    """

    model_type: str
    pointer: str
    """Where this object stands in the document: "" or "/text_config"."""
    settings: Mapping[str, Setting]
    nested: Mapping[str, ModelConfig] = {}
    """Canonical key -> nested config; present also where the whole nested config is defaulted."""
    architecture: str = ""
    """The class to build: ``architectures[0]``, else the type's default head class."""
    patterns: Mapping[str, LayerPattern[JSONScalar]] = {}
    """Per-layer lists that were derived (``layer_types`` from a period): the list itself may be too long to write.

    Also, under its own name, each key whose value differs in single layers (``head_dim`` of Gemma 4)."""
    is_native: bool = True
    """transformers has a config class for the type; False for remote code and unknown types."""
    config_class: str = ""
    """transformers' class for this object ("LlamaConfig"); "" for unknown types."""
    synonyms: Mapping[str, str] = {}
    """Other accepted name -> canonical key; every reader below takes either."""
    overridden: Mapping[str, Setting] = {}
    """Canonical key -> the setting as written, where the config class replaces its value."""
    conflicts: tuple[Conflict, ...] = ()
    is_complete: bool = True
    """False where the config class would derive something from values that it cannot be derived from."""

    def __contains__(self, name: str) -> bool:
        return self.setting(name) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self.settings)

    def setting(self, name: str) -> Setting | None:
        return self._by_any_name.get(name)

    @cached_property
    def _by_any_name(self) -> Mapping[str, Setting]:
        """Asked for hundreds of times a file. A synonym leads to the canonical key, where that is set."""
        settings = self.settings
        return {**settings, **{name: settings[key] for name, key in self.synonyms.items() if key in settings}}

    @property
    def is_derived(self) -> bool:
        """``is_complete`` of this config and of all nested in it."""
        return self.is_complete and all(nested.is_derived for nested in self.nested.values())

    @cached_property
    def whole_numbers(self) -> Mapping[str, int]:
        """The settings that hold one, by every name: an int, or a float without a fraction."""
        found: dict[str, int] = {}
        for name, setting in self._by_any_name.items():
            value = setting.value
            if type(value) is int:
                found[name] = value
            elif type(value) is float and value.is_integer():
                found[name] = int(value)
        return found

    def get(self, name: str, default: JSONValue = None) -> JSONValue:
        found = self.setting(name)
        return default if found is None else found.value

    def is_set(self, name: str) -> bool:
        """Present and not null."""
        return self.synonyms.get(name, name) in self.patterns or self.get(name) is not None

    def integer(self, name: str, default: int | None = None) -> int:
        value = self.get(name)
        if value is None and default is not None:
            return default
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool):
            raise CannotBuild(self._wrong(name, value, "an integer"), (name,))
        if abs(value) > LARGEST_SIZE:
            raise CannotBuild(f"{name} is larger than any size of a model", (name,))
        if value < 0:
            raise CannotBuild(f"{name} is negative ({value})", (name,))
        return value

    def optional_integer(self, name: str) -> int | None:
        return self.integer(name) if self.is_set(name) else None

    def number(self, name: str, default: float | None = None) -> float:
        value = self.get(name)
        if value is None and default is not None:
            return default
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise CannotBuild(self._wrong(name, value, "a number"), (name,))
        try:
            number = float(value)
        except OverflowError:
            number = inf
        if not isfinite(number):
            raise CannotBuild(self._wrong(name, value, "a finite number"), (name,))
        return number

    def flag(self, name: str, default: bool | None = None) -> bool:
        """Python truth of the value, as the model code tests it; null counts as false."""
        value = self.get(name)
        if value is None:
            return bool(default)
        return bool(value)

    def text(self, name: str, default: str | None = None) -> str:
        value = self.get(name)
        if value is None and default is not None:
            return default
        if not isinstance(value, str):
            raise CannotBuild(self._wrong(name, value, "a string"), (name,))
        return value

    def items(self, name: str) -> list[JSONValue]:
        value = self.get(name)
        if not isinstance(value, list):
            raise CannotBuild(self._wrong(name, value, "a list"), (name,))
        return value

    def integers(self, name: str) -> tuple[int, ...]:
        """A list of integers; a single integer counts as a list of one."""
        value = self.get(name)
        items = value if isinstance(value, list) else [value]
        if not all(isinstance(item, int) and not isinstance(item, bool) for item in items):
            raise CannotBuild(self._wrong(name, value, "a list of integers"), (name,))
        return tuple(item for item in items if isinstance(item, int))

    def counts(self, name: str) -> tuple[int, ...]:
        """``integers``, none of which is negative."""
        found = self.integers(name)
        if any(item < 0 for item in found):
            raise CannotBuild(f"{name} holds a negative number", (name,))
        return found

    def strings(self, name: str) -> tuple[str, ...]:
        value = self.items(name)
        if not all(isinstance(item, str) for item in value):
            raise CannotBuild(self._wrong(name, value, "a list of strings"), (name,))
        return tuple(item for item in value if isinstance(item, str))

    def mapping(self, name: str) -> Mapping[str, JSONValue]:
        value = self.get(name)
        if not isinstance(value, dict):
            raise CannotBuild(self._wrong(name, value, "an object"), (name,))
        return value

    def layers(self, name: str) -> LayerPattern[JSONScalar]:
        """A per-layer list, written or derived, as a run-length list; never expanded to a number in the file.

        A list of layer kinds is as long as there are layers: surplus entries (of layers that the model class does not
        build) are cut off, and too few raise CannotBuild, as building would fail.
        """
        pattern = self._pattern(name)
        if name not in LISTS_OF_LAYER_KINDS or not self.is_set("num_hidden_layers"):
            return pattern
        count = self.integer("num_hidden_layers")
        if pattern.length < count:
            raise CannotBuild(f"{name} has {pattern.length} entries for {count} layers", (name, "num_hidden_layers"))
        return pattern.head(count)

    def _pattern(self, name: str) -> LayerPattern[JSONScalar]:
        value = self.patterns.get(self.synonyms.get(name, name))
        if value is not None:
            return value
        items = self.items(name)
        if not all(item is None or isinstance(item, str | int | float) for item in items):
            raise CannotBuild(self._wrong(name, self.get(name), "a list of names or numbers"), (name,))
        return LayerPattern.of(item for item in items if not isinstance(item, list | dict))

    def windows(self, length_key: str = "num_hidden_layers") -> LayerPattern[int | None]:
        """The attention window of each layer, None for full attention.

        From ``layer_types`` where the type has them, else ``sliding_window`` for every layer.
        """
        window = self.optional_integer("sliding_window")
        if self.is_set("layer_types"):
            return self.layers("layer_types").map(lambda kind: window if kind == "sliding_attention" else None)
        if self.get("use_sliding_window") is False:
            window = None
        return LayerPattern.constant(window, self.integer(length_key))

    def nested_config(self, name: str) -> ModelConfig:
        """A nested config (``text_config``, ``vision_config``). Raises CannotBuild when the type has none."""
        found = self.nested.get(name)
        if found is None:
            raise CannotBuild(f"{name} is missing", (name,))
        return found

    def _wrong(self, name: str, value: JSONValue, expected: str) -> str:
        where = f"{self.pointer}/{name}".lstrip("/").replace("/", ".")
        if value is None and name not in self:
            return f"{where} is not given and {self.model_type} has no default for it"
        shown = repr(value)
        return f"{where} must be {expected}, not {shown if len(shown) < 40 else shown[:37] + '...'}"
