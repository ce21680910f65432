"""Each rule on three models as transformers writes them: silent as they are, found once the fault is made."""

from __future__ import annotations

import copy
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from neurarch_lsp.linting.lint import lint, read_text
from neurarch_lsp.settings.resolve import Resolver
from neurarch_rules.engine.discovery import all_rules
from tests.rules.recorded_faults import FAULTS, NULL, Data, Fault
from tests.rules.test_recorded_configs import recorded

SINGLE_TYPE = {"architectures-vs-checkpoint", "overridden-value", "rope-key-newer-than-file"}
"""Rules about one model type, or one release and one type: their three files differ in size alone."""


@cache
def models() -> dict[str, Data]:
    """model type -> the config its class writes, with the class named."""
    found: dict[str, Data] = {}
    for record in recorded("parameters.jsonl.xz"):
        if record["variant"] == "default":
            found.setdefault(record["model_type"], {**record["config"], "architectures": [record["architecture"]]})
    return found


@cache
def saved_models() -> dict[str, Data]:
    return {record["model_type"]: record for record in recorded("checkpoints.jsonl.xz")}


def change(config: Data, pointer: str, value: Any) -> None:
    """Set a key at a dotted place; None removes it."""
    *outer, last = pointer.split(".")
    for key in outer:
        config = config.setdefault(key, {})
    if value is None:
        config.pop(last, None)
    else:
        config[last] = None if value is NULL else value


def write(folder: Path, name: str, content: Any) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content, indent=2), encoding="utf-8")
    return path


def rules_found(folder: Path, name: str) -> list[str]:
    path = str(folder / name)
    report = lint(path, path, read_text(path), Resolver().options_for(path)).report
    assert report is not None
    return [finding.rule for finding in report.findings]


def lay_out(fault: Fault, number: int, folder: Path, *, with_fault: bool) -> None:
    model_type = fault.types[number]
    record = saved_models()[model_type] if fault.saved else {}
    config: Data = copy.deepcopy(record.get("config") or models()[model_type])
    if fault.rule in SINGLE_TYPE:
        config["vocab_size"] = 1000 * (number + 30)
    if with_fault:
        changes = fault.keys(config) if callable(fault.keys) else fault.keys
        for pointer, value in changes.items():
            change(config, pointer, value)
    text = json.dumps(config, indent=2)
    write(folder, "config.json", fault.text(text) if fault.text and with_fault else text)
    if fault.saved:
        names = [fault.tensors(name) if with_fault else name for name, *_ in record["tensors"]]
        weight_map = {name: "model.safetensors" for name in names if name is not None}
        write(folder, "model.safetensors.index.json", {"weight_map": weight_map})
    if with_fault:
        for name, content in fault.beside.items():
            write(folder, name, content)
        if fault.settings:
            write(folder, "neurarch-lsp.toml", fault.settings + "\n")
        if fault.content:
            write(folder, fault.name, fault.content)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.rule)
def test_a_fault_is_found_in_three_models(fault: Fault, tmp_path: Path) -> None:
    for number in range(3):
        good, bad = tmp_path / f"good{number}", tmp_path / f"bad{number}"
        lay_out(fault, number, good, with_fault=False)
        lay_out(fault, number, bad, with_fault=True)
        assert fault.rule in rules_found(bad, fault.name), fault.types[number]
        if fault.name == "config.json" and fault.rule not in DEFAULTS_HAVE_IT:
            assert fault.rule not in rules_found(good, fault.name), fault.types[number]


DEFAULTS_HAVE_IT = {"decoder-flag-missing", "full-mha-serving-cost", "moe-no-aux-loss"}
"""What plain defaults already are: an encoder under a causal head, a cache for every head, a loss that is off."""


def test_every_rule_about_files_is_here() -> None:
    about_files = {rule.RULE.name for rule in all_rules(()) if rule.RULE.reads != ("python",)}
    assert {fault.rule for fault in FAULTS} == about_files
    assert {fault.rule for fault in FAULTS if len(set(fault.types)) < 3} == SINGLE_TYPE
