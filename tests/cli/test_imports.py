"""What a plain run must not load: start-up time is decided by imports."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "tern-3b" / "config.json"
HEAVY = (
    "pygls",
    "lsprotocol",
    "pydantic",
    "jsonschema",
    "numpy",
    "tree_sitter",
    "asyncio",
    "cattrs",
    "attrs",
    "dataclasses",
    "inspect",
)


@pytest.mark.parametrize("mode", ["--check", "--report"])
def test_a_plain_config_loads_nothing_heavy(mode: str, tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    config.write_text(EXAMPLE.read_text(encoding="utf-8"), encoding="utf-8")
    script = (
        "import sys\n"
        "from neurarch_lsp.__main__ import main\n"
        f"main([{mode!r}, {str(config)!r}])\n"
        f"print('loaded:', *sorted(set({HEAVY!r}) & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True, cwd=tmp_path)
    assert done.stdout.splitlines()[-1].strip() == "loaded:", done.stderr
