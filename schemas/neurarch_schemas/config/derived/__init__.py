"""What config classes fill in from other keys, one file a group of related classes.

Each file with tables declares ``BEFORE``, ``ROPE`` and ``AFTER``: config class -> derivations that run before nested
configs are opened, in place of the common RoPE step, and in the end. ``index.json`` (tools/index_derived.py) says
which file a class is in.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, TypeAlias, cast

if TYPE_CHECKING:
    from neurarch_schemas.config.draft import Rule


Steps: TypeAlias = "tuple[tuple[Rule, ...], tuple[Rule, ...], tuple[Rule, ...]]"


class Derivations(Protocol):
    BEFORE: Mapping[str, tuple[Rule, ...]]
    ROPE: Mapping[str, tuple[Rule, ...]]
    AFTER: Mapping[str, tuple[Rule, ...]]


@cache
def files() -> Mapping[str, str]:
    """Config class -> name of the file with its derivations."""
    with open(os.path.join(os.path.dirname(__file__), "index.json"), encoding="utf-8") as file:
        text = file.read()
    return cast("Mapping[str, str]", json.loads(text))


@cache
def derivations(config_class: str) -> Steps | None:
    """(before, RoPE, after) for a class; None when its derivations are not written down here."""
    name = files().get(config_class)
    if name is None:
        return None
    module = cast("Derivations", import_module(f"{__package__}.{name}"))
    return module.BEFORE.get(config_class, ()), module.ROPE.get(config_class, ()), module.AFTER.get(config_class, ())
