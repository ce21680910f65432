"""The settings that a rule or the engine may read, as plain data; validation happens where a settings file is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from neurarch_rules.engine.finding import Severity

Level = Literal["error", "warning", "info", "hint", "off"]


class Ignore(NamedTuple):
    """One suppression entry of a settings file.

    ``file`` is a glob relative to the folder of the settings file, ``rules`` are rule names, aliases or categories
    (empty: every rule), ``pointer`` a JSON pointer: the finding stands there or below (None: anywhere in the file).
    """

    file: str = "**"
    rules: tuple[str, ...] = ()
    pointer: str | None = None
    reason: str = ""


class Serving(NamedTuple):
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
    usd_per_hour: float | None = None
    """Price of one GPU and hour, for reports."""
    cache_levels_kib: tuple[int, ...] | None = None
    """KiB per token from which reports call a cache moderate, high and very high."""


class Limits(NamedTuple):
    """Thresholds of cost rules."""

    deep_attention_layers: int = 48
    """From this many attention layers on, unscaled residual projections are reported. GPT-2 XL, the deepest model of
    the paper that introduced the 1/sqrt(2L) scaling, has 48 (Radford et al. 2019, section 2.3)."""
    full_mha_kib_per_token: float = 256.0


class Python(NamedTuple):
    """How Python model code is read."""

    search_paths: tuple[str, ...] = ()
    """Folders that imports are looked up in after the file's own import root, absolute or beside the settings file."""


class Options(NamedTuple):
    """Settings that apply to one file; ``ignores`` holds only the entries whose glob matches it."""

    select: tuple[str, ...] = ()
    """Names, aliases, categories or "all"; empty: the rules that run by default."""
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: Mapping[str, Level] = {}  # never changed
    ignores: tuple[Ignore, ...] = ()
    serving: Serving = Serving()
    limits: Limits = Limits()
    python: Python = Python()
    transformers_version: str | None = None
    plugins: tuple[str, ...] = ()
    """Packages whose rules (entry points of the group ``neurarch_lsp.rules``) run too."""
    exclude: tuple[str, ...] = ()
    """Globs of files that are not linted, relative to the folder of the settings file."""


def options_from(data: Mapping[str, Any], base: Options | None = None) -> Options:
    """Options from the (valid) data of a settings table, keys written with hyphens; ``base`` supplies the rest."""
    values: dict[str, Any] = (base or Options())._asdict()
    for key, value in data.items():
        name = key.replace("-", "_")
        if name == "serving" or name == "limits":
            values[name] = values[name]._replace(**_known(value, values[name]))
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


def _known(data: Mapping[str, Any], section: Serving | Limits) -> dict[str, Any]:
    """The settings of a section under their names here; unknown ones are left to validation."""
    named = {key.replace("-", "_"): value for key, value in data.items()}
    known = {name: value for name, value in named.items() if name in section._fields}
    return {name: tuple(value) if isinstance(value, list) else value for name, value in known.items()}


__all__ = ["Ignore", "Level", "Limits", "Options", "Python", "Serving", "Severity", "ignore_from", "options_from"]
