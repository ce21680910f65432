"""Derived values beside the keys they follow from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from neurarch_lsp.render.key_facts import configs, value_text
from neurarch_lsp.render.model_numbers import attention_kinds, tokens
from neurarch_lsp.render.sections import parameters_of
from neurarch_schemas.accounting.quantities import count, decimal_bytes

if TYPE_CHECKING:
    from neurarch_schemas.analysis import Analysis
    from neurarch_schemas.config.model_config import ModelConfig
    from neurarch_schemas.documents.document import Span

LENGTHS = (
    "max_position_embeddings",
    "n_positions",
    "sliding_window",
    "original_max_position_embeddings",
    "max_seq_len",
)
HEADS = ("num_attention_heads",)


@dataclass(frozen=True, slots=True)
class Hint:
    """``pointer`` names the key whose hover explains the value."""

    offset: int
    label: str
    pointer: str
    tooltip: str


def hints(analysis: Analysis, span: Span) -> list[Hint]:
    """Hints whose place lies in ``span``, in order."""
    if analysis.config is None:
        return []
    found = [hint for config in configs(analysis.config) for hint in _of_config(analysis, config)]
    found += _nested(analysis)
    return sorted((hint for hint in found if span[0] <= hint.offset <= span[1]), key=lambda hint: hint.offset)


def _of_config(analysis: Analysis, config: ModelConfig) -> Iterator[Hint]:
    document = analysis.document
    kinds = attention_kinds(analysis)
    for setting in config.settings.values():
        if setting.pointer is None or setting.origin != "written":
            continue
        value, name = setting.value, setting.name
        at = document.value_span(setting.pointer)
        if at is None:
            continue
        label, tooltip = "", ""
        if name == "num_key_value_heads":
            names = [kind for kind, _ in kinds if "linear" not in kind]
            label, tooltip = (names[0], "query heads for each KV head") if len(names) == 1 else ("", "")
        elif name in HEADS and not _is_written(config, "head_dim"):
            size = config.get("head_dim")
            hidden = config.get("hidden_size")
            if (
                size is None
                and isinstance(hidden, int)
                and isinstance(value, int)
                and value > 0
                and hidden % value == 0
            ):
                size = hidden // value
            label, tooltip = (
                (f"head_dim {size}", "hidden_size / num_attention_heads") if isinstance(size, int) else ("", "")
            )
        elif name in LENGTHS and _is_count(value) and isinstance(value, int) and value >= 10_000:
            words = tokens(value)
            label, tooltip = (f"{words} tokens", f"{value:,} tokens") if words != f"{value:,}" else ("", "")
        elif name == "dtype" and analysis.weights is not None:
            label = f"{decimal_bytes(analysis.weights.bytes)} of weights"
            tooltip = f"{analysis.weights.bytes:,} bytes in {analysis.weights.dtype}"
        elif isinstance(value, list) and len(value) > 3 and all(isinstance(item, str) for item in value):
            groups = Counter(str(item) for item in value).most_common(4)
            label = ", ".join(f"{number} {kind}" for kind, number in groups)
            tooltip = f"{len(value)} entries"
            at = (at[0], at[0] + 1)
        if label:
            yield Hint(at[1], label, setting.pointer, tooltip)
    for name, written in config.overridden.items():
        effective = config.settings.get(name)
        at = document.value_span(written.pointer) if written.pointer else None
        if (
            effective is not None
            and at is not None
            and written.pointer
            and not isinstance(effective.value, dict | list)
        ):
            label = f"becomes {value_text(effective.value, 24)}"
            yield Hint(at[1], label, written.pointer, "transformers replaces the value")


def _nested(analysis: Analysis) -> Iterator[Hint]:
    """Parameters of the towers and the language model of a composite."""
    config = analysis.config
    for key, nested in config.nested.items() if config is not None else ():
        at = analysis.document.value_span(nested.pointer)
        scalars = parameters_of(analysis, key)
        if at is not None and scalars:
            container = analysis.document.container(nested.pointer)
            inside = at[0] + 1 if container is None else analysis.document.opening(container) + 1
            yield Hint(inside, f"{count(scalars)} parameters", nested.pointer, f"{scalars:,} parameters")


def _is_written(config: ModelConfig, name: str) -> bool:
    setting = config.setting(name)
    return setting is not None and setting.origin == "written" and setting.value is not None


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
