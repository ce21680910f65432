"""Reported faults, look-alikes and published configs, where they lie beside the repository; laid into real folders."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neurarch_lsp.linting.lint import Outcome, lint, read_text
from neurarch_lsp.settings.resolve import Resolver
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.locate import span_of

SHARED = Path(__file__).resolve().parents[2].parent / "shared"
CONFIGS = SHARED / "configs"
CASES = SHARED / "cases"


@dataclass(frozen=True)
class Case:
    id: str
    data: dict[str, Any]

    @property
    def kind(self) -> str:
        return str(self.data["kind"])


def cases(name: str, input_type: str = "json") -> list[Case]:
    """The cases of a file, JSON or Python; [] where it is not there."""
    path = CASES / name
    if not path.exists():
        return []
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [Case(line["id"], line) for line in lines if line["input_type"] == input_type]


def lay_out(case: Case, folder: Path) -> Path:
    """Write a case as its README says and return the path of the file to lint."""
    context = case.data["context"]
    for name in context.get("dir_listing", ()):
        _write(folder / name, "")
    for name, text in context.get("files", {}).items():
        _write(folder / name, text)
    if context.get("tokenizer_size"):
        _write(folder / "tokenizer.json", json.dumps(_tokenizer(context["tokenizer_size"])))
    settings = []
    cli = context.get("cli", {})
    parallel = cli.get("tensor_parallel_size") or cli.get("world_size")
    if parallel:
        settings.append(f"tensor-parallel = {parallel}")
    if context.get("gpu_memory_gib"):
        settings.append(f"gpu-memory-gib = {context['gpu_memory_gib']}")
    if settings:
        _write(folder / "neurarch-lsp.toml", "[serving]\n" + "\n".join(settings) + "\n")
    path = folder / case.data["file_name"]
    _write(path, case.data["input"])
    return path


def _tokenizer(size: int) -> dict[str, Any]:
    return {
        "version": "1.0",
        "model": {"type": "BPE", "vocab": {f"t{index}": index for index in range(size)}, "merges": []},
    }


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8"))


def findings(path: Path) -> tuple[Outcome, tuple[Finding, ...]]:
    outcome = lint(str(path), str(path), read_text(str(path)), Resolver().options_for(str(path)))
    return outcome, outcome.report.findings if outcome.report else ()


def published() -> Iterator[tuple[str, str, str]]:
    """(name in the corpus, real file name, text) of each published file."""
    if not CONFIGS.exists():
        return
    for path in sorted(CONFIGS.glob("*.json")):
        yield path.name, real_name(path.name), path.read_text(encoding="utf-8")


def real_name(name: str) -> str:
    for ending in ("generation_config.json", "adapter_config.json", "params.json"):
        if name.endswith("." + ending):
            return ending
    return "config.json"


def is_found(case: Case, outcome: Outcome) -> bool:
    """As the cases' README defines it: severity as graver, key in a pointer or related one, or that line."""
    wanted = {"warn": "warning"}.get(case.data["severity"], case.data["severity"])
    order = ["error", "warning", "info", "hint"]
    report = outcome.report
    if report is None:
        return False
    where = case.data["key_or_line"]
    for finding in report.findings:
        if order.index(finding.severity or "hint") > order.index(wanted):
            continue
        pointers = [finding.place.pointer, *(related.place.pointer for related in finding.related)]
        line = report.document.lines.position(span_of(finding.place, report.document)[0])[0] + 1
        wanted_line = _names_line(where)
        if wanted_line is not None and abs(line - wanted_line) <= 1:
            return True
        if any(_has_key(pointer, where) for pointer in pointers if pointer):
            return True
    return False


def _names_line(where: str) -> int | None:
    import re

    match = re.search(r"line (\d+)", where)
    return int(match[1]) if match else None


def _has_key(pointer: str, where: str) -> bool:
    keys = [key for key in where.split(" ")[0].split(".") if key]
    parts = pointer.split("/")[1:]
    return any(parts[start : start + len(keys)] == keys for start in range(len(parts)))


def relative(path: Path) -> str:
    return os.path.relpath(path)
