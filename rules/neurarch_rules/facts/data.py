"""Recorded facts, one small JSON file each beside this module, read when a rule first asks."""

from __future__ import annotations

import json
import os
from functools import cache
from typing import Any


@cache
def facts(name: str) -> Any:
    with open(os.path.join(os.path.dirname(__file__), f"{name}.json"), "rb") as file:
        return json.loads(file.read())


@cache
def fact_set(name: str, key: str) -> frozenset[str]:
    return frozenset(facts(name)[key])
