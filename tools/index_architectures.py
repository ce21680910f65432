"""Write architectures/index.json: model type -> the file whose MODEL_TYPES names it.

Usage: python tools/index_architectures.py [--check]
"""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path

ROOM = Path(__file__).resolve().parent.parent / "schemas" / "neurarch_schemas" / "architectures"


def declared_types(path: Path) -> tuple[str, ...]:
    """The literal value of MODEL_TYPES in a family file; empty for files that declare none."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        target = (
            node.targets[0]
            if isinstance(node, ast.Assign)
            else node.target
            if isinstance(node, ast.AnnAssign)
            else None
        )
        if isinstance(target, ast.Name) and target.id == "MODEL_TYPES" and isinstance(node, ast.Assign | ast.AnnAssign):
            assert node.value is not None
            return tuple(ast.literal_eval(node.value))
    return ()


def index() -> dict[str, str]:
    found: dict[str, str] = {}
    for path in sorted(ROOM.glob("*.py")):
        for model_type in declared_types(path):
            if model_type in found:
                raise SystemExit(f"{model_type} is declared in {found[model_type]}.py and {path.name}")
            found[model_type] = path.stem
    return dict(sorted(found.items()))


def main() -> int:
    text = json.dumps(index(), indent=0) + "\n"
    target = ROOM / "index.json"
    if "--check" in sys.argv:
        return int(not target.exists() or target.read_text(encoding="utf-8") != text)
    target.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
