"""``AdaptiveLogSoftmaxWithLoss``: a head for frequent classes, and two small layers for each cluster of rare ones."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from neurarch_schemas.interpreter.values import Instance, Unknown, Value

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine


def _make(machine: Machine, name: str, *args: Value, **kwargs: Value) -> Value:
    return machine.call(machine.lookup_class(f"torch.nn.{name}"), list(args), kwargs)


def adaptive_softmax(
    machine: Machine,
    self: Instance,
    in_features: Value,
    n_classes: Value,
    cutoffs: Value,
    div_value: Value = 4.0,
    head_bias: Value = False,
    device: Value = None,
    dtype: Value = None,
) -> None:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.AdaptiveLogSoftmaxWithLoss.html"""
    bounds = [*machine.iterate(cutoffs), n_classes]
    unknown = next((each for each in (in_features, div_value, *bounds) if type(each) is Unknown), None)
    if unknown is not None:
        machine.taint(f"the sizes of an adaptive softmax: {unknown.reason}")
        return
    if len(bounds) < 2 or bounds[0] <= 0 or any(a >= b for a, b in pairwise(bounds)):
        machine.fail("ValueError", "cutoffs should be unique, positive and increasing, below n_classes")
    machine.meter.size(len(bounds))
    clusters = len(bounds) - 1
    self.attrs.update(
        in_features=in_features,
        n_classes=n_classes,
        cutoffs=bounds,
        div_value=div_value,
        head_bias=head_bias,
        shortlist_size=bounds[0],
        n_clusters=clusters,
        head_size=bounds[0] + clusters,
    )
    modules = self.attrs["_modules"]
    modules["head"] = _make(machine, "Linear", in_features, bounds[0] + clusters, bias=head_bias)
    tail = []
    for index in range(clusters):
        hidden = int(in_features // (div_value ** (index + 1)))
        tail.append(
            _make(
                machine,
                "Sequential",
                _make(machine, "Linear", in_features, hidden, bias=False),
                _make(machine, "Linear", hidden, bounds[index + 1] - bounds[index], bias=False),
            )
        )
    modules["tail"] = _make(machine, "ModuleList", tail)
