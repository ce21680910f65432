from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.python_file import (
    ClassFacts,
    FunctionNode,
    PythonFile,
    argument,
    has_stars,
    python_file,
    self_attribute,
)
from neurarch_schemas.documents.python_nodes import nodes

RULE = RuleInfo(
    name="batch-first-missing",
    severity="warning",
    category="correctness",
    summary="A sequence layer is fed batch-first input but was made with batch_first=False",
    reads=("python",),
    needs=("LSTM", "GRU", "RNN", "MultiheadAttention", "Transformer"),
)

RECURRENT = ("LSTM", "GRU", "RNN")
LAYERS = ("Transformer", "TransformerEncoderLayer", "TransformerDecoderLayer", "MultiheadAttention", *RECURRENT)
STACKS = ("TransformerEncoder", "TransformerDecoder")
BATCH = r"(?:batch(?:_?size)?|bsz?|B|N|b|num_batch(?:es)?)"
SEQUENCE = r"(?:seq(?:_?len(?:gth)?)?|sequence(?:_length)?|T|L|S|t|time(?:_?steps)?|tokens|num_tokens|n_tokens)"
BATCH_FIRST = re.compile(
    r"(?:#|\"\"\"|^)\s*(\w+)\s*(?::|=|is|->|has shape|shape:?|\(\w[\w.]*\):?)?\s*"
    r"(?:(?:\w[\w.]* )?(?:of|with|has) shape:?|shape:?)?"
    rf"\s*[\(\[]\s*{BATCH}\s*,\s*{SEQUENCE}\s*,",
    re.MULTILINE,
)
MOVING = frozenset(("rearrange", "movedim", "swapaxes", "swapdims", "t", "moveaxis", "einsum", "stack", "unsqueeze"))
POOLING = ("mean", "max", "sum", "amax")


class Shown(NamedTuple):
    """Where the code shows that an input or output is batch-first."""

    call: ast.AST
    reason: str


def check(context: Context) -> Iterator[Finding]:
    file = python_file(context)
    for found in file.modules:
        method = found.methods.get("forward")
        layers = [] if method is None else list(_sequence_layers(file, found))
        if method is None or not layers or _moves_axes(method):
            continue
        named = _batch_first_names(found, method)
        for attribute, layer, is_first in layers:
            recurrent = file.layer(layer) in RECURRENT
            if is_first:
                last = _picked(method, attribute, recurrent, is_first) if recurrent else None
                if last is not None:
                    yield Finding(
                        f"{ast.unparse(layer.func)} was made with batch_first=True, so {last.reason} is the last "
                        "sample of the batch, not the last step: index the second axis, [:, -1]",
                        found.site(last.call).place,
                        (found.site(layer).related("batch_first=True"),),
                    )
                continue
            shown = _fed(method, attribute, named) or (_state(method, attribute) if recurrent else None)
            shown = shown or _picked(method, attribute, recurrent, is_first)
            if shown is not None:
                what = "attention" if not recurrent else "recurrence"
                yield Finding(
                    f"{ast.unparse(layer.func)} expects (seq, batch, features) because batch_first is False, but "
                    f"{shown.reason}: {what} runs over the batch, silently; pass batch_first=True",
                    found.site(layer).place,
                    (found.site(shown.call).related("shown here"),),
                )


def _moves_axes(method: FunctionNode) -> bool:
    """The first axis may become another one somewhere in forward."""
    for node in nodes(method):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in MOVING:
                return True
            axes = [item.value if isinstance(item, ast.Constant) else None for item in node.args]
            if name == "transpose" and (len(axes) != 2 or not set(axes) <= {1, 2, 3, -1, -2}):
                return True
            if name == "permute" and axes[:1] != [0]:
                return True
        if isinstance(node, ast.Attribute) and node.attr in ("T", "mT"):
            return True
    return False


def _batch_first_names(found: ClassFacts, method: FunctionNode) -> dict[str, str]:
    """Parameters of forward whose shape a comment or an unpacking of it calls (batch, seq, ...)."""
    start, end = found.site(method).span
    parameters = [item.arg for item in method.args.args[1:]]
    named = {
        match[1]: f"{match[1]} is (batch, seq, features)"
        for match in BATCH_FIRST.finditer(found.file.text, start, end)
        if match[1] in parameters
    }
    for node in nodes(method):
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Tuple):
            continue
        names = [part.id if isinstance(part, ast.Name) else "" for part in node.targets[0].elts]
        of = re.fullmatch(r"(\w+)\.(?:shape|size\(\))", ast.unparse(node.value))
        if of is None or of[1] not in parameters or len(names) != 3:
            continue
        if re.fullmatch(BATCH, names[0]) and re.fullmatch(SEQUENCE, names[1]):
            named[of[1]] = f"{of[1]}.shape is unpacked as ({names[0]}, {names[1]}, {names[2]})"
    return named


def _sequence_layers(file: PythonFile, found: ClassFacts) -> Iterator[tuple[str, ast.Call, bool]]:
    """Attribute, the layer in question, and its batch_first where it is certain."""
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
        if len(call.args) <= 4 and (given is None or (isinstance(given, ast.Constant) and type(given.value) is bool)):
            yield attribute, call, isinstance(given, ast.Constant) and given.value is True


def _fed(method: FunctionNode, attribute: str, named: dict[str, str]) -> Shown | None:
    """The layer is called with the parameter itself, or what own layers and sums made of it."""
    alive = dict(named)
    for statement in method.body:
        for node in nodes(statement):
            is_call = isinstance(node, ast.Call) and self_attribute(node.func) == attribute
            if isinstance(node, ast.Call) and is_call and node.args:
                reason = next((alive[name] for name in _names(node.args[0]) if name in alive), None)
                if reason is not None:
                    return Shown(node, reason)
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
            if isinstance(target, ast.Name):
                reason = next((alive[name] for name in _names(statement.value) if name in alive), None)
                if reason is not None:
                    alive[target.id] = reason
                else:
                    alive.pop(target.id, None)
    return None


def _state(method: FunctionNode, attribute: str) -> Shown | None:
    """An initial state whose batch is the first axis of the input: ``torch.zeros(layers, x.size(0), hidden)``."""
    inside = nodes(method)
    for node in inside:
        if not isinstance(node, ast.Call) or self_attribute(node.func) != attribute or len(node.args) != 2:
            continue
        given = node.args[0]
        if not isinstance(given, ast.Name):
            continue
        states = {part.id for part in nodes(node.args[1]) if isinstance(part, ast.Name)}
        if any(
            isinstance(part, ast.Name) and part.id == given.id and isinstance(part.ctx, ast.Store) for part in inside
        ):
            continue
        size = rf"(?:{given.id}\.size\(0\)|{given.id}\.shape\[0\]|len\({given.id}\))"
        made = re.compile(rf"\.(?:zeros|randn|rand|ones)\([^,]+, {size},")
        for each in inside:
            if not isinstance(each, ast.Assign) or getattr(each.targets[0], "id", "") not in states:
                continue
            if made.search(ast.unparse(each.value)):
                return Shown(each, f"the initial state takes its batch from the first axis of {given.id}")
    return None


def _picked(method: FunctionNode, attribute: str, recurrent: bool, is_first: bool) -> Shown | None:
    """The output is indexed or pooled along the axis that is not the one of time."""
    outputs: set[str] = set()
    for statement in method.body:
        for node in nodes(statement):
            found = _along(node, outputs, is_first)
            if found is not None:
                return found
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            continue
        target, value = statement.targets[0], statement.value
        is_output = isinstance(value, ast.Call) and self_attribute(value.func) == attribute
        if isinstance(target, ast.Tuple) and isinstance(target.elts[0], ast.Name) and is_output:
            outputs.add(target.elts[0].id)
        elif isinstance(target, ast.Name):
            if (is_output and not recurrent) or _names(value) & outputs:
                outputs.add(target.id)
            else:
                outputs.discard(target.id)
    return None


def _along(node: ast.AST, outputs: set[str], is_first: bool) -> Shown | None:
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in outputs:
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if is_first:
            return Shown(node, ast.unparse(node)) if ast.unparse(parts[0]) == "-1" else None
        if len(parts) > 1 and ast.unparse(parts[0]) == ":" and ast.unparse(parts[1]) in ("-1", "0"):
            return Shown(node, f"{ast.unparse(node)} picks a step from the second axis of its output")
    if is_first or not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    owner, axis = node.func.value, argument(node, "dim", 0)
    pools = node.func.attr in POOLING and isinstance(owner, ast.Name) and owner.id in outputs
    if pools and isinstance(axis, ast.Constant) and axis.value == 1:
        return Shown(node, f"{ast.unparse(node)} pools its output over the second axis")
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
