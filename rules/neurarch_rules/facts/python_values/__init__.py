"""Constants through the constructors of one file: which layers are made with which known numbers.

Nothing is executed: a small evaluator follows literals, defaults and assignments. Whatever it is not sure of is
unknown, a condition on an unknown value ends certainty for what it guards, and work is bounded by steps and depth.

``values.py`` and ``events.py`` hold what comes out; ``state.py``, ``expressions.py``, ``arguments.py``,
``constructions.py``, ``calls.py``, ``statements.py`` and ``evaluator.py`` are the evaluator, each a layer over the one
before.
"""

from neurarch_rules.facts.python_values.evaluator import events
from neurarch_rules.facts.python_values.events import Built, Events, Made, Refused, Tied
from neurarch_rules.facts.python_values.values import NOTHING, UNKNOWN, Instance, Layer, Tensor, Value, is_given

__all__ = [
    "NOTHING",
    "UNKNOWN",
    "Built",
    "Events",
    "Instance",
    "Layer",
    "Made",
    "Refused",
    "Tensor",
    "Tied",
    "Value",
    "events",
    "is_given",
]
