"""Recurrent layers and cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurarch_schemas.interpreter.torch_nn.layers.common import Initializer, optional, parameter
from neurarch_schemas.interpreter.values import Instance, Unknown, Value

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine


def recurrent(gates: int) -> Initializer:
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


def recurrent_cell(gates: int) -> Initializer:
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


INITIALIZERS: dict[str, Initializer] = {
    "RNN": recurrent(1),
    "LSTM": recurrent(4),
    "GRU": recurrent(3),
    "RNNCell": recurrent_cell(1),
    "LSTMCell": recurrent_cell(4),
    "GRUCell": recurrent_cell(3),
}
