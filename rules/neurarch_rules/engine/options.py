"""The settings that a rule or the engine may read, as plain data; validation happens where a settings file is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from neurarch_rules.engine.finding import Severity

Level = Literal["error", "warning", "info", "hint", "off"]


@dataclass(frozen=True, slots=True)
class Ignore:
    """One suppression entry of a settings file.

    ``file`` is a glob relative to the folder of the settings file, ``rules`` are rule names, aliases or categories
    (empty: every rule), ``pointer`` a JSON pointer: the finding stands there or below (None: anywhere in the file).
    """

    file: str = "**"
    rules: tuple[str, ...] = ()
    pointer: str | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Serving:
    """How the model is meant to be served; every field but the first four is None unless somebody says so."""

    context: int = 8192
    """Tokens of one sequence that are budgeted for."""
    batch: int = 1
    kv_cache_gb: float = 4.0
    """Budget for the KV cache of ``batch`` sequences, in units of 1e9 bytes."""
    kv_cache_dtype: str | None = None
    """torch name ("float8_e4m3fn"); None: what the config says."""
    tensor_parallel: int | None = None
    pipeline_parallel: int | None = None
    gpu: str | None = None
    gpu_memory_gib: float | None = None
    gpus: int | None = None
    engine: str | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """Thresholds of cost rules."""

    deep_attention_layers: int = 48
    """From this many attention layers on, unscaled residual projections are reported. GPT-2 XL, the deepest model of
    the paper that introduced the 1/sqrt(2L) scaling, has 48 (Radford et al. 2019, section 2.3)."""
    full_mha_kib_per_token: float = 256.0


@dataclass(frozen=True, slots=True)
class Python:
    """How Python model code is read."""

    search_paths: tuple[str, ...] = ()
    """Folders that imports are looked up in after the file's own import root, absolute or beside the settings file."""


@dataclass(frozen=True, slots=True)
class Options:
    """Settings that apply to one file; ``ignores`` holds only the entries whose glob matches it."""

    select: tuple[str, ...] = ()
    """Names, aliases, categories or "all"; empty: the rules that run by default."""
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: Mapping[str, Level] = field(default_factory=dict)
    ignores: tuple[Ignore, ...] = ()
    serving: Serving = field(default_factory=Serving)
    limits: Limits = field(default_factory=Limits)
    python: Python = field(default_factory=Python)
    transformers_version: str | None = None
    plugins: tuple[str, ...] = ()
    """Packages whose rules (entry points of the group ``neurarch_lsp.rules``) run too."""
    exclude: tuple[str, ...] = ()
    """Globs of files that are not linted, relative to the folder of the settings file."""


def options_from(data: Mapping[str, Any], base: Options | None = None) -> Options:
    """Options from the (valid) data of a settings table, keys written with hyphens; ``base`` supplies the rest."""
    values: dict[str, Any] = _known(Options, base or Options())
    for key, value in data.items():
        name = key.replace("-", "_")
        if name == "serving":
            values[name] = _section(Serving, values[name], value)
        elif name == "limits":
            values[name] = _section(Limits, values[name], value)
        elif name == "python":
            values[name] = Python(tuple(value.get("search-paths", values[name].search_paths)))
        elif name == "ignores":
            values[name] = tuple(ignore_from(entry) for entry in value)
        elif name == "severity":
            values[name] = {**values[name], **value}
        elif name in values:
            values[name] = tuple(value) if isinstance(value, list) else value
    return Options(**values)


def ignore_from(entry: Mapping[str, Any]) -> Ignore:
    rules = entry.get("rules", entry.get("rule", ()))
    return Ignore(
        file=str(entry.get("file", "**")),
        rules=(rules,) if isinstance(rules, str) else tuple(rules),
        pointer=entry.get("pointer"),
        reason=str(entry.get("reason", "")),
    )


def _section(kind: type[Serving] | type[Limits], current: Serving | Limits, data: Mapping[str, Any]) -> Any:
    values = _known(kind, current)
    values.update((key.replace("-", "_"), value) for key, value in data.items() if key.replace("-", "_") in values)
    return kind(**values)


def _known(kind: type, current: object) -> dict[str, Any]:
    return {item.name: getattr(current, item.name) for item in fields(kind)}


__all__ = ["Ignore", "Level", "Limits", "Options", "Python", "Serving", "Severity", "ignore_from", "options_from"]
