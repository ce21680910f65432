"""Record in which peft release each key of a LoRA adapter_config.json first appears, and the arguments of the config
classes of other methods in the newest one.

    pip download --no-deps peft==0.3.0 -d wheels      # and so on, one wheel a release
    python tools/record_adapter_keys.py wheels

Reads the class definitions in the wheels without importing them.
"""

from __future__ import annotations

import ast
import json
import re
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

TARGET = Path(__file__).resolve().parents[1] / "rules" / "neurarch_rules" / "facts" / "adapter_keys.json"
FILES = ("peft/config.py", "peft/utils/config.py", "peft/tuners/lora.py", "peft/tuners/lora/config.py")
OTHERS = TARGET.with_name("peft_configs.json")
CLASSES = ("PeftConfigMixin", "PeftConfig", "LoraConfig")


def fields(wheel: Path) -> Iterator[str]:
    """The dataclass fields of LoraConfig and the classes it inherits from."""
    with zipfile.ZipFile(wheel) as archive:
        for name in set(FILES) & set(archive.namelist()):
            for node in ast.parse(archive.read(name)).body:
                if isinstance(node, ast.ClassDef) and node.name in CLASSES:
                    for item in node.body:
                        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
                            yield item.target.id


def release(wheel: Path) -> tuple[int, ...]:
    found = re.match(r"peft-([\d.]+)-", wheel.name)
    if found is None:
        raise SystemExit(f"{wheel.name} is no wheel of peft")
    return tuple(map(int, found[1].split(".")[:2]))


def record(folder: Path) -> dict[str, object]:
    since: dict[str, tuple[int, ...]] = {}
    wheels = sorted(folder.glob("peft-*.whl"), key=release)
    for wheel in wheels:
        for name in fields(wheel):
            since.setdefault(name, release(wheel))
    first, last = (".".join(map(str, release(wheel))) for wheel in (wheels[0], wheels[-1]))
    return {
        "source": f"LoraConfig in the wheels of peft {first} to {last}, read by tools/record_adapter_keys.py",
        "first": first,
        "last": last,
        "since": {name: ".".join(map(str, found)) for name, found in sorted(since.items())},
    }


def arguments(wheel: Path) -> dict[str, list[str]]:
    """The fields of each config class that is a dataclass through and through, inherited ones with them."""
    classes: dict[str, ast.ClassDef] = {}
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.startswith("peft/") and name.endswith(".py"):
                for node in ast.parse(archive.read(name)).body:
                    if isinstance(node, ast.ClassDef) and node.name.endswith(("Config", "ConfigMixin")):
                        classes[node.name] = node

    def of(name: str) -> set[str] | None:
        node = classes.get(name)
        if node is None or any(isinstance(item, ast.FunctionDef) and item.name == "__init__" for item in node.body):
            return set() if name == "PushToHubMixin" else None
        found = {
            item.target.id
            for item in node.body
            if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
        }
        for base in node.bases:
            inherited = of(ast.unparse(base).rpartition(".")[2])
            if inherited is None:
                return None
            found |= inherited
        return found

    fields = {name: of(name) for name in sorted(classes) if name != "LoraConfig" and not name.endswith("Mixin")}
    return {name: sorted(found) for name, found in fields.items() if found}


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    TARGET.write_text(json.dumps(record(Path(sys.argv[1])), indent=1) + "\n", encoding="utf-8")
    newest = max(Path(sys.argv[1]).glob("peft-*.whl"), key=release)
    source = f"config classes of peft {newest.name.split('-')[1]}, read by tools/record_adapter_keys.py"
    lines = [f'  "{name}": {json.dumps(names)}' for name, names in arguments(newest).items()]
    OTHERS.write_text(
        f'{{\n "source": "{source}",\n "arguments": {{\n' + ",\n".join(lines) + "\n }\n}\n", encoding="utf-8"
    )
