"""Record which model classes of transformers refuse which attention implementation: the flags they declare.

    python tools/record_attention.py          # needs torch and transformers

Written to ``rules/neurarch_rules/facts/attention_support.json``: implementation -> the classes without it.
"""

from __future__ import annotations

import json
from pathlib import Path

import transformers

ROOT = Path(__file__).resolve().parents[1]
INDEX = ROOT / "schemas" / "neurarch_schemas" / "catalogue" / "data" / "_index.json"
TARGET = ROOT / "rules" / "neurarch_rules" / "facts" / "attention_support.json"
FLAGS = {
    "sdpa": "_supports_sdpa",
    "flex_attention": "_supports_flex_attn",
    "flash_attention_2": "_supports_flash_attn",
}


def main() -> None:
    names = sorted(json.loads(INDEX.read_text(encoding="utf-8"))["classes"])
    classes = [(name, getattr(transformers, name)) for name in names if hasattr(transformers, name)]
    without = {
        implementation: [name for name, model in classes if getattr(model, flag, None) is False]
        for implementation, flag in FLAGS.items()
    }
    source = f"transformers {transformers.__version__}: {', '.join(FLAGS.values())} of each model class"
    TARGET.write_text(json.dumps({"source": source, "without": without}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    transformers.logging.set_verbosity_error()
    main()
