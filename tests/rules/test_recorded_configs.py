"""Configs as transformers writes them: what its classes build and run is no error, and defaults are no warning."""

from __future__ import annotations

import json
import lzma
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from neurarch_rules.engine.analyse import analyse_text
from neurarch_rules.engine.options import Options
from neurarch_rules.engine.run import run

DATA = Path(__file__).parents[1] / "data"

DESERVED = {
    "decoder-start-missing",  # T5 and pairs of encoder and decoder: the class raises when it is trained
    "decoder-flag-missing",  # BertLMHeadModel and its kin; transformers logs the same warning
    "json-nonfinite",  # Infinity as a default of state-space models, which is not JSON
    "kv-cache-context-budget",
    "token-id-out-of-range",  # LLaVA and its kin: the image's id is no row of the default text model
}
"""What the defaults of transformers are rightly warned about."""
TOO_SMALL_TO_RUN = {
    "latent-kv-heads-mismatch",
    "kv-heads-indivisible",
    "experts-per-token-out-of-range",
    "moe-group-topology",
    "paired-sizes-differ",
    "rope-mrope-section",
    "rope-odd-rotary-dim",
    "tower-width-mismatch",
    "feature-layer-out-of-range",
}
"""Errors that only the first forward pass meets; the sizes of small recorded models were drawn to be built, not run."""


def recorded(name: str) -> Iterator[dict[str, Any]]:
    with lzma.open(DATA / name, "rt", encoding="utf-8") as stream:
        for line in stream:
            record = json.loads(line)
            if isinstance(record, dict) and record.get("config"):
                yield record


def grave(config: dict[str, Any]) -> list[tuple[str, str, str]]:
    """(severity, rule, what it says and where) of the errors and warnings."""
    analysis = analyse_text(str(DATA / "absent" / "config.json"), json.dumps(config, indent=2))
    assert analysis is not None
    return [
        (str(item.severity), item.rule, f"{config['model_type']} {item.place.pointer}: {item.message}")
        for item in run(analysis, Options()).findings
        if item.severity in ("error", "warning")
    ]


def test_defaults_are_left_alone() -> None:
    counts: Counter[str] = Counter()
    found = []
    for record in recorded("parameters.jsonl.xz"):
        if record["variant"] == "default":
            counts["configs"] += 1
            found += [item for item in grave(record["config"]) if item[0] == "error" or item[1] not in DESERVED]
    assert found == []
    assert counts["configs"] > 500


def test_models_that_ran_have_no_error() -> None:
    """Their forward pass was recorded together with the cache it filled."""
    records = list(recorded("kv_cache.jsonl.xz"))
    assert [item for record in records for item in grave(record["config"]) if item[0] == "error"] == []
    assert len(records) > 100


def test_models_that_were_saved_have_no_error_but_of_running_them() -> None:
    found = [item for record in recorded("checkpoints.jsonl.xz") for item in grave(record["config"])]
    assert [item for item in found if item[0] == "error" and item[1] not in TOO_SMALL_TO_RUN] == []
