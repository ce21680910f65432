"""Record what each model type does with a hidden size that its heads do not divide.

    python tools/record_indivisible_heads.py          # needs torch and transformers

``refused``: also where head_dim says how large a head is. ``needs_head_dim``: only where head_dim, or what stands for
it, says so. ``floored``: builds (and runs) all the same, rounding down. Other types are left out.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import AutoModel, logging
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

TARGET = Path(__file__).resolve().parents[1] / "schemas/neurarch_schemas/catalogue/data" / "_indivisible_heads.json"
HIDDEN, HEADS, WHOLE = 98, 6, 7
"""98 / 6 is no whole number, 98 / 7 is; both head counts give an even, floored head size of 16 and 14."""
SIZES = ("hidden_size", "d_model", "n_embd", "dim", "embed_dim")
COUNTS = ("num_attention_heads", "encoder_attention_heads", "n_head", "n_heads", "num_heads")
SMALL = {"num_hidden_layers": 2, "vocab_size": 320, "intermediate_size": 64}


def main() -> None:
    found: dict[str, list[str]] = {"refused": [], "needs_head_dim": [], "floored": []}
    for name in sorted(CONFIG_MAPPING):
        answer = behaviour(name)
        if answer is not None:
            found[answer].append(name)
    source = (
        f"transformers {transformers.__version__}: each type built and run with hidden_size {HIDDEN} and {HEADS} "
        "heads, with and without head_dim (tools/record_indivisible_heads.py)"
    )
    TARGET.write_text(json.dumps({"source": source, **found}, indent=1) + "\n", encoding="utf-8")


NOTHING, CONFIGURED, BUILT, RAN = range(4)


def behaviour(name: str) -> str | None:
    """Held against what a model of this type comes to with heads that divide its width."""
    best = reaches(name, WHOLE, None)
    if best == NOTHING:
        return None
    if reaches(name, HEADS, None) == best:
        return "floored" if best >= BUILT else None
    has_head_dim = "head_dim" in CONFIG_MAPPING[name]().to_dict()
    return "refused" if has_head_dim and reaches(name, HEADS, 16) < best else "needs_head_dim"


def reaches(name: str, heads: int, head_dim: int | None) -> int:
    """How far a model of this type comes; it is run where it takes token ids, without touching memory."""
    reached = NOTHING
    try:
        kind = CONFIG_MAPPING[name]
        declared = kind().to_dict()
        width = next((key for key in SIZES if key in declared), None)
        count = next((key for key in COUNTS if key in declared), None)
        if width is None or count is None:
            return NOTHING
        values: dict[str, Any] = {key: value for key, value in SMALL.items() if key in declared}
        values |= {width: HIDDEN, count: heads}
        values |= {key: heads for key in ("num_key_value_heads", "decoder_attention_heads") if key in declared}
        if head_dim:
            values["head_dim"] = head_dim
        if "pad_token_id" in declared:
            values["pad_token_id"] = 0
        config = kind(**values)
        reached = CONFIGURED
        with torch.device("meta"), torch.no_grad():
            model = AutoModel.from_config(config).eval()
            reached = BUILT
            run(model)
    except Exception:
        return reached
    return RAN


def run(model: Any) -> None:
    """A forward pass over token ids; other inputs are not made up."""
    if model.main_input_name != "input_ids":
        return
    ids = torch.zeros(1, 4, dtype=torch.long)
    inputs = {"decoder_input_ids": ids} if getattr(model.config, "is_encoder_decoder", False) else {}
    try:
        model(input_ids=ids, **inputs)
    except (RuntimeError, NotImplementedError) as error:
        if "meta" not in str(error) and "BF16" not in str(error):
            raise


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    logging.set_verbosity_error()
    main()
