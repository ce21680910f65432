from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from math import sqrt

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.python_file import (
    FUNCTIONS,
    ClassFacts,
    FunctionNode,
    PythonFile,
    Site,
    argument,
    python_file,
    self_attribute,
)
from neurarch_rules.facts.python_flow import scope_of, values_of
from neurarch_rules.facts.python_values import Built, Events, events
from neurarch_schemas.documents.python_nodes import nodes

RULE = RuleInfo(
    name="residual-init-unscaled",
    severity="info",
    category="training",
    summary="A deep pre-norm stack initializes its residual output projections like every other layer",
    reads=("python",),
    needs=("normal_",),
)

NORMAL = ("torch.nn.init.normal_", "torch.nn.init.trunc_normal_")
SCALES = re.compile(
    r"layer_?scale|re_?zero|skip_?init|fix_?up|deep_?norm|mu_?p\b|residual_?(?:scale|multiplier|alpha|weight)|"
    r"depth_?(?:scale|init)|drop_?path|stochastic_?depth",
    re.IGNORECASE,
)
"""Other remedies for deep stacks, by name."""
OWN_TREATMENT = re.compile(
    r"sqrt|\*\*|n_?layers?\b|num_\w*layers|depth|resid|proj|endswith|named_|_is_\w+|scale", re.IGNORECASE
)


def check(context: Context) -> Iterator[Finding]:
    limit = context.options.limits.deep_attention_layers
    built = events(context, ("forward",), _deep, limit)
    deep = _deep(built, limit)
    file = python_file(context)
    if not deep or SCALES.search(file.text):
        return
    init = _init(file, built)
    if init is None:
        return
    site, std = init
    stack = max(deep, key=lambda each: each.times)
    branches = _branches(stack.instance.of)
    total = branches * stack.times
    yield Finding(
        f"the output projections of {stack.times} {stack.instance.of.name} layers start from N(0, {std:g}) like every "
        "other layer, so the residual stream's variance grows with depth when trained from scratch; GPT-2 divides "
        f"their standard deviation by sqrt({total}), the number of residual branches: {std / sqrt(total):.2g}",
        site.place,
        (stack.site.related(f"{stack.times} layers"),),
    )


def _deep(found: Events, limit: int) -> list[Built]:
    return [each for each in found.built if each.times >= limit and _branches(each.instance.of)]


def _init(file: PythonFile, built: Events) -> tuple[Site, float] | None:
    """The one initialization of linear layers, of a known standard deviation, that is applied to all modules."""
    found: list[tuple[Site, float]] = []
    applied = {name for _, call in file.calls("apply") for name in _names(call)}
    for placed in file.units:
        for function in placed.unit.parents:
            if not isinstance(function, FUNCTIONS) or "init" not in function.name or function.name == "__init__":
                continue
            text = ast.unparse(function)
            if OWN_TREATMENT.search(text.replace(function.name, "")) or not _zeroes_biases_only(file, function):
                return None
            if function.name not in applied or "Linear" not in text:
                continue
            for call, std in _normals(file, function):
                value = _deviation(file, Site(placed, function), std, built)
                if value is None:
                    return None
                found.append((Site(placed, call), value))
    if len(applied) != 1 or any(True for _ in file.calls("named_parameters")):
        return None
    return found[0] if found and len({std for _, std in found}) == 1 else None


def _deviation(file: PythonFile, function: Site, std: ast.expr, built: Events) -> float | None:
    """The value of an expression in an initializing function: ``0.02``, ``std``, ``self.config.initializer_range``."""
    scope = scope_of(file, function.placed, function.node)
    if isinstance(std, ast.Name):
        values = values_of(file, scope, std.id) or _defaults(function.node, std.id)
        return _deviation(file, function, values[0], built) if len(values) == 1 and values[0] is not None else None
    if isinstance(std, ast.Constant):
        return std.value if isinstance(std.value, float) and std.value > 0 else None
    if scope.owner is None or not isinstance(std, ast.Attribute):
        return None
    seen = {
        each.value(std, scope.parameters[0]).number
        for each in built.built
        if scope.owner in each.instance.of.lineage and scope.parameters
    }
    value = seen.pop() if len(seen) == 1 else None
    return float(value) if value is not None and 0 < value < 1 else None


def _defaults(function: ast.AST, name: str) -> list[ast.expr | None]:
    """The default of a parameter, which ``apply`` leaves as it is."""
    assert isinstance(function, FUNCTIONS)
    given = function.args
    names = [item.arg for item in (*given.posonlyargs, *given.args)][-len(given.defaults) :] if given.defaults else []
    named = {item.arg: default for item, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)}
    return [value for key, value in (named | dict(zip(names, given.defaults, strict=True))).items() if key == name]


def _normals(file: PythonFile, function: FunctionNode) -> Iterator[tuple[ast.Call, ast.expr]]:
    """``nn.init.normal_(module.weight, std=0.02)`` and ``module.weight.data.normal_(mean=0.0, std=0.02)``."""
    for node in nodes(function):
        if not isinstance(node, ast.Call):
            continue
        on_tensor = (
            isinstance(node.func, ast.Attribute) and node.func.attr == "normal_" and ".weight" in ast.unparse(node)
        )
        if file.qualified(node.func) in NORMAL or on_tensor:
            std = argument(node, "std", 2 if file.qualified(node.func) in NORMAL else 1)
            if std is not None:
                yield node, std


def _names(call: ast.Call) -> Iterator[str]:
    for item in call.args:
        if isinstance(item, ast.Attribute):
            yield item.attr
        elif isinstance(item, ast.Name):
            yield item.id


def _zeroes_biases_only(file: PythonFile, function: FunctionNode) -> bool:
    """No weight starts at zero, which would switch the branches off."""
    constants = ("torch.nn.init.zeros_", "torch.nn.init.constant_")
    calls = (node for node in nodes(function) if isinstance(node, ast.Call) and file.qualified(node.func) in constants)
    return all(call.args and ast.unparse(call.args[0]).endswith("bias") for call in calls)


def _branches(found: ClassFacts) -> int:
    """Statements ``x = x + self.part(self.norm(x))`` of forward."""
    forward = found.methods.get("forward")
    if forward is None:
        return 0
    return sum(
        1
        for node in nodes(forward)
        if isinstance(node, ast.Assign)
        and len(node.targets) == 1
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.BinOp)
        and isinstance(node.value.op, ast.Add)
        and _adds_branch(found, node.targets[0].id, node.value)
    )


def _adds_branch(found: ClassFacts, name: str, sum_: ast.BinOp) -> bool:
    for stream, branch in ((sum_.left, sum_.right), (sum_.right, sum_.left)):
        if isinstance(stream, ast.Name) and stream.id == name and isinstance(branch, ast.Call):
            return any(
                isinstance(node, ast.Call)
                and node.args
                and isinstance(node.args[0], ast.Name)
                and node.args[0].id == name
                and _is_norm(found, self_attribute(node.func))
                for node in nodes(branch)
            )
    return False


def _is_norm(found: ClassFacts, attribute: str | None) -> bool:
    values = found.assigned.get(attribute or "", [])
    return bool(values) and all(
        isinstance(value, ast.Call) and ast.unparse(value.func).lower().endswith("norm") for value in values
    )
