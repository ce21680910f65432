"""The arguments of torch's layers that hold no tensors (and of losses, whose class weights are buffers), as data.

    python tools/record_plain_layers.py > schemas/neurarch_schemas/interpreter/torch_nn/layers/plain.json

Each class maps to its arguments in order: [name] or [name, default]. Needs torch; the project itself never imports it.
"""

from __future__ import annotations

import inspect
import json
import re

HOLD_TENSORS = re.compile(
    r"(Lazy)?(Linear|Bilinear|Embedding(Bag)?|Conv\w+|PReLU|(RNN|LSTM|GRU)(Base|Cell)?|MultiheadAttention|Transformer\w*"
    r"|(Batch|Instance|Group|Layer|RMS|SyncBatch)Norm(\dd)?|Sequential|Module\w*|Parameter\w*|Container|DataParallel"
    r"|AdaptiveLogSoftmaxWithLoss|LinearCrossEntropyLoss)"
)


def main() -> None:
    from torch import nn

    found = {}
    for name, cls in sorted(vars(nn).items()):
        if not inspect.isclass(cls) or not issubclass(cls, nn.Module) or HOLD_TENSORS.fullmatch(name):
            continue
        parameters = list(inspect.signature(cls.__init__).parameters.values())[1:]
        found[name] = [
            [each.name] if each.default is each.empty else [each.name, each.default]
            for each in parameters
            if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
        ]
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(arguments)}" for name, arguments in found.items())
    print("{\n" + lines + "\n}")


if __name__ == "__main__":
    main()
