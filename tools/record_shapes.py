"""Record the shapes that torch's functions and the methods of its tensors give, by calling them.

    python tools/record_shapes.py | gzip -9n > tests/data/interpreter/shapes.jsonl.gz

Each line: [expression, shape], or [expression, {"pieces": [shape, ...]}] where it gives several tensors. Arguments that
a function refuses are left out. Needs torch; the project itself never imports it.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from typing import Any

TENSORS = (
    "torch.zeros(4,5)", "torch.zeros(6)", "torch.zeros(2,3,4)", "torch.zeros(4,2)", "torch.zeros(())",
    "torch.zeros(4,5,dtype=torch.int64)", "torch.zeros(4,5,dtype=torch.complex64)", "torch.zeros(3,3)",
)  # fmt: skip
ARGUMENTS = (
    "", "0", "1", "2", "-1", "0,1", "1,0", "0,1,2", "[0]", "[1,2]", "(1,0)", "(2,3)", "2,0", "0.5", "True",
    "torch.zeros(4,5)", "torch.zeros(5)", "torch.zeros(1,2,3,4)", "torch.arange(2)", "0,torch.arange(2)",
    "torch.float64", "torch.zeros(4,5)>0", "dim=0", "dim=1", "dim=-1,keepdim=True", "3,1", "(3,1)", "-1,1", "1,1,1",
    "torch.zeros(5,3)", "2,dim=1", "0,2,1", "torch.zeros(4,5)>0,0.0", "dim=(0,1)", "2,2", "dims=(0,)", "[2,2]",
    "[2,2],1",
)  # fmt: skip
LISTS = (
    "[torch.zeros(4,5),torch.zeros(4,5)]", "[torch.zeros(6),torch.zeros(6)]", "[torch.zeros(4,5)]*3,1", "5", "3,4",
    "(3,4)", "2,8,2", "0,1,5", "torch.zeros(6),torch.zeros(3)", "torch.zeros(5),torch.zeros(4),indexing='xy'",
)  # fmt: skip
LEFT_OUT = (
    "numpy", "cuda", "xpu", "mtia", "ipu", "map_", "map2_", "apply_", "share_memory_", "pin_memory", "fork", "wait",
    "index", "save", "load", "compile", "export", "from_file", "cond", "while_loop", "vmap",
)  # fmt: skip
"""Not called: they need a device, a file or a function, or change the process."""


def expressions() -> Iterator[str]:
    import torch

    for name in dir(torch.Tensor):
        if not name.startswith("_") and name not in LEFT_OUT and callable(getattr(torch.Tensor, name, None)):
            yield from (f"{tensor}.{name}({arguments})" for tensor in TENSORS for arguments in ARGUMENTS)
    for name in dir(torch):
        usable = not name.startswith(("_", "set_", "init")) and name.islower() and name not in LEFT_OUT
        if usable and callable(getattr(torch, name)):
            yield from (
                f"torch.{name}({tensor}{',' * bool(rest)}{rest})" for tensor in TENSORS[:3] for rest in ARGUMENTS[:24]
            )
            yield from (f"torch.{name}({arguments})" for arguments in LISTS)
    for key in (
        "0",
        "-1",
        "1:3",
        ":,0",
        "...,0",
        "None",
        "None,:,1",
        "[0,1]",
        ":,[0,2,2]",
        "...,torch.arange(3)",
        "0,[1,2]",
    ):
        yield from (f"{tensor}[{key}]" for tensor in TENSORS)


def shape(value: Any) -> Any:
    import torch

    if isinstance(value, torch.Tensor):
        return list(value.shape)
    if isinstance(value, tuple | list) and value and all(isinstance(each, torch.Tensor) for each in value):
        return {"pieces": [list(each.shape) for each in value]}
    return None


def main() -> None:
    import torch

    warnings.simplefilter("ignore")
    for expression in expressions():
        try:
            found = shape(eval(expression, {"torch": torch}))
        except Exception:
            continue  # these arguments are not for this function
        if found is not None:
            print(json.dumps([expression, found], separators=(",", ":")))


if __name__ == "__main__":
    main()
