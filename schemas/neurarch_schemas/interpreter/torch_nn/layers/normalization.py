"""Normalization layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurarch_schemas.interpreter.torch_nn.base import buffer, new_parameter
from neurarch_schemas.interpreter.torch_nn.layers.common import Initializer, optional
from neurarch_schemas.interpreter.torch_nn.tensor import Tensor
from neurarch_schemas.interpreter.values import Instance, Unknown, Value

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine


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
    *,
    bias: Value = True,
) -> None:
    _normalize(machine, self, num_features, eps, momentum, affine, track_running_stats, bias)


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
    *,
    bias: Value = True,
) -> None:
    _normalize(machine, self, num_features, eps, momentum, affine, track_running_stats, bias)


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
    *,
    bias: Value = True,
) -> None:
    _normalize(machine, self, num_features, eps, momentum, affine, track_running_stats, bias)


def _normalize(
    machine: Machine,
    self: Instance,
    features: Value,
    eps: Value,
    momentum: Value,
    affine: Value,
    track: Value,
    bias: Value,
) -> None:
    self.attrs.update(num_features=features, eps=eps, momentum=momentum, affine=affine, track_running_stats=track)
    optional(machine, self, "weight", affine, features)
    optional(machine, self, "bias", affine if bias is True or affine is False else bias, features)
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
    *,
    bias: Value = True,
) -> None:
    if isinstance(num_groups, int) and isinstance(num_channels, int) and (num_groups <= 0 or num_channels % num_groups):
        machine.fail("ValueError", f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
    self.attrs.update(num_groups=num_groups, num_channels=num_channels, eps=eps, affine=affine)
    optional(machine, self, "weight", affine, num_channels)
    optional(machine, self, "bias", affine if bias is True or affine is False else bias, num_channels)


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


INITIALIZERS: dict[str, Initializer] = {
    **{f"BatchNorm{d}d": batch_norm for d in (1, 2, 3)},
    **{f"InstanceNorm{d}d": instance_norm for d in (1, 2, 3)},
    "SyncBatchNorm": sync_batch_norm,
    "GroupNorm": group_norm,
    "LayerNorm": layer_norm,
    "RMSNorm": rms_norm,
}
