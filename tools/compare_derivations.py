"""Compare our architectures with what transformers' own source builds, read by the interpreter: tensor by tensor.

Usage: python tools/compare_derivations.py SITE_PACKAGES [TYPE ...] [--causal] [--variants default,tiny-a,cache]
                                           [--seconds 30] [--verbose]

SITE_PACKAGES holds transformers as text; it is never imported. The configs are those of
tests/data/parameters.jsonl.xz. One line for each that is not equal: DIFFERS with the tensors (``-`` the architecture
alone, ``+`` the source alone, and which of the two equals the record), LABELLED with the interpreter's reason, REFUSED
where there is no architecture. ``--causal`` keeps the types whose recorded class is a causal language model.
"""

from __future__ import annotations

import argparse
import json
import lzma
import re
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from neurarch_schemas import architectures
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.read import read_config
from neurarch_schemas.interpreter import SourceCache
from neurarch_schemas.library_code import interpret_library
from neurarch_schemas.modules.tree import Module, rows

RECORDS = Path(__file__).parent.parent / "tests" / "data" / "parameters.jsonl.xz"
CAUSAL = ("ForCausalLM", "LMHeadModel")

Tensors = Counter[tuple[str, tuple[int, ...], str]]


def tensors(tree: Module) -> Tensors:
    found: Tensors = Counter()
    for row in rows(tree):
        found[row.name, row.shape, str(row.kind)] += row.count
    return found


def recorded(record: dict[str, Any]) -> Tensors:
    found: Tensors = Counter()
    for name, shape, kind, count in record["tensors"]:
        found[name, tuple(shape), kind] += count
    return found


def classes(site_packages: Path) -> dict[str, str]:
    """Class -> modeling file, the shortest path where several define it."""
    found: dict[str, str] = {}
    for path in sorted(site_packages.glob("transformers/models/*/modeling_*.py"), key=lambda path: len(str(path))):
        for name in re.findall(r"^class (\w+)", path.read_text(encoding="utf-8"), re.M):
            found.setdefault(name, str(path))
    return found


def compare(record: dict[str, Any], path: str, site_packages: Path, cache: SourceCache, seconds: float) -> list[str]:
    """Nothing where the two derivations agree."""
    result = interpret_library(
        record["architecture"], record["config"], [str(site_packages)], seconds=seconds, path=path, cache=cache
    )
    if result is None or result.tree is None or not result.exact:
        return [f"LABELLED {result.reason if result else 'no source'}"]
    theirs = tensors(result.tree)
    truth = recorded(record)
    try:
        ours = tensors(architectures.build(read_config(record["config"])))
    except CannotBuild as error:
        return [f"REFUSED {error}; the source {'equals' if theirs == truth else 'DIFFERS FROM'} the record"]
    if ours == theirs:
        return [] if ours == truth else ["DIFFERS both from the record"]
    right = "architecture" if ours == truth else "source" if theirs == truth else "neither"
    lines = [f"DIFFERS (the record is with: {right})"]
    lines += [f"- {key} x{count}" for key, count in (ours - theirs).items()]
    return lines + [f"+ {key} x{count}" for key, count in (theirs - ours).items()]


def records(types: list[str], variants: list[str], causal: bool) -> Iterator[dict[str, Any]]:
    with lzma.open(RECORDS, "rt", encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            if (
                (not types or record["model_type"] in types)
                and record["variant"] in variants
                and (not causal or record["architecture"].endswith(CAUSAL))
            ):
                yield record


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("site_packages", type=Path)
    parser.add_argument("types", nargs="*")
    parser.add_argument("--causal", action="store_true")
    parser.add_argument("--others", action="store_true", help="all but the causal language models")
    parser.add_argument("--variants", default="default,tiny-a,cache")
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--verbose", action="store_true", help="print every differing tensor")
    arguments = parser.parse_args()
    cache = SourceCache()
    files = classes(arguments.site_packages)
    outcome: Counter[str] = Counter()
    for record in records(arguments.types, arguments.variants.split(","), arguments.causal):
        if arguments.others and record["architecture"].endswith(CAUSAL):
            continue
        started = time.process_time()
        path = files.get(record["architecture"])
        lines = ["LABELLED no modeling file defines it"] if path is None else []
        if path is not None:
            lines = compare(record, path, arguments.site_packages, cache, arguments.seconds)
        outcome[lines[0].split()[0].lower() if lines else "equal"] += 1
        if lines:
            label = f"{record['model_type']} {record['variant']} {record['architecture']}"
            print(f"{label}: {lines[0]} ({time.process_time() - started:.1f} s)", flush=True)
            for line in lines[1:] if arguments.verbose else lines[1:7]:
                print(f"    {line}", flush=True)
    print(dict(outcome))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
