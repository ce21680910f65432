"""Weights and cache against what serving engines print for published models (tests/data/engine_memory.json).

Each line holds the words printed, where, the tolerance, and why there is one: tables that are no parameters, padding of
kernels, what stands on every rank, memory printed to two decimals.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from neurarch_lsp.card.similar import catalogue
from neurarch_rules.engine.analyse import analyse_text
from neurarch_schemas.accounting.kv_cache import KVCache
from neurarch_schemas.analysis import Analysis

GIB = 1 << 30
STATE_BYTES = 4
"""Recurrent state of the hybrids below, by their ``mamba_ssm_dtype``; a quantized KV cache leaves it alone."""
DATA = Path(__file__).parent.parent / "data" / "engine_memory.json"
LINES: list[dict[str, Any]] = json.loads(DATA.read_text(encoding="utf-8"))["lines"]


def merged(settings: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """Nested objects merged, not replaced."""
    nested = {
        key: merged(settings[key], value)
        for key, value in changes.items()
        if isinstance(value, dict) and isinstance(settings.get(key), dict)
    }
    return settings | changes | nested


def analysis(line: dict[str, Any]) -> Analysis:
    name = line.get("base", line["model"])
    settings = line.get("config") or next(known.settings for known in catalogue() if known.name == name)
    found = analyse_text("model/config.json", json.dumps(merged(settings, line.get("with", {}))))
    assert found is not None
    assert found.doubt is None
    return found


def weight_bytes(found: Analysis) -> int:
    checkpoint = found.checkpoint
    if checkpoint is not None and checkpoint.bytes is not None:
        return checkpoint.bytes
    assert found.weights is not None
    return found.weights.bytes


def layers_at(cache: KVCache, tokens: int, *, windowed: bool) -> int:
    """Scalars that so many cells take in the layers with a window, or in those without."""
    kept = [(entry, layers) for entry, layers in cache.entries if (entry.window is not None) == windowed]
    return sum(entry.per_token * layers for entry, layers in kept) * tokens


def derived_gib(line: dict[str, Any]) -> float:
    """The printed amount as this project derives it, for one device."""
    found = analysis(line)
    ranks, beside, bits = line.get("ranks", 1), line.get("beside_bytes", 0), line.get("bits", 16)
    if line["quantity"] == "weights":
        return (weight_bytes(found) / ranks + beside) / GIB
    cache = found.kv_cache
    assert cache is not None
    if line["quantity"] == "tokens":
        return float(line["tokens"] * (cache.per_token * bits / 8 / ranks + beside) / GIB)
    if line["quantity"] == "request":
        growing = cache.at(line["length"]) - cache.constant
        return float(line["concurrency"] * (growing * bits / 8 + cache.constant * STATE_BYTES) / GIB)
    windowed = line["quantity"] == "windowed layers"
    return float(layers_at(cache, line["tokens"], windowed=windowed) * bits / 8 / GIB)


@pytest.mark.parametrize("line", LINES, ids=lambda line: f"{line['engine']}-{line['model']}-{line['quantity']}")
def test_engines_print_what_is_derived(line: dict[str, Any]) -> None:
    assert derived_gib(line) == pytest.approx(line["gib"], rel=line["tolerance"])


def test_lines_cover_what_models_differ_in() -> None:
    assert len(LINES) >= 30
    assert {line["engine"].split()[0].rstrip(",") for line in LINES} == {"vLLM", "SGLang", "llama.cpp", "koboldcpp"}
    assert all(line["why"] and line["source"] and line["tolerance"] <= 0.075 for line in LINES)
    assert {line["quantity"] for line in LINES} == {"weights", "tokens", "request", "full layers", "windowed layers"}
