"""Record the arguments of the layers of torch.nn, and the attributes every module has.

    python tools/record_torch_signatures.py        # needs torch

Layers are those that rules/neurarch_rules/facts/torch_layers.json names.
"""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import torch
from torch import nn

FACTS = Path(__file__).resolve().parents[1] / "rules" / "neurarch_rules" / "facts"
RECURRENT = ["bias", "batch_first", "dropout", "bidirectional"]
"""``nn.LSTM`` and its kin hand their arguments on unnamed; this is the order in which they take them."""
BY_HAND = {
    "RNN": (["input_size", "hidden_size"], ["num_layers", "nonlinearity", *RECURRENT, "device", "dtype"]),
    "LSTM": (["input_size", "hidden_size"], ["num_layers", *RECURRENT, "proj_size", "device", "dtype"]),
    "GRU": (["input_size", "hidden_size"], ["num_layers", *RECURRENT, "device", "dtype"]),
    "Sequential": None,
}


def signature(name: str) -> tuple[list[str], list[str]] | None:
    """Required and further arguments; None where the layer takes any."""
    if name in BY_HAND:
        return BY_HAND[name]
    parameters = list(inspect.signature(getattr(nn, name).__init__).parameters.values())[1:]
    if any(item.kind in (item.VAR_POSITIONAL, item.VAR_KEYWORD) for item in parameters):
        return None
    required = [item.name for item in parameters if item.default is item.empty]
    return required, [item.name for item in parameters if item.default is not item.empty]


def main() -> None:
    layers = json.loads((FACTS / "torch_layers.json").read_text(encoding="utf-8"))
    names = sorted({*layers["parametric"], *layers["plain"]})
    found = {name: signature(name) for name in names}
    lines = [
        f"  {json.dumps(name)}: {json.dumps({'required': item[0], 'optional': item[1]})}"
        for name, item in found.items()
        if item is not None
    ]
    attributes = sorted(name for name in dir(nn.Module()) if not name.startswith("__"))
    (FACTS / "torch_signatures.json").write_text(
        f'{{\n "source": "torch {torch.__version__.partition("+")[0]}, read by tools/record_torch_signatures.py",\n'
        f' "module_attributes": {json.dumps(attributes)},\n "layers": {{\n' + ",\n".join(lines) + "\n }\n}\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
