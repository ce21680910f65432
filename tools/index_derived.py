"""Write ``config/derived/index.json``: config class -> the file that derives its values.

python tools/index_derived.py
"""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path

from neurarch_schemas.config import derived


def main() -> None:
    folder = Path(derived.__file__).parent
    index: dict[str, str] = {}
    for path in sorted(folder.glob("*.py")):
        if path.stem == "__init__":
            continue
        module = import_module(f"{derived.__name__}.{path.stem}")
        if not hasattr(module, "BEFORE"):
            continue
        for name in {**module.BEFORE, **module.ROPE, **module.AFTER}:
            if name in index:
                raise SystemExit(f"{name} stands in {index[name]} and in {path.stem}")
            index[name] = path.stem
    text = json.dumps(dict(sorted(index.items())), indent=0, separators=(",", ":"))
    (folder / "index.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
