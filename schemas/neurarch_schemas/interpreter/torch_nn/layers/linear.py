"""Linear and embedding layers, and PReLU."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurarch_schemas.interpreter.torch_nn.layers.common import Initializer, optional, parameter
from neurarch_schemas.interpreter.torch_nn.tensor import Tensor
from neurarch_schemas.interpreter.values import Builtin, Class, ClassMethod, Instance, Unknown, Value

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine


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


def _from_pretrained(
    machine: Machine, cls: Class, embeddings: Value, freeze: Value = True, *args: Value, **kwargs: Value
) -> Value:
    """An embedding of the shape of a given table."""
    if not isinstance(embeddings, Tensor) or embeddings.shape is None:
        return Unknown("an embedding from a table of unknown shape")
    made = machine.call(cls, list(embeddings.shape), {})
    machine.get_attr(made, "weight").requires_grad = not freeze
    return made


FROM_PRETRAINED = ClassMethod(Builtin("from_pretrained", _from_pretrained, binds=True))

INITIALIZERS: dict[str, Initializer] = {
    "Linear": linear,
    "Bilinear": bilinear,
    "Embedding": embedding,
    "EmbeddingBag": embedding_bag,
    "PReLU": prelu,
}
