"""Heads of time-series models that predict the parameters of a distribution instead of a value."""

from __future__ import annotations

from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.layers import linear
from neurarch_schemas.modules.tree import Module, stack

PARAMETERS = {"student_t": 3, "normal": 2, "negative_binomial": 2}
"""Degrees of freedom, place and scale; place and scale; count and logits."""


def value_projection(config: ModelConfig, inputs: int, outputs: int) -> Module:
    """One linear map under a squared error (``loss`` "mse"), else one for each parameter of the distribution."""
    if config.get("loss") == "mse":
        return linear(inputs, outputs, part="head")
    name = config.text("distribution_output")
    if name not in PARAMETERS:
        raise CannotBuild(f"distribution_output {name!r} is not known", ("distribution_output",))
    maps = stack(linear(inputs, outputs), times=PARAMETERS[name])
    return Module("ParameterProjection", children=(("proj", maps),), part="head")
