"""The layers of torch.nn: their arguments as torch takes them, their tensors as torch registers them.

Shapes after the torch.nn reference (https://docs.pytorch.org/docs/stable/nn.html).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurarch_schemas.interpreter.libraries.library import method
from neurarch_schemas.interpreter.torch_nn.base import layer_class, new_parameter
from neurarch_schemas.interpreter.torch_nn.layers import linear, normalization, plain, recurrent
from neurarch_schemas.interpreter.torch_nn.layers.adaptive_softmax import adaptive_softmax
from neurarch_schemas.interpreter.torch_nn.layers.common import Initializer
from neurarch_schemas.interpreter.torch_nn.layers.convolution import convolution
from neurarch_schemas.interpreter.values import Builtin, Class, Instance, Value

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine

_LAZY = (
    "LazyLinear",
    *(f"Lazy{kind}{d}d" for kind in ("Conv", "ConvTranspose", "BatchNorm", "InstanceNorm") for d in (1, 2, 3)),
)
_BASES: dict[str, tuple[Initializer | None, str | None]] = {
    "_ConvNd": (None, None),
    "_ConvTransposeNd": (None, "_ConvNd"),
    "_NormBase": (normalization.batch_norm, None),
    "_BatchNorm": (normalization.batch_norm, "_NormBase"),
    "_InstanceNorm": (normalization.instance_norm, "_NormBase"),
    "_DropoutNd": (None, None),
    "RNNBase": (None, None),
    "RNNCellBase": (None, None),
    "_Loss": (None, None),
    "_WeightedLoss": (plain.weighted_loss, "_Loss"),
}
"""Classes that others derive from, which programs name in ``isinstance``: ``__init__`` and the base's own base."""


def _parent(name: str) -> str | None:
    if name.startswith("ConvTranspose"):
        return "_ConvTransposeNd"
    if name.startswith("Conv"):
        return "_ConvNd"
    if name.startswith(("BatchNorm", "SyncBatchNorm")):
        return "_BatchNorm"
    if name.startswith("InstanceNorm"):
        return "_InstanceNorm"
    if "Dropout" in name:
        return "_DropoutNd"
    if name in ("RNN", "LSTM", "GRU"):
        return "RNNBase"
    if name in ("RNNCell", "LSTMCell", "GRUCell"):
        return "RNNCellBase"
    if name in ("CrossEntropyLoss", "NLLLoss", "BCELoss", "MultiMarginLoss", "MultiLabelSoftMarginLoss"):
        return "_WeightedLoss"
    if name.endswith(("Loss", "Loss2d")):
        return "_Loss"
    return "Hardtanh" if name == "ReLU6" else None


def _nothing(machine: Machine, self: Instance, *args: Value, **kwargs: Value) -> None:
    return None


def _lazy(machine: Machine, self: Instance, *args: Value, **kwargs: Value) -> None:
    reason = "a lazy layer has no shape before the first forward pass"
    self.attrs["_parameters"].update(weight=new_parameter(machine, None, reason), bias=None)


def layer_classes(machine: Machine) -> dict[str, Class]:
    makers: dict[str, Initializer] = {name: plain.remember(name) for name in plain.signatures()}
    makers.update(linear.INITIALIZERS)
    makers.update(normalization.INITIALIZERS)
    makers.update(recurrent.INITIALIZERS)
    makers.update(dict.fromkeys(_LAZY, _lazy))
    for dimensions in (1, 2, 3):
        makers[f"Conv{dimensions}d"] = convolution(dimensions, False)
        makers[f"ConvTranspose{dimensions}d"] = convolution(dimensions, True)
    makers["AdaptiveLogSoftmaxWithLoss"] = adaptive_softmax
    classes: dict[str, Class] = {}
    for name, (function, parent) in _BASES.items():
        classes[name] = layer_class(
            machine, name, function or _nothing, bases=None if parent is None else (classes[parent],)
        )
    for name, function in sorted(makers.items(), key=lambda pair: pair[0] == "ReLU6"):
        parent = _parent(name)
        classes[name] = layer_class(machine, name, function, bases=None if parent is None else (classes[parent],))
    classes["NonDynamicallyQuantizableLinear"] = layer_class(
        machine, "NonDynamicallyQuantizableLinear", linear.linear, bases=(classes["Linear"],)
    )
    for name in ("Embedding", "EmbeddingBag"):
        classes[name].namespace["from_pretrained"] = linear.FROM_PRETRAINED
    classes["RNNBase"].namespace["flatten_parameters"] = method("flatten_parameters", _nothing)
    for name in ("reset_running_stats", "_check_input_dim"):
        classes["_NormBase"].namespace[name] = method(name, _nothing)
    classes["SyncBatchNorm"].namespace["convert_sync_batchnorm"] = Builtin(
        "convert_sync_batchnorm", lambda machine, module, *args, **kwargs: module
    )
    return classes
