"""Cold start of ``--check`` on one config.json, beside ``import pydantic`` and check-jsonschema on the same file.

Usage: python benchmarks/command_line.py [CONFIG]     (check-jsonschema is compared where it is installed)
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from harness import HEADER, command, paired, row

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "examples" / "heron-moe-230b" / "config.json"


def main() -> int:
    config = sys.argv[1] if len(sys.argv) > 1 else str(EXAMPLE)
    check = [sys.executable, "-m", "neurarch_lsp", "--check", config]
    print(HEADER)
    ours, peer, ratio = paired(check, [sys.executable, "-c", "import pydantic"])
    measured = f"{ours.median * 1000:.0f} ms / {peer.median * 1000:.0f} ms = {ratio:.2f}"
    print(row("--check of one config.json against `import pydantic`", measured, "1.6", ratio < 1.6))
    schema_tool = shutil.which("check-jsonschema", path=str(Path(sys.executable).parent))
    if schema_tool:
        with tempfile.TemporaryDirectory() as folder:
            schema = Path(folder) / "schema.json"
            schema.write_text('{"type": "object", "required": ["model_type"]}')
            ours, peer, ratio = paired(check, [schema_tool, "--schemafile", str(schema), config])
        measured = f"{ours.median * 1000:.0f} ms / {peer.median * 1000:.0f} ms = {ratio:.2f}"
        print(row("the same against check-jsonschema", measured, "0.6", ratio < 0.6))
    report = command([sys.executable, "-m", "neurarch_lsp", "--report", config])
    print(row("--report of one config.json", f"{report.median * 1000:.0f} ms", "none", True))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
