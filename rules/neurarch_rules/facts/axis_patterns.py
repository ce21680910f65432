"""Patterns of einops (``"b (h w) c -> b c h w"``) and of einsum (``"bhid,bhjd->bhij"``), and what they refuse."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from typing import NamedTuple

_TOKEN = re.compile(r"\s*(\.\.\.|…|[A-Za-z_]\w*|\d+|[()])")


class Side(NamedTuple):
    """``axes`` in order; ``groups`` are those in brackets together."""

    axes: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]

    @property
    def names(self) -> frozenset[str]:
        return frozenset(axis for axis in self.axes if not axis.isdigit())


def side(text: str) -> Side | str:
    """One side of a pattern, or what is wrong with it."""
    axes: list[str] = []
    groups: list[tuple[str, ...]] = []
    opened: int | None = None
    at = 0
    while text[at:].strip():
        match = _TOKEN.match(text, at)
        if match is None:
            return f"{text[at:].strip()[0]} is no part of a pattern"
        at, token = match.end(), match[1]
        if token == "(":
            if opened is not None:
                return "brackets stand in brackets"
            opened = len(axes)
        elif token == ")":
            if opened is None:
                return "a bracket is closed that was not opened"
            groups.append(tuple(axes[opened:]))
            opened = None
        else:
            axes.append("..." if token == "…" else token)
    if opened is not None:
        return "a bracket is not closed"
    repeated = [name for name, times in Counter(axes).items() if times > 1 and not name.isdigit() and name != "_"]
    return f"{repeated[0]} stands twice on one side" if repeated else Side(tuple(axes), tuple(groups))


def einops_fault(function: str, pattern: str, sizes: Collection[str]) -> str | None:
    """Why ``rearrange``, ``reduce`` or ``repeat`` refuses a pattern with sizes for these axes."""
    parts = pattern.split("->")
    if len(parts) != 2:
        return "a pattern has one arrow" if len(parts) > 2 else "the pattern has no arrow"
    left, right = map(side, parts)
    if isinstance(left, str) or isinstance(right, str):
        return left if isinstance(left, str) else str(right)
    lost, new = sorted(left.names - right.names), sorted(right.names - left.names)
    if function in ("rearrange", "repeat") and lost:
        return f"{', '.join(lost)} stands on the left side only"
    if function == "repeat":
        new = [axis for axis in new if axis not in sizes]
        if new:
            return f"{', '.join(new)} is new, and its size is not given"
    elif new:
        return f"{', '.join(new)} stands on the right side only"
    unknown = sorted(name for name in sizes if name not in left.names | right.names)
    if unknown:
        return f"a size is given for {', '.join(unknown)}, which is no axis of the pattern"
    for group in left.groups:
        free = [axis for axis in group if not axis.isdigit() and axis not in sizes and axis != "..."]
        if len(free) > 1 and "..." not in group:
            return f"the sizes of {' and '.join(free)} cannot be told apart: give all but one"
    return None


def einsum_fault(equation: str, operands: int | None) -> str | None:
    """Why ``torch.einsum`` refuses an equation for that many tensors (None: not known)."""
    text = equation.replace(" ", "")
    if not re.fullmatch(r"[A-Za-z.,>-]*", text) or text.count("->") > 1:
        return None
    inputs, arrow, output = text.partition("->")
    terms = inputs.split(",")
    if operands is not None and operands != len(terms):
        return f"it has {len(terms)} term{'s' * (len(terms) != 1)} for {operands} tensor{'s' * (operands != 1)}"
    if not arrow:
        return None
    letters = set(inputs) - set(",.")
    lost = [letter for letter in output.replace(".", "") if letter not in letters]
    if lost:
        return f"{lost[0]} of the output stands in no input"
    repeated = [letter for letter, times in Counter(output.replace(".", "")).items() if times > 1]
    return f"{repeated[0]} stands twice in the output" if repeated else None
