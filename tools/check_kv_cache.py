"""Compare our cache sizes with those recorded from running tiny models.

Usage: python tools/check_kv_cache.py GROUND_TRUTH [--library SITE_PACKAGES] [TYPE ...]

``--library``: those that the interpreter states for the classes of the transformers there, instead of the
architectures'.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from neurarch_schemas import architectures
from neurarch_schemas.accounting.kv_cache import kv_cache
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.read import read_config
from neurarch_schemas.library_code import interpret_library


def recorded_config(folder: Path, model_type: str, variant: str) -> Any:
    for line in (folder / "parameters" / f"{model_type}.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        if record["variant"] == variant:
            return record["config"]
    raise SystemExit(f"no recorded config for {model_type} {variant}")


def main() -> int:
    arguments = sys.argv[1:]
    library = None
    if "--library" in arguments:
        at = arguments.index("--library")
        library = arguments[at + 1]
        del arguments[at : at + 2]
    folder, types = Path(arguments[0]), arguments[1:]
    outcome: Counter[str] = Counter()
    for line in (folder / "kv_cache.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        if types and record["model_type"] not in types:
            continue
        label = f"{record['model_type']} {record['variant']}"
        config = recorded_config(folder, record["model_type"], record["variant"])
        try:
            cache = kv_cache(architectures.build(read_config(config))) if library is None else None
        except CannotBuild as error:
            outcome["refused"] += 1
            if types:
                print(f"REFUSED {label}: {error}")
            continue
        if library is not None:
            found = interpret_library(record["architecture"], config, [library])
            cache = None if found is None or found.tree is None else kv_cache(found.tree)
            if cache is None:
                outcome["not stated"] += 1
                continue
        ours = [cache.transformers_at(length) if cache else 0 for length in record["lengths"]]
        outcome["exact" if ours == record["scalars"] else "wrong"] += 1
        if ours != record["scalars"]:
            print(f"WRONG {label}: recorded {record['scalars']}, ours {ours}")
    print(dict(outcome))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
