from __future__ import annotations

import ast
from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.axis_patterns import einops_fault, einsum_fault
from neurarch_rules.facts.python_file import Site, argument, python_file

RULE = RuleInfo(
    name="axis-pattern-invalid",
    severity="error",
    category="correctness",
    summary="A pattern of einops or einsum that is refused whatever the tensors are",
    reads=("python",),
    needs=("einsum", "einops"),
)
EINOPS = {
    "einops.rearrange": ("rearrange", 1),
    "einops.reduce": ("reduce", 1),
    "einops.repeat": ("repeat", 1),
    "einops.layers.torch.Rearrange": ("rearrange", 0),
    "einops.layers.torch.Reduce": ("reduce", 0),
}
"""The function and the position of its pattern."""
OTHERS = ("tensor", "pattern", "reduction")


def check(context: Context) -> Iterator[Finding]:
    file = python_file(context)
    for placed, call in file.calls("rearrange", "reduce", "repeat", "Rearrange", "Reduce"):
        function, position = EINOPS.get(file.qualified(call.func) or "", ("", 0))
        pattern = argument(call, "pattern", position)
        if not function or any(keyword.arg is None for keyword in call.keywords):
            continue
        if isinstance(pattern, ast.Constant) and isinstance(pattern.value, str):
            reduction = argument(call, "reduction", position + 1)
            if isinstance(reduction, ast.Constant) and reduction.value == "repeat":
                function = "repeat"
            sizes = [keyword.arg for keyword in call.keywords if keyword.arg not in (*OTHERS, None)]
            fault = einops_fault(function, pattern.value, [str(name) for name in sizes])
            if fault is not None:
                yield Finding(f"{function} refuses this pattern: {fault}", Site(placed, pattern).place)
    for placed, call in file.calls("einsum"):
        equation = call.args[0] if call.args else None
        if file.qualified(call.func) == "torch.einsum" and isinstance(equation, ast.Constant):
            fault = einsum_fault(equation.value, _operands(call)) if isinstance(equation.value, str) else None
            if fault is not None:
                yield Finding(f"einsum refuses this equation: {fault}", Site(placed, equation).place)


def _operands(call: ast.Call) -> int | None:
    given = call.args[1:]
    if any(isinstance(item, ast.Starred) for item in given) or not given:
        return None
    if len(given) > 1:
        return len(given)
    if isinstance(given[0], ast.List | ast.Tuple):
        starred = any(isinstance(item, ast.Starred) for item in given[0].elts)
        return None if starred else len(given[0].elts)
    # a single name may hold a list of tensors
    return 1 if isinstance(given[0], ast.Call | ast.BinOp) else None
