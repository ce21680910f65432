"""Record the exact tensors of the constructions in tests/data/interpreter by really building them with torch.

    python tools/record_python.py tests/data/interpreter/*.py > recorded.jsonl

Each file lists expressions in CONSTRUCTIONS. A line of the output: {"file", "expression", "tensors", "tied"}, with
tensors as [name pattern, shape, kind, count], ``{}`` for each index, in the order torch registers them. Tests read it
gzipped, as tests/data/interpreter/recorded.jsonl.gz. Needs torch and the packages that the files import; the project
itself never imports them.
"""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path
from typing import Any


def load(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def describe(model: Any) -> dict[str, Any]:
    """The tensors of a module: unique ones counted once, under the first of their names."""
    seen: set[int] = set()
    tied = 0
    counts: dict[tuple[str, tuple[int, ...], str], int] = {}
    for prefix, owner in model.named_modules(remove_duplicate=False):
        for kind, table in (("parameter", owner._parameters), ("buffer", owner._buffers)):
            for name, tensor in table.items():
                if tensor is None or (kind == "buffer" and name in owner._non_persistent_buffers_set):
                    continue
                if id(tensor) in seen:
                    tied += 1
                    continue
                seen.add(id(tensor))
                full = f"{prefix}.{name}" if prefix else name
                pattern = ".".join("{}" if re.fullmatch(r"\d+", part) else part for part in full.split("."))
                key = (pattern, tuple(tensor.shape), kind)
                counts[key] = counts.get(key, 0) + 1
    return {"tensors": [[name, list(shape), kind, n] for (name, shape, kind), n in counts.items()], "tied": tied}


def main() -> None:
    for argument in sys.argv[1:]:
        path = Path(argument)
        module = load(path)
        for expression in module.CONSTRUCTIONS:
            model = eval(expression, vars(module))
            print(json.dumps({"file": path.name, "expression": expression, **describe(model)}))


if __name__ == "__main__":
    main()
