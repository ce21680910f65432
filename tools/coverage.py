"""The coverage table of architectures, held against the recorded tensors of tests/data.

Usage: python tools/coverage.py            print how many types of each group are exact, and what is refused
       python tools/coverage.py --write    write docs/architectures.md
       python tools/coverage.py --check    exit 1 when docs/architectures.md is not what --write would write
"""

from __future__ import annotations

import json
import lzma
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from neurarch_schemas import architectures
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.read import read_config
from neurarch_schemas.modules.tree import rows

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "architectures.md"
CAUSAL = ("ForCausalLM", "LMHeadModel")
MULTIMODAL = ("ForConditionalGeneration", "ForVisionText2Text", "ForTextToText", "ForProteinText2Text")
GROUPS = ("Causal language models", "Conditional generation: multimodal models and encoder-decoders", "Everything else")


def group(architecture: str) -> str:
    if architecture.endswith(CAUSAL):
        return GROUPS[0]
    return GROUPS[1] if architecture.endswith(MULTIMODAL) else GROUPS[2]


def verdict(record: dict[str, Any]) -> str:
    """ "exact", "wrong", or why the type is refused."""
    expected: Counter[tuple[str, tuple[int, ...], str]] = Counter()
    for name, shape, kind, count in record["tensors"]:
        expected[(name, tuple(shape), kind)] += count
    try:
        tree = architectures.build(read_config(record["config"]))
    except CannotBuild as error:
        return str(error)
    ours = Counter({(row.name, row.shape, str(row.kind)): row.count for row in rows(tree)})
    return "exact" if ours == expected else "wrong"


def records(name: str) -> list[dict[str, Any]]:
    text = lzma.decompress((ROOT / "tests" / "data" / f"{name}.jsonl.xz").read_bytes()).decode()
    return [json.loads(line) for line in text.splitlines()]


def verdicts() -> dict[str, dict[str, str]]:
    """group -> model type -> the worst verdict over its recorded variants."""
    found: dict[str, dict[str, str]] = {name: {} for name in GROUPS}
    for record in records("parameters"):
        types = found[group(record["architecture"])]
        if types.get(record["model_type"], "exact") == "exact":
            types[record["model_type"]] = verdict(record)
    return found


def classes() -> dict[str, dict[str, str]]:
    """model type -> class -> verdict, for every class that transformers maps to a type (tools/record_heads.py)."""
    found: dict[str, dict[str, str]] = {}
    for record in records("heads"):
        found.setdefault(record["model_type"], {})[record["architecture"]] = verdict(record)
    return found


def further_classes(found: dict[str, dict[str, str]], listed: set[str]) -> list[str]:
    """What else is exact: the other classes of a type, and types that the tables above do not list."""
    known = {model_type: each for model_type, each in found.items() if model_type in architectures.families()}
    count = sum(len(each) for each in known.values())
    exact = sum(value == "exact" for each in known.values() for value in each.values())
    refused = [
        f"`{name}` of `{model_type}`"
        for model_type, each in known.items()
        for name, value in each.items()
        if value != "exact"
    ]
    return [
        "",
        "## Every class of a type",
        "",
        f"transformers maps {count} recorded classes to these types: with a language, classification, retrieval or",
        f"segmentation head, as a backbone, for pre-training. {exact} are exact in a small model with three labels.",
        "Refused: " + ", ".join(refused) + ".",
        "",
        "Exact too: " + ", ".join(f"`{name}`" for name in sorted(known) if name not in listed) + ".",
        "",
        "Recorded types without an architecture here: "
        + ", ".join(f"`{name}`" for name in sorted(set(found) - set(known)))
        + ".",
    ]


def remote_code() -> list[str]:
    """Types outside transformers, with where the totals they are held to come from."""
    text = (ROOT / "tests" / "data" / "remote_code_totals.jsonl").read_text(encoding="utf-8")
    known = [json.loads(line) for line in text.splitlines()]
    lines = [
        "",
        "## Models that bring their own code",
        "",
        "Types outside transformers, built as the code that comes with such a model does. Their totals equal these:",
        "",
    ]
    return lines + [
        f"- `{record['config']['model_type']}`: {record['parameters']:,} ({record['source']})" for record in known
    ]


def page(found: dict[str, dict[str, str]]) -> str:
    lines = [
        "# Architectures",
        "",
        "Which model types give exact tensors. A type counts as exact when every recorded variant of it (the defaults",
        "of its config class, a small model with odd sizes, and if needed one more) gives the recorded tensors, name",
        "by name and shape by shape. Any other type is refused with the reason, never guessed.",
        "Made by `python tools/coverage.py --write`; a test keeps it true.",
        "",
        "| group | types recorded | exact | refused |",
        "|:--|--:|--:|--:|",
    ]
    for name, types in found.items():
        exact = sum(value == "exact" for value in types.values())
        lines.append(f"| {name} | {len(types)} | {exact} | {len(types) - exact} |")
    total = sum(len(types) for types in found.values())
    exact = sum(value == "exact" for types in found.values() for value in types.values())
    lines.append(f"| **All** | {total} | {exact} | {total - exact} |")
    for name, types in found.items():
        lines += [
            "",
            f"## {name}",
            "",
            "Exact: " + ", ".join(f"`{t}`" for t, value in types.items() if value == "exact") + ".",
        ]
        refused = {model_type: value for model_type, value in types.items() if value != "exact"}
        if refused:
            lines += ["", "Refused:", ""]
            lines += [f"- `{model_type}`: {reason}" for model_type, reason in refused.items()]
    listed = {model_type for types in found.values() for model_type in types}
    return "\n".join([*lines, *further_classes(classes(), listed), *remote_code()]) + "\n"


def main() -> int:
    found = verdicts()
    text = page(found)
    if "--check" in sys.argv:
        return int(not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text)
    if "--write" in sys.argv:
        PAGE.write_text(text, encoding="utf-8")
    print("\n".join(text.splitlines()[6:12]))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
