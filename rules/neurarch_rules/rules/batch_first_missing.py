from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.python_file import (
    ClassFacts,
    FunctionNode,
    PythonFile,
    argument,
    has_stars,
    nodes,
    python_file,
    self_attribute,
)

RULE = RuleInfo(
    name="batch-first-missing",
    severity="warning",
    category="correctness",
    summary="A sequence layer is fed batch-first input but was made with batch_first=False",
    reads=("python",),
    needs=("forward",),
)

LAYERS = ("TransformerEncoderLayer", "TransformerDecoderLayer", "MultiheadAttention", "LSTM", "GRU", "RNN")
STACKS = ("TransformerEncoder", "TransformerDecoder")
BATCH_FIRST = re.compile(
    r"(?:#|\"\"\"|^)\s*(\w+)\s*(?::|=|is|->|has shape|shape:?)?\s*[\(\[]\s*(?:batch(?:_size)?|bsz?|B|N)\s*,"
    r"\s*(?:seq(?:_?len(?:gth)?)?|sequence(?:_length)?|T|L|S|time(?:_?steps)?|tokens)\s*,",
    re.MULTILINE,
)
MOVING = frozenset(
    ("transpose", "permute", "rearrange", "movedim", "swapaxes", "swapdims", "t", "moveaxis", "einsum", "stack")
)


def check(context: Context) -> Iterator[Finding]:
    file = python_file(context)
    for found in file.modules:
        method = found.methods.get("forward")
        if method is None or _moves_axes(method):
            continue
        named = _batch_first_names(found, method)
        if not named:
            continue
        for attribute, layer in _sequence_layers(file, found):
            used = _fed(method, attribute, named)
            if used is not None:
                yield Finding(
                    f"{ast.unparse(layer.func)} expects (seq, batch, features) because batch_first is False, but "
                    f"{named[0]} is (batch, seq, features): attention or recurrence runs over the batch, silently; "
                    "pass batch_first=True",
                    found.site(layer).place,
                    (found.site(used).related("called here with batch-first input"),),
                )


def _moves_axes(method: FunctionNode) -> bool:
    for node in nodes(method):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in MOVING:
                return True
        if isinstance(node, ast.Attribute) and node.attr in ("T", "mT"):
            return True
    return False


def _batch_first_names(found: ClassFacts, method: FunctionNode) -> list[str]:
    """Parameters of forward that a comment in it gives the shape (batch, seq, ...)."""
    start, end = found.site(method).span
    parameters = [item.arg for item in method.args.args[1:]]
    return [match[1] for match in BATCH_FIRST.finditer(found.file.text, start, end) if match[1] in parameters]


def _sequence_layers(file: PythonFile, found: ClassFacts) -> Iterator[tuple[str, ast.Call]]:
    for attribute, values in found.assigned.items():
        if len(values) != 1 or not isinstance(values[0], ast.Call):
            continue
        call: ast.expr | None = values[0]
        if file.layer(values[0]) in STACKS:
            call = argument(values[0], "encoder_layer", 0) or argument(values[0], "decoder_layer", 0)
            if isinstance(call, ast.Name):
                init = found.methods.get("__init__")
                assigned = [
                    node.value
                    for node in nodes(init or found.node)
                    if isinstance(node, ast.Assign)
                    and any(isinstance(t, ast.Name) and t.id == call.id for t in node.targets)
                ]
                call = assigned[0] if len(assigned) == 1 else None
        if not isinstance(call, ast.Call) or file.layer(call) not in LAYERS or has_stars(call):
            continue
        given = argument(call, "batch_first")
        if len(call.args) <= 4 and (given is None or (isinstance(given, ast.Constant) and given.value is False)):
            yield attribute, call


def _fed(method: FunctionNode, attribute: str, named: list[str]) -> ast.Call | None:
    """The layer is called with the parameter itself, or what own layers and sums made of it."""
    alive = set(named)
    for statement in method.body:
        for node in nodes(statement):
            is_call = isinstance(node, ast.Call) and self_attribute(node.func) == attribute
            if isinstance(node, ast.Call) and is_call and node.args and _names(node.args[0]) & alive:
                return node
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
            if isinstance(target, ast.Name):
                if _names(statement.value) & alive:
                    alive.add(target.id)
                else:
                    alive.discard(target.id)
    return None


def _names(node: ast.expr) -> set[str]:
    """The name at the bottom of nested calls of own layers and of sums: ``self.drop(self.emb(x) + self.pos)``."""
    if isinstance(node, ast.Name):
        return {node.id}
    if isinstance(node, ast.Call) and self_attribute(node.func) is not None and node.args:
        return _names(node.args[0])
    if isinstance(node, ast.BinOp):
        return _names(node.left) | _names(node.right)
    return set()
