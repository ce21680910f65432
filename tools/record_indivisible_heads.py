"""Record what each model type does with a hidden size that its heads do not divide.

    python tools/record_indivisible_heads.py          # needs torch and transformers

Parts that only stand in other models (a vision tower) are built within those; what no longer builds is listed.

``refused``: also where head_dim says how large a head is. ``needs_head_dim``: only where head_dim, or what stands for
it, says so. ``floored``: builds (and runs) all the same, rounding down. Other types are left out.
"""

from __future__ import annotations

import copy
import json
import warnings
from collections.abc import Iterator
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
    known = {name for names in found.values() for name in names}
    for name in sorted(CONFIG_MAPPING):
        for part, answer in parts(name):
            if part not in known:
                known.add(part)
                found[answer] = sorted([*found[answer], part])
    source = (
        f"transformers {transformers.__version__}: each type built and run with hidden_size {HIDDEN} and {HEADS} "
        "heads, with and without head_dim; parts of other models within those (tools/record_indivisible_heads.py)"
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


def parts(name: str) -> Iterator[tuple[str, str]]:
    """(type, answer) of the configs nested in the default of a type whose heads its class insists on."""
    kind = CONFIG_MAPPING[name]
    try:
        declared = kind().to_dict()
    except Exception:
        return
    for key, inner in declared.items():
        if not isinstance(inner, dict) or not inner.get("model_type"):
            continue
        width = next((inner[size] for size in SIZES if size in inner), None)
        count = next((count for count in (*COUNTS, "attention_heads") if isinstance(inner.get(count), int)), None)
        if width is None or count is None:
            continue
        heads = next(heads for heads in range(inner[count] + 1, width + 2) if width % heads)
        changed = {**inner, count: heads, **({"num_key_value_heads": heads} if "num_key_value_heads" in inner else {})}
        if is_built(kind, declared) and not is_built(kind, {**declared, key: changed}):
            yield inner["model_type"], "refused" if inner.get("head_dim") else "needs_head_dim"


def is_built(kind: Any, values: dict[str, Any]) -> bool:
    try:
        with torch.device("meta"):
            AutoModel.from_config(kind.from_dict(copy.deepcopy(values)))  # which takes the values apart
    except Exception:
        return False
    return True


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
