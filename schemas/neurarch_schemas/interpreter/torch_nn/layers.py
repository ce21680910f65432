"""Layers with parameters of their own: their arguments as torch takes them, their tensors as torch registers them.

Shapes after the torch.nn reference (https://docs.pytorch.org/docs/stable/nn.html).
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING, Any

from neurarch_schemas.interpreter.torch_nn.base import buffer, layer_class, new_parameter
from neurarch_schemas.interpreter.torch_nn.tensor import Tensor
from neurarch_schemas.interpreter.values import Class, Instance, Unknown, Value

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine


def parameter(machine: Machine, self: Instance, name: str, *shape: Value) -> None:
    self.attrs["_parameters"][name] = new_parameter(machine, shape)


def optional(machine: Machine, self: Instance, name: str, present: Value, *shape: Value) -> None:
    """A parameter that a flag switches off; it stays registered as None."""
    if type(present) is Unknown:
        self.attrs["_parameters"][name] = new_parameter(machine, (present,))
    elif machine.truth(present):
        parameter(machine, self, name, *shape)
    else:
        self.attrs["_parameters"][name] = None


def repeated(machine: Machine, value: Value, count: int) -> Value:
    """``3`` or ``(3, 3)`` as a tuple of ``count``."""
    if type(value) is Unknown:
        return (value,) * count
    if isinstance(value, str):
        return value
    if isinstance(value, int | float | Tensor):
        return (value,) * count
    items = tuple(machine.iterate(value))
    return items * count if len(items) == 1 else items


def linear(
    machine: Machine,
    self: Instance,
    in_features: Value,
    out_features: Value,
    bias: Value = True,
    device: Value = None,
    dtype: Value = None,
) -> None:
    self.attrs.update(in_features=in_features, out_features=out_features)
    parameter(machine, self, "weight", out_features, in_features)
    optional(machine, self, "bias", bias, out_features)


def bilinear(
    machine: Machine,
    self: Instance,
    in1_features: Value,
    in2_features: Value,
    out_features: Value,
    bias: Value = True,
    device: Value = None,
    dtype: Value = None,
) -> None:
    self.attrs.update(in1_features=in1_features, in2_features=in2_features, out_features=out_features)
    parameter(machine, self, "weight", out_features, in1_features, in2_features)
    optional(machine, self, "bias", bias, out_features)


def embedding(
    machine: Machine,
    self: Instance,
    num_embeddings: Value,
    embedding_dim: Value,
    padding_idx: Value = None,
    max_norm: Value = None,
    norm_type: Value = 2.0,
    scale_grad_by_freq: Value = False,
    sparse: Value = False,
    _weight: Value = None,
    _freeze: Value = False,
    device: Value = None,
    dtype: Value = None,
) -> None:
    if isinstance(padding_idx, int) and isinstance(num_embeddings, int):
        if not -num_embeddings <= padding_idx < num_embeddings:
            machine.fail("AssertionError", "Padding_idx must be within num_embeddings")
        padding_idx %= max(num_embeddings, 1)
    self.attrs.update(
        num_embeddings=num_embeddings,
        embedding_dim=embedding_dim,
        padding_idx=padding_idx,
        max_norm=max_norm,
        norm_type=norm_type,
        scale_grad_by_freq=scale_grad_by_freq,
        sparse=sparse,
    )
    parameter(machine, self, "weight", num_embeddings, embedding_dim)


def embedding_bag(
    machine: Machine,
    self: Instance,
    num_embeddings: Value,
    embedding_dim: Value,
    max_norm: Value = None,
    norm_type: Value = 2.0,
    scale_grad_by_freq: Value = False,
    mode: Value = "mean",
    sparse: Value = False,
    _weight: Value = None,
    include_last_offset: Value = False,
    padding_idx: Value = None,
    device: Value = None,
    dtype: Value = None,
) -> None:
    self.attrs.update(num_embeddings=num_embeddings, embedding_dim=embedding_dim, mode=mode)
    parameter(machine, self, "weight", num_embeddings, embedding_dim)


def convolution(dimensions: int, transposed: bool) -> Callable[..., None]:
    def build(
        machine: Machine,
        self: Instance,
        in_channels: Value,
        out_channels: Value,
        kernel_size: Value,
        stride: Value,
        padding: Value,
        output_padding: Value,
        groups: Value,
        bias: Value,
        dilation: Value,
        padding_mode: Value,
    ) -> None:
        kernel = repeated(machine, kernel_size, dimensions)
        self.attrs.update(
            in_channels=in_channels,
            out_channels=out_channels,
            kernel_size=kernel,
            stride=repeated(machine, stride, dimensions),
            padding=repeated(machine, padding, dimensions),
            dilation=repeated(machine, dilation, dimensions),
            transposed=transposed,
            output_padding=repeated(machine, output_padding, dimensions),
            groups=groups,
            padding_mode=padding_mode,
        )
        if isinstance(groups, int) and isinstance(in_channels, int) and isinstance(out_channels, int):
            if groups <= 0:
                machine.fail("ValueError", "groups must be a positive integer")
            if in_channels % groups != 0:
                machine.fail("ValueError", "in_channels must be divisible by groups")
            if out_channels % groups != 0:
                machine.fail("ValueError", "out_channels must be divisible by groups")
        sizes = (in_channels, out_channels) if transposed else (out_channels, in_channels)
        second = machine.binary(_FLOOR, sizes[1], groups)
        parameter(machine, self, "weight", sizes[0], second, *kernel)
        optional(machine, self, "bias", bias, out_channels)

    if transposed:

        def transposed_init(
            machine: Machine,
            self: Instance,
            in_channels: Value,
            out_channels: Value,
            kernel_size: Value,
            stride: Value = 1,
            padding: Value = 0,
            output_padding: Value = 0,
            groups: Value = 1,
            bias: Value = True,
            dilation: Value = 1,
            padding_mode: Value = "zeros",
            device: Value = None,
            dtype: Value = None,
        ) -> None:
            build(
                machine,
                self,
                in_channels,
                out_channels,
                kernel_size,
                stride,
                padding,
                output_padding,
                groups,
                bias,
                dilation,
                padding_mode,
            )

        return transposed_init

    def plain_init(
        machine: Machine,
        self: Instance,
        in_channels: Value,
        out_channels: Value,
        kernel_size: Value,
        stride: Value = 1,
        padding: Value = 0,
        dilation: Value = 1,
        groups: Value = 1,
        bias: Value = True,
        padding_mode: Value = "zeros",
        device: Value = None,
        dtype: Value = None,
    ) -> None:
        build(
            machine,
            self,
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            0,
            groups,
            bias,
            dilation,
            padding_mode,
        )

    return plain_init


def _floor() -> Any:
    import ast

    return ast.FloorDiv


_FLOOR = _floor()


def batch_norm(
    machine: Machine,
    self: Instance,
    num_features: Value,
    eps: Value = 1e-5,
    momentum: Value = 0.1,
    affine: Value = True,
    track_running_stats: Value = True,
    device: Value = None,
    dtype: Value = None,
) -> None:
    _normalize(machine, self, num_features, eps, momentum, affine, track_running_stats)


def instance_norm(
    machine: Machine,
    self: Instance,
    num_features: Value,
    eps: Value = 1e-5,
    momentum: Value = 0.1,
    affine: Value = False,
    track_running_stats: Value = False,
    device: Value = None,
    dtype: Value = None,
) -> None:
    _normalize(machine, self, num_features, eps, momentum, affine, track_running_stats)


def sync_batch_norm(
    machine: Machine,
    self: Instance,
    num_features: Value,
    eps: Value = 1e-5,
    momentum: Value = 0.1,
    affine: Value = True,
    track_running_stats: Value = True,
    process_group: Value = None,
    device: Value = None,
    dtype: Value = None,
) -> None:
    _normalize(machine, self, num_features, eps, momentum, affine, track_running_stats)


def _normalize(
    machine: Machine, self: Instance, features: Value, eps: Value, momentum: Value, affine: Value, track: Value
) -> None:
    self.attrs.update(num_features=features, eps=eps, momentum=momentum, affine=affine, track_running_stats=track)
    optional(machine, self, "weight", affine, features)
    optional(machine, self, "bias", affine, features)
    buffers = self.attrs["_buffers"]
    if machine.truth(track):
        for name in ("running_mean", "running_var"):
            made = buffer(machine, (), "float32")
            made.shape = new_parameter(machine, (features,)).shape
            buffers[name] = made
        buffers["num_batches_tracked"] = buffer(machine, (), "int64")
    else:
        buffers.update(running_mean=None, running_var=None, num_batches_tracked=None)


def group_norm(
    machine: Machine,
    self: Instance,
    num_groups: Value,
    num_channels: Value,
    eps: Value = 1e-5,
    affine: Value = True,
    device: Value = None,
    dtype: Value = None,
) -> None:
    if isinstance(num_groups, int) and isinstance(num_channels, int) and (num_groups <= 0 or num_channels % num_groups):
        machine.fail("ValueError", f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
    self.attrs.update(num_groups=num_groups, num_channels=num_channels, eps=eps, affine=affine)
    optional(machine, self, "weight", affine, num_channels)
    optional(machine, self, "bias", affine, num_channels)


def _shape(machine: Machine, value: Value) -> tuple[Value, ...]:
    if type(value) is Unknown or isinstance(value, int | Tensor | float):
        return (value,)
    return tuple(machine.iterate(value))


def layer_norm(
    machine: Machine,
    self: Instance,
    normalized_shape: Value,
    eps: Value = 1e-5,
    elementwise_affine: Value = True,
    bias: Value = True,
    device: Value = None,
    dtype: Value = None,
) -> None:
    shape = _shape(machine, normalized_shape)
    self.attrs.update(normalized_shape=shape, eps=eps, elementwise_affine=elementwise_affine)
    optional(machine, self, "weight", elementwise_affine, *shape)
    optional(machine, self, "bias", machine.truth(elementwise_affine) and bias, *shape)


def rms_norm(
    machine: Machine,
    self: Instance,
    normalized_shape: Value,
    eps: Value = None,
    elementwise_affine: Value = True,
    device: Value = None,
    dtype: Value = None,
) -> None:
    shape = _shape(machine, normalized_shape)
    self.attrs.update(normalized_shape=shape, eps=eps, elementwise_affine=elementwise_affine)
    optional(machine, self, "weight", elementwise_affine, *shape)


def prelu(
    machine: Machine,
    self: Instance,
    num_parameters: Value = 1,
    init: Value = 0.25,
    device: Value = None,
    dtype: Value = None,
) -> None:
    self.attrs.update(num_parameters=num_parameters)
    parameter(machine, self, "weight", num_parameters)


def recurrent(gates: int) -> Callable[..., None]:
    def init(
        machine: Machine,
        self: Instance,
        input_size: Value,
        hidden_size: Value,
        num_layers: Value = 1,
        bias: Value = True,
        batch_first: Value = False,
        dropout: Value = 0.0,
        bidirectional: Value = False,
        proj_size: Value = 0,
        nonlinearity: Value = "tanh",
        device: Value = None,
        dtype: Value = None,
    ) -> None:
        if isinstance(nonlinearity, bool | int | float):
            bias, nonlinearity = nonlinearity, "tanh"
        if isinstance(bias, str):
            bias = True
        if type(num_layers) is Unknown:
            machine.taint(f"the number of recurrent layers: {num_layers.reason}")
            num_layers = 1
        machine.meter.size(num_layers)
        self.attrs.update(
            input_size=input_size,
            hidden_size=hidden_size,
            num_layers=num_layers,
            bias=bias,
            batch_first=batch_first,
            dropout=dropout,
            bidirectional=bidirectional,
            proj_size=proj_size,
            mode=self.cls.name,
        )
        output = proj_size if proj_size else hidden_size
        directions = 2 if machine.truth(bidirectional) else 1
        with_bias = machine.truth(bias)
        names = []
        for layer in range(num_layers):
            for direction in range(directions):
                size = input_size if layer == 0 else output * directions
                suffix = "_reverse" if direction else ""
                group: dict[str, tuple[Value, ...]] = {
                    f"weight_ih_l{layer}{suffix}": (gates * hidden_size, size),
                    f"weight_hh_l{layer}{suffix}": (gates * hidden_size, output),
                }
                if with_bias:
                    group[f"bias_ih_l{layer}{suffix}"] = (gates * hidden_size,)
                    group[f"bias_hh_l{layer}{suffix}"] = (gates * hidden_size,)
                if proj_size:
                    group[f"weight_hr_l{layer}{suffix}"] = (proj_size, hidden_size)
                for name, shape in group.items():
                    parameter(machine, self, name, *shape)
                    names.append(name)
        self.attrs["_flat_weights_names"] = names

    return init


def recurrent_cell(gates: int) -> Callable[..., None]:
    def init(
        machine: Machine,
        self: Instance,
        input_size: Value,
        hidden_size: Value,
        bias: Value = True,
        nonlinearity: Value = "tanh",
        device: Value = None,
        dtype: Value = None,
    ) -> None:
        self.attrs.update(input_size=input_size, hidden_size=hidden_size, bias=bias)
        parameter(machine, self, "weight_ih", gates * hidden_size, input_size)
        parameter(machine, self, "weight_hh", gates * hidden_size, hidden_size)
        optional(machine, self, "bias_ih", bias, gates * hidden_size)
        optional(machine, self, "bias_hh", bias, gates * hidden_size)

    return init


def lazy(machine: Machine, self: Instance, *args: Value, **kwargs: Value) -> None:
    self.attrs["_parameters"]["weight"] = new_parameter(
        machine, None, "a lazy layer has no shape before the first forward pass"
    )
    self.attrs["_parameters"]["bias"] = None


def without_parameters(names: tuple[str, ...], defaults: dict[str, Value]) -> Callable[..., None]:
    """A layer that only remembers its arguments."""

    def init(machine: Machine, self: Instance, *args: Value, **kwargs: Value) -> None:
        self.attrs.update(defaults)
        self.attrs.update(zip(names, args, strict=False))
        self.attrs.update(kwargs)

    return init


_PLAIN: dict[str, tuple[str, dict[str, Value]]] = {
    "Identity": ("", {}),
    "Flatten": ("start_dim end_dim", {"start_dim": 1, "end_dim": -1}),
    "Unflatten": ("dim unflattened_size", {}),
    "Fold": ("output_size kernel_size dilation padding stride", {"dilation": 1, "padding": 0, "stride": 1}),
    "Unfold": ("kernel_size dilation padding stride", {"dilation": 1, "padding": 0, "stride": 1}),
    "Upsample": ("size scale_factor mode align_corners", {"size": None, "scale_factor": None, "mode": "nearest"}),
    "PixelShuffle": ("upscale_factor", {}),
    "PixelUnshuffle": ("downscale_factor", {}),
    "ChannelShuffle": ("groups", {}),
    "CosineSimilarity": ("dim eps", {"dim": 1}),
    "LocalResponseNorm": ("size alpha beta k", {}),
    "Softmax": ("dim", {"dim": None}),
    "Threshold": ("threshold value inplace", {}),
    "LeakyReLU": ("negative_slope inplace", {"negative_slope": 0.01, "inplace": False}),
    "ELU": ("alpha inplace", {"alpha": 1.0}),
    "GELU": ("approximate", {"approximate": "none"}),
    "Hardtanh": ("min_val max_val inplace", {"min_val": -1.0, "max_val": 1.0}),
    **{
        f"{kind}Pool{d}d": (
            "kernel_size stride padding dilation return_indices ceil_mode",
            {"stride": None, "padding": 0, "dilation": 1, "ceil_mode": False},
        )
        for kind in ("Max", "Avg", "LP")
        for d in (1, 2, 3)
    },
    **{f"MaxUnpool{d}d": ("kernel_size stride padding", {"stride": None, "padding": 0}) for d in (1, 2, 3)},
    **{f"Adaptive{kind}Pool{d}d": ("output_size", {}) for kind in ("Max", "Avg") for d in (1, 2, 3)},
    **{f"FractionalMaxPool{d}d": ("kernel_size", {}) for d in (2, 3)},
    **{
        f"{kind}Pad{d}d": ("padding value", {})
        for kind in ("Zero", "Constant", "Reflection", "Replication", "Circular")
        for d in (1, 2, 3)
    },
    **{
        name: ("p inplace", {"p": 0.5, "inplace": False})
        for name in ["Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout"]
    },
    **{
        name: ("inplace", {"inplace": False})
        for name in ["ReLU", "ReLU6", "SiLU", "Mish", "Hardswish", "Hardsigmoid", "SELU", "CELU", "RReLU"]
    },
    **{
        name: ("", {})
        for name in [
            "Sigmoid",
            "Tanh",
            "Softplus",
            "Softsign",
            "LogSigmoid",
            "Tanhshrink",
            "Softmin",
            "LogSoftmax",
            "Softmax2d",
            "Hardshrink",
            "Softshrink",
            "GLU",
            "UpsamplingNearest2d",
            "UpsamplingBilinear2d",
            "PairwiseDistance",
        ]
    },
    **{
        name: ("", {})
        for name in [
            "L1Loss",
            "NLLLoss",
            "MSELoss",
            "BCELoss",
            "KLDivLoss",
            "SmoothL1Loss",
            "HuberLoss",
            "CTCLoss",
            "HingeEmbeddingLoss",
            "MarginRankingLoss",
            "CosineEmbeddingLoss",
            "SoftMarginLoss",
            "MultiLabelMarginLoss",
            "MultiLabelSoftMarginLoss",
            "MultiMarginLoss",
            "TripletMarginLoss",
            "TripletMarginWithDistanceLoss",
            "PoissonNLLLoss",
            "GaussianNLLLoss",
            "NLLLoss2d",
        ]
    },
}


def weighted_loss(
    machine: Machine, self: Instance, weight: Value = None, *args: Value, pos_weight: Value = None, **kwargs: Value
) -> None:
    """Losses keep their class weights as buffers."""
    self.attrs["_buffers"]["weight"] = weight if isinstance(weight, Tensor) else None
    if self.cls.name == "BCEWithLogitsLoss" or pos_weight is not None:
        self.attrs["_buffers"]["pos_weight"] = pos_weight if isinstance(pos_weight, Tensor) else None
    self.attrs.update(kwargs)


def layer_classes(machine: Machine) -> dict[str, Class]:
    makers: dict[str, Callable[..., None]] = {
        "Linear": linear,
        "Bilinear": bilinear,
        "Embedding": embedding,
        "EmbeddingBag": embedding_bag,
        "GroupNorm": group_norm,
        "LayerNorm": layer_norm,
        "RMSNorm": rms_norm,
        "PReLU": prelu,
        "SyncBatchNorm": sync_batch_norm,
        "RNN": recurrent(1),
        "LSTM": recurrent(4),
        "GRU": recurrent(3),
        "RNNCell": recurrent_cell(1),
        "LSTMCell": recurrent_cell(4),
        "GRUCell": recurrent_cell(3),
        "CrossEntropyLoss": weighted_loss,
        "BCEWithLogitsLoss": weighted_loss,
    }
    for dimensions in (1, 2, 3):
        makers[f"Conv{dimensions}d"] = convolution(dimensions, False)
        makers[f"ConvTranspose{dimensions}d"] = convolution(dimensions, True)
        makers[f"BatchNorm{dimensions}d"] = batch_norm
        makers[f"InstanceNorm{dimensions}d"] = instance_norm
        for kind in ("Conv", "ConvTranspose", "BatchNorm", "InstanceNorm"):
            makers[f"Lazy{kind}{dimensions}d"] = lazy
    makers["LazyLinear"] = lazy
    for name, (names, defaults) in _PLAIN.items():
        makers[name] = without_parameters(tuple(names.split()), defaults)
    classes: dict[str, Class] = {}
    shared = {
        "_ConvNd": [f"Conv{d}d" for d in (1, 2, 3)],
        "_ConvTransposeNd": [f"ConvTranspose{d}d" for d in (1, 2, 3)],
        "_BatchNorm": [*(f"BatchNorm{d}d" for d in (1, 2, 3)), "SyncBatchNorm"],
        "_InstanceNorm": [f"InstanceNorm{d}d" for d in (1, 2, 3)],
        "_DropoutNd": [name for name in makers if "Dropout" in name],
        "RNNBase": ["RNN", "LSTM", "GRU"],
        "_Loss": [name for name in makers if name.endswith("Loss")],
    }
    parents: dict[str, Class] = {}
    conv_base = layer_class(machine, "_ConvNd", without_parameters((), {}))
    norm_base = layer_class(machine, "_NormBase", batch_norm)
    for base, members in shared.items():
        if base == "_ConvNd":
            made = conv_base
        elif base == "_ConvTransposeNd":
            made = layer_class(machine, base, without_parameters((), {}), bases=(conv_base,))
        elif base == "_BatchNorm":
            made = layer_class(machine, base, batch_norm, bases=(norm_base,))
        elif base == "_InstanceNorm":
            made = layer_class(machine, base, instance_norm, bases=(norm_base,))
        else:
            made = layer_class(machine, base, without_parameters((), {}))
        classes[base] = made
        for name in members:
            parents[name] = made
    classes["_NormBase"] = norm_base
    classes["_WeightedLoss"] = layer_class(machine, "_WeightedLoss", weighted_loss, bases=(classes["_Loss"],))
    for name, function in makers.items():
        parent = parents.get(name)
        classes[name] = layer_class(machine, name, function, bases=(parent,) if parent is not None else None)
    classes["ReLU6"].bases = (classes["Hardtanh"],)
    classes["NonDynamicallyQuantizableLinear"] = layer_class(
        machine, "NonDynamicallyQuantizableLinear", linear, bases=(classes["Linear"],)
    )
    classes["SyncBatchNorm"].namespace["convert_sync_batchnorm"] = _converter()
    return classes


def _converter() -> Any:
    from neurarch_schemas.interpreter.values import Builtin

    return Builtin("convert_sync_batchnorm", lambda machine, module, *args, **kwargs: module)


__all__ = ["layer_classes", "optional", "parameter", "prod"]
