from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Fix
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.python_file import FunctionNode, Site, assigning, assignments, first_argument, self_attribute
from neurarch_rules.facts.python_values import Built, Events, Layer, Tensor, Value, events
from neurarch_schemas.documents.python_nodes import nodes

RULE = RuleInfo(
    name="position-table-too-short",
    severity="warning",
    category="correctness",
    summary="A learned position table has fewer rows than the sequence length the module accepts",
    reads=("python",),
    needs=("Embedding", "Parameter"),
)

TABLES = (*RULE.needs, "zeros", "ones", "empty", "rand", "full")
"""What makes a table."""
POSITION = re.compile(r"(?:^|_)(?:wpe|pe|pos|positions?|positional)(?:_|$)|pos(?:ition)?_?emb", re.IGNORECASE)


class Table(NamedTuple):
    attribute: str
    rows: Value
    width: int | None
    site: Site


class Limit(NamedTuple):
    """The longest sequence that a method lets through."""

    length: int
    shown: str
    site: Site


def check(context: Context) -> Iterator[Finding]:
    return _faults(events(context, TABLES, _faults))


def _faults(found: Events) -> Iterator[Finding]:
    seen: set[int] = set()
    for built in found.built:
        tables = list(_tables(built))
        if not tables:
            continue
        for owner in built.instance.of.lineage:
            for method in owner.methods.values():
                for table in tables:
                    if id(table.site.node) in seen or not _is_indexed(method, table.attribute):
                        continue
                    limit = _limit(built, method)
                    rows = table.rows.integer
                    if limit is not None and rows is not None and 0 < rows < limit.length:
                        seen.add(id(table.site.node))
                        yield _finding(table, rows, limit)


def _tables(built: Built) -> Iterator[Table]:
    for name, value in built.instance.attributes.items():
        if not POSITION.search(name):
            continue
        if isinstance(value.of, Layer) and value.of.name == "Embedding":
            layer = value.of
            if "num_embeddings" in layer.arguments:
                yield Table(name, layer.arguments["num_embeddings"], layer.integer("embedding_dim"), layer.site)
        elif isinstance(value.of, Tensor) and not value.of.is_triangle:
            shape = value.of.shape
            if len(shape) == 2 or (len(shape) == 3 and shape[0].integer == 1):
                yield Table(name, shape[-2], shape[-1].integer, value.of.site)


def _is_indexed(method: FunctionNode, attribute: str) -> bool:
    """The method looks positions 0, 1, 2 ... up in the table: an arange into it, or its first rows."""
    counted = {
        target.id
        for node in assigning(method)
        for target, value in assignments(node)
        if isinstance(target, ast.Name) and value is not None and _counts(value)
    }
    for node in nodes(method):
        if isinstance(node, ast.Call) and self_attribute(node.func) == attribute and len(node.args) == 1:
            given = node.args[0]
            if _counts(given) or (isinstance(given, ast.Name) and given.id in counted):
                return True
        if isinstance(node, ast.Subscript) and _table_of(node.value) == attribute:
            parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            if any(isinstance(part, ast.Slice) and part.upper is not None and part.lower is None for part in parts):
                return True
    return False


def _table_of(node: ast.expr) -> str | None:
    """``self.pos`` or ``self.pos.weight``."""
    if isinstance(node, ast.Attribute) and node.attr == "weight":
        return self_attribute(node.value)
    return self_attribute(node)


def _counts(value: ast.expr) -> bool:
    """``torch.arange(...)``, moved or reshaped, without arithmetic on its values."""
    while isinstance(value, ast.Call):
        if not isinstance(value.func, ast.Attribute):
            return False
        if value.func.attr == "arange":
            return True
        if value.func.attr not in ("unsqueeze", "expand", "to", "view", "repeat", "long", "expand_as", "reshape"):
            return False
        value = value.func.value
    return isinstance(value, ast.Subscript) and _counts(value.value)


def _limit(built: Built, method: FunctionNode) -> Limit | None:
    """The longest sequence that the method lets through; None where nothing limits it."""
    checks = list(_checks(built, method)) or list(_masks(built, method))
    return min(checks, key=lambda item: item.length, default=None)


def _checks(built: Built, method: FunctionNode) -> Iterator[Limit]:
    """What an assert, a raise or a crop to the last tokens compares with."""
    this = first_argument(method)
    lengths = _lengths(method)
    for node in nodes(method):
        test: tuple[ast.expr, ast.expr] | None = None
        if isinstance(node, ast.Assert):
            test = _bound(node.test, (ast.LtE,), lengths)
        elif isinstance(node, ast.If) and node.body and isinstance(node.body[0], ast.Raise):
            test = _bound(node.test, (ast.Gt,), lengths)
        elif isinstance(node, ast.Slice) and node.upper is None and node.step is None:
            lower = node.lower
            test = (lower, lower.operand) if isinstance(lower, ast.UnaryOp) and isinstance(lower.op, ast.USub) else None
        if test is not None and isinstance(test[1], ast.Attribute | ast.Subscript):
            length = built.value(test[1], this).integer
            if length is not None:
                yield Limit(length, ast.unparse(test[1]), built.instance.of.site(test[0]))


def _masks(built: Built, method: FunctionNode) -> Iterator[Limit]:
    """The causal masks the method reads."""
    for node in nodes(method):
        name = self_attribute(node)
        value = None if name is None else built.instance.attributes.get(name)
        mask = None if value is None else value.of
        if isinstance(mask, Tensor) and mask.is_triangle and len(mask.shape) >= 2:
            size, other = mask.shape[-1].integer, mask.shape[-2].integer
            if size is not None and size == other:
                yield Limit(size, f"the causal mask self.{name}", mask.site)


def _lengths(method: FunctionNode) -> frozenset[str]:
    """Names that hold a size of a tensor."""
    found: set[str] = set()
    for node in nodes(method):
        if isinstance(node, ast.Assign):
            source = ast.unparse(node.value)
            if ".shape" in source or ".size(" in source or source.startswith("len("):
                found |= {part.id for target in node.targets for part in nodes(target) if isinstance(part, ast.Name)}
    return frozenset(found)


def _bound(
    test: ast.expr, operators: tuple[type[ast.cmpop], ...], lengths: frozenset[str]
) -> tuple[ast.expr, ast.expr] | None:
    """The comparison and its right side where it limits a length: ``t <= self.block_size``."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], operators):
        return None
    left = ast.unparse(test.left)
    is_length = left in lengths or ".shape[" in left or ".size(" in left
    return (test, test.comparators[0]) if is_length else None


def _finding(table: Table, rows: int, limit: Limit) -> Finding:
    fixes: tuple[Fix, ...] = ()
    origin = table.rows.origin
    if (
        origin is not None
        and isinstance(origin.node, ast.Constant)
        and any(each is origin.node for each in nodes(table.site.node))
    ):
        cost = "" if table.width is None else f" (+{(limit.length - rows) * table.width:,} parameters)"
        fixes = (origin.replace(str(limit.length), f"Make it {limit.length:,} rows{cost}", "unsafe"),)
    place = origin if origin is not None else table.site
    return Finding(
        f"self.{table.attribute} has {rows:,} positions, but {limit.shown} lets {limit.length:,} tokens through: "
        f"a sequence longer than {rows:,} fails; make both alike",
        place.place,
        (limit.site.related(f"{limit.length:,}"), table.site.related("the table")),
        fixes,
    )
