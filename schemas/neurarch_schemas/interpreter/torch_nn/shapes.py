"""Output shapes of the layers that constructors run to learn a size: convolution, pooling, linear, elementwise."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from neurarch_schemas.interpreter.libraries.library import method
from neurarch_schemas.interpreter.torch_nn.tensor import Tensor, like, unknown_tensor
from neurarch_schemas.interpreter.torch_nn.tensor_methods import METHODS
from neurarch_schemas.interpreter.values import Class, Instance, Unknown, Value

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine


def _known(*values: Value) -> bool:
    return all(isinstance(value, int) for value in values)


def _window(size: int, kernel: int, stride: int, padding: int, dilation: int, ceiling: bool = False) -> int:
    value = (size + 2 * padding - dilation * (kernel - 1) - 1) / stride
    return int(math.ceil(value) if ceiling else math.floor(value)) + 1


def _spread(value: Value, count: int) -> list[Value]:
    return list(value) if isinstance(value, tuple | list) else [value] * count


def _convolve(machine: Machine, self: Instance, value: Value, *args: Value) -> Value:
    weight = self.attrs["_parameters"].get("weight")
    if not isinstance(value, Tensor) or value.shape is None or weight is None or weight.shape is None:
        return unknown_tensor(machine)
    attrs = self.attrs
    count = len(attrs["kernel_size"])
    sizes = []
    for size, kernel, stride, padding, dilation, extra in zip(
        value.shape[-count:],
        attrs["kernel_size"],
        attrs["stride"],
        _spread(attrs["padding"], count),
        attrs["dilation"],
        attrs["output_padding"],
        strict=True,
    ):
        if padding == "same":
            sizes.append(size)
            continue
        if padding == "valid":
            padding = 0
        if not _known(size, kernel, stride, padding, dilation, extra):
            return unknown_tensor(machine)
        if attrs["transposed"]:
            sizes.append((size - 1) * stride - 2 * padding + dilation * (kernel - 1) + extra + 1)
        else:
            sizes.append(_window(size, kernel, stride, padding, dilation))
    if any(size <= 0 for size in sizes) or not isinstance(attrs["out_channels"], int):
        return unknown_tensor(machine)
    return like(value, (*value.shape[: -count - 1], attrs["out_channels"], *sizes))


def _pool(count: int) -> Any:
    def forward(machine: Machine, self: Instance, value: Value) -> Value:
        attrs = self.attrs
        if not isinstance(value, Tensor) or value.shape is None:
            return unknown_tensor(machine)
        kernels = _spread(attrs.get("kernel_size"), count)
        strides = _spread(attrs.get("stride") if attrs.get("stride") is not None else attrs.get("kernel_size"), count)
        paddings = _spread(attrs.get("padding", 0), count)
        dilations = _spread(attrs.get("dilation", 1), count) if "Max" in self.cls.name else [1] * count
        sizes = []
        for size, kernel, stride, padding, dilation in zip(
            value.shape[-count:], kernels, strides, paddings, dilations, strict=True
        ):
            if not _known(kernel, stride, padding, dilation):
                return unknown_tensor(machine)
            sizes.append(_window(size, kernel, stride, padding, dilation, attrs.get("ceil_mode") is True))
        return like(value, (*value.shape[:-count], *sizes))

    return forward


def _adaptive(count: int) -> Any:
    def forward(machine: Machine, self: Instance, value: Value) -> Value:
        sizes = _spread(self.attrs.get("output_size"), count)
        if not isinstance(value, Tensor) or value.shape is None or not _known(*sizes):
            return unknown_tensor(machine)
        return like(value, (*value.shape[:-count], *sizes))

    return forward


def _linear(machine: Machine, self: Instance, value: Value) -> Value:
    if not isinstance(value, Tensor) or value.shape is None or not isinstance(self.attrs["out_features"], int):
        return unknown_tensor(machine)
    return like(value, (*value.shape[:-1], self.attrs["out_features"]))


def _embedding(machine: Machine, self: Instance, value: Value) -> Value:
    if not isinstance(value, Tensor) or value.shape is None or not isinstance(self.attrs["embedding_dim"], int):
        return unknown_tensor(machine)
    return like(value, (*value.shape, self.attrs["embedding_dim"]))


def _same(machine: Machine, self: Instance, value: Value = None, *args: Value, **kwargs: Value) -> Value:
    return like(value, value.shape) if isinstance(value, Tensor) else value


def _flatten(machine: Machine, self: Instance, value: Value) -> Value:
    if not isinstance(value, Tensor):
        return unknown_tensor(machine)
    return METHODS["flatten"](machine, value, self.attrs["start_dim"], self.attrs["end_dim"])


def add_forwards(classes: dict[str, Any]) -> None:
    """Give the layer classes a ``forward`` that follows shapes."""

    def put(name: str, function: Any) -> None:
        found = classes.get(name)
        if isinstance(found, Class):
            found.namespace["forward"] = method("forward", function)

    for count in (1, 2, 3):
        put(f"Conv{count}d", _convolve)
        put(f"ConvTranspose{count}d", _convolve)
        put(f"MaxPool{count}d", _pool(count))
        put(f"AvgPool{count}d", _pool(count))
        put(f"AdaptiveAvgPool{count}d", _adaptive(count))
        put(f"AdaptiveMaxPool{count}d", _adaptive(count))
        put(f"BatchNorm{count}d", _same)
        put(f"InstanceNorm{count}d", _same)
    put("Linear", _linear)
    put("Embedding", _embedding)
    put("Flatten", _flatten)
    for name in (
        "Identity",
        "Dropout",
        "Dropout1d",
        "Dropout2d",
        "Dropout3d",
        "ReLU",
        "ReLU6",
        "LeakyReLU",
        "GELU",
        "SiLU",
        "ELU",
        "SELU",
        "Sigmoid",
        "Tanh",
        "Softmax",
        "LayerNorm",
        "GroupNorm",
        "RMSNorm",
        "PReLU",
        "Hardswish",
        "Hardsigmoid",
        "Softplus",
        "Mish",
        "CELU",
        "LogSoftmax",
        "AlphaDropout",
        "Hardtanh",
        "SyncBatchNorm",
        "LocalResponseNorm",
    ):
        put(name, _same)


def functions() -> dict[str, Any]:
    """Functions of torch.nn.functional that keep the shape, and padding."""

    def same(machine: Machine, value: Value = None, *args: Value, **kwargs: Value) -> Value:
        return like(value, value.shape) if isinstance(value, Tensor) else Unknown("a tensor", data=True)

    def pad(machine: Machine, input: Value, pad: Value, *args: Value, **kwargs: Value) -> Value:  # noqa: A002  # torch's name
        value = input
        if (
            not isinstance(value, Tensor)
            or value.shape is None
            or not isinstance(pad, tuple | list)
            or not _known(*pad)
        ):
            return unknown_tensor(machine)
        shape = list(value.shape)
        for index in range(0, len(pad), 2):
            shape[-1 - index // 2] += pad[index] + pad[index + 1]
        mode = kwargs.get("mode", args[0] if args else "constant")
        fill = kwargs.get("value", args[1] if len(args) > 1 else None)
        values = None
        if value.values is not None and len(shape) == 1 and mode == "constant" and len(pad) == 2 and min(pad) >= 0:
            fill = 0 if fill is None else fill
            values = [*[fill] * pad[0], *value.values, *[fill] * pad[1]]
        return like(value, tuple(shape), values)

    names = (
        "relu gelu silu elu leaky_relu sigmoid tanh softmax log_softmax dropout softplus normalize layer_norm "
        "group_norm "
        "batch_norm hardswish hardsigmoid mish selu relu6 logsigmoid rms_norm dropout2d"
    )
    return {**dict.fromkeys(names.split(), same), "pad": pad}
