"""Record in which transformers release each model type, RoPE type and quantization method first appears.

    pip download --no-deps transformers==4.40.0 -d wheels      # and so on, one wheel a minor release
    python tools/record_releases.py wheels

Reads the source in the wheels without importing it. What the oldest wheel has already is not listed.
"""

from __future__ import annotations

import ast
import json
import re
import sys
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

TARGET = Path(__file__).resolve().parents[1] / "rules" / "neurarch_rules" / "facts" / "releases.json"
AUTO = "transformers/models/auto/"
TABLES = {
    "model_types": ((AUTO + "configuration_auto.py", AUTO + "auto_mappings.py"), "CONFIG_MAPPING_NAMES"),
    "rope_types": (("transformers/modeling_rope_utils.py",), "ROPE_INIT_FUNCTIONS"),
    "quantization_methods": (("transformers/utils/quantization_config.py",), "QuantizationMethod"),
}
ALWAYS = {"rope_types": ("default", "linear", "dynamic"), "quantization_methods": ("bitsandbytes",)}
"""Known to the code before there was a table of them."""


def names(wheel: Path, files: tuple[str, ...], table: str) -> Iterator[str]:
    """The string keys of a mapping, or the values of an enumeration."""
    with zipfile.ZipFile(wheel) as archive:
        for file in set(files) & set(archive.namelist()):
            for node in ast.parse(archive.read(file)).body:
                if isinstance(node, ast.ClassDef) and node.name == table:
                    yield from _strings(item.value for item in node.body if isinstance(item, ast.Assign))
                elif isinstance(node, ast.Assign | ast.AnnAssign) and _is_named(node, table) and node.value is not None:
                    yield from _keys(node.value)


def _is_named(node: ast.Assign | ast.AnnAssign, table: str) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return any(isinstance(target, ast.Name) and target.id == table for target in targets)


def _keys(value: ast.expr) -> Iterator[str]:
    """Of a dict, or of the pairs an OrderedDict is made from."""
    if isinstance(value, ast.Dict):
        yield from _strings(value.keys)
    elif isinstance(value, ast.Call) and value.args:
        pairs = value.args[0]
        if isinstance(pairs, ast.List):
            yield from _strings(pair.elts[0] for pair in pairs.elts if isinstance(pair, ast.Tuple) and pair.elts)
        else:
            yield from _keys(pairs)


def _strings(nodes: Iterable[ast.expr | None]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def release(wheel: Path) -> tuple[int, int]:
    found = re.match(r"transformers-(\d+)\.(\d+)\.", wheel.name)
    if found is None:
        raise SystemExit(f"{wheel.name} is no wheel of transformers")
    return int(found[1]), int(found[2])


def record(folder: Path) -> dict[str, object]:
    wheels = sorted(folder.glob("transformers-*.whl"), key=release)
    first, last = (".".join(map(str, release(wheel))) for wheel in (wheels[0], wheels[-1]))
    since: dict[str, dict[str, tuple[int, int]]] = {kind: {} for kind in TABLES}
    for wheel in wheels:
        for kind, (files, table) in TABLES.items():
            for name in names(wheel, files, table):
                since[kind].setdefault(name, release(wheel))
    return {
        "source": f"the wheels of transformers {first} to {last}, read by tools/record_releases.py",
        "first": first,
        "last": last,
        **{
            kind: {
                name: f"{major}.{minor}"
                for name, (major, minor) in sorted(found.items())
                if (major, minor) > release(wheels[0]) and name not in ALWAYS.get(kind, ())
            }
            for kind, found in since.items()
        },
    }


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    TARGET.write_text(json.dumps(record(Path(sys.argv[1])), indent=1) + "\n", encoding="utf-8")
