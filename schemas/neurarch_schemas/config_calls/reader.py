"""A call or dict of Python code as the object of a config.json: values, and the places of its members."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, TypeAlias

from neurarch_schemas.catalogue.load import enumerations
from neurarch_schemas.config_calls.values import Unknown, binary, plain, unary
from neurarch_schemas.documents.nodes import Member, Node
from neurarch_schemas.documents.pointer import join_pointer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from neurarch_schemas.config_calls.names import Names
    from neurarch_schemas.documents.document import Span
    from neurarch_schemas.documents.json_value import JSONValue
    from neurarch_schemas.documents.python_units import Placed

    Pair: TypeAlias = tuple[str, Span, Span, JSONValue, Node | None]
    """Key, its span, the value's span, the value, and the node of a value that is an object or list."""

MAX_DEPTH = 24


class Reader:
    """Reads one config; ``unknown`` and ``open_ended`` fill while it does.

    ``unknown``: pointers of keys whose value depends on what runs, with the value's span. ``open_ended``: pointers of
    objects that may hold further keys. ``elsewhere``: pointers of keys that a ``**name`` brings, with that span.
    """

    def __init__(self, names: Names) -> None:
        self._names = names
        self.unknown: dict[str, Span] = {}
        self.open_ended: dict[str, Span] = {}
        self.elsewhere: dict[str, Span] = {}

    def object(
        self,
        node: ast.Call | ast.Dict,
        placed: Placed,
        pointer: str,
        depth: int = 0,
        positional: tuple[str, ...] = (),
    ) -> Node:
        """A config call, ``dict(...)`` or dict display; ``data`` leaves out what is unknown.

        ``positional`` names the leading positional arguments; config classes themselves take none.
        """
        extra: dict[str, JSONValue] = {}
        if isinstance(node, ast.Dict):
            pairs = list(self._items(node, placed, pointer, extra, depth))
        else:
            model_type = self._names.model_type(node.func)
            if model_type is not None:
                extra["model_type"] = model_type
            pairs = self._arguments(node, placed, pointer, positional, extra, depth)
        return self.node(placed.span(node), pairs, pointer, extra)

    def arguments(self, call: ast.Call, placed: Placed, pointer: str, positional: tuple[str, ...]) -> list[Pair]:
        """The members that some arguments of a call make."""
        return self._arguments(call, placed, pointer, positional, {}, 0)

    def _arguments(
        self,
        call: ast.Call,
        placed: Placed,
        pointer: str,
        positional: tuple[str, ...],
        extra: dict[str, JSONValue],
        depth: int,
    ) -> list[Pair]:
        pairs: list[Pair] = []
        for number, argument in enumerate(call.args):
            span = placed.span(argument)
            if number >= len(positional):
                self.open_ended[pointer] = span
                break
            key, at = positional[number], (span[0], span[0])
            pairs.append((key, at, span, *self._value(argument, placed, pointer, key, span, depth)))
        return [*pairs, *self._keywords(call.keywords, placed, pointer, extra, depth)]

    def node(self, span: Span, pairs: list[Pair], pointer: str, given: Mapping[str, JSONValue]) -> Node:
        data = dict(given)
        node = Node("object", span[1] - span[0], data)
        members: list[Member] = []
        for key, key_span, value_span, value, child in pairs:
            begin = key_span[0]
            has_value = value_span[1] > value_span[0]
            members.append(
                Member(
                    key,
                    key_span[1] - begin,
                    value_span[0] - begin,
                    value_span[1] - value_span[0] if has_value else -1,
                    value,
                    child,
                    has_value,
                )
            )
            node.starts.append(begin - span[0])
            if join_pointer(pointer, key) not in self.unknown:
                data[key] = value
        node.members = members
        return node

    def _keywords(
        self,
        keywords: Iterable[ast.keyword],
        placed: Placed,
        pointer: str,
        extra: dict[str, JSONValue],
        depth: int,
    ) -> Iterable[Pair]:
        text, start = placed.unit.text, placed.start
        for keyword in keywords:
            begin, end = placed.span(keyword)
            if keyword.arg is None:
                self._star(keyword.value, placed, (begin, end), pointer, extra, depth)
                continue
            value_at = text.index("=", begin - start + len(keyword.arg)) + 1
            while text[value_at] in " \t\n\\":
                value_at += 1
            spans = (begin, begin + len(keyword.arg)), (start + value_at, end)
            yield keyword.arg, *spans, *self._value(keyword.value, placed, pointer, keyword.arg, spans[1], depth)

    def _items(
        self, node: ast.Dict, placed: Placed, pointer: str, extra: dict[str, JSONValue], depth: int
    ) -> Iterable[Pair]:
        for key, value in zip(node.keys, node.values, strict=True):
            span = placed.span(value)
            if key is None:
                self._star(value, placed, span, pointer, extra, depth)
            elif not isinstance(key, ast.Constant) or not isinstance(key.value, str | int):
                self.open_ended[pointer] = placed.span(key)
            else:
                name = str(key.value)
                yield name, placed.span(key), span, *self._value(value, placed, pointer, name, span, depth)

    def _star(
        self, node: ast.expr, placed: Placed, span: Span, pointer: str, extra: dict[str, JSONValue], depth: int
    ) -> None:
        """``**name``: the keys of a dict that is written elsewhere."""
        try:
            value, _ = self.read(node, placed, pointer, depth + 1)
        except Unknown:
            value = None
        if not isinstance(value, dict):
            self.open_ended[pointer] = span
            return
        for key, item in value.items():
            extra[key] = item
            self.elsewhere[join_pointer(pointer, key)] = span

    def _value(
        self, node: ast.expr, placed: Placed, pointer: str, key: str, span: Span, depth: int
    ) -> tuple[JSONValue, Node | None]:
        where = join_pointer(pointer, key)
        try:
            return self.read(node, placed, where, depth + 1)
        except Unknown:
            self.unknown[where] = span
            return None, None

    def read(self, node: ast.expr, placed: Placed, pointer: str, depth: int = 0) -> tuple[JSONValue, Node | None]:
        """The value of an expression. Raises Unknown."""
        if depth > MAX_DEPTH:
            raise Unknown
        if isinstance(node, ast.Dict) or (isinstance(node, ast.Call) and self._is_object(node)):
            found = self.object(node, placed, pointer, depth)
            return found.data, found
        if isinstance(node, ast.List | ast.Tuple):
            return self._list(node, placed, pointer, depth)
        if isinstance(node, ast.Name):
            return self._named(node.id, pointer, depth)
        if isinstance(node, ast.Constant):
            return plain(node.value), None
        if isinstance(node, ast.UnaryOp):
            return unary(node.op, self.read(node.operand, placed, pointer, depth + 1)[0]), None
        if isinstance(node, ast.BinOp):
            left = self.read(node.left, placed, pointer, depth + 1)[0]
            value = binary(node.op, left, self.read(node.right, placed, pointer, depth + 1)[0])
            return value, hidden(value)
        if isinstance(node, ast.Attribute):
            name = self._names.qualified(node)
            if name is not None and name.startswith("torch.") and node.attr in enumerations()["dtypes"]:
                return node.attr, None
        raise Unknown

    def _is_object(self, call: ast.Call) -> bool:
        if isinstance(call.func, ast.Name) and call.func.id == "dict":
            return not call.args
        return self._names.model_type(call.func) is not None

    def _list(
        self, node: ast.List | ast.Tuple, placed: Placed, pointer: str, depth: int
    ) -> tuple[JSONValue, Node | None]:
        begin, end = placed.span(node)
        values: list[JSONValue] = []
        found = Node("array", end - begin, values)
        members: list[Member] = []
        for number, item in enumerate(node.elts):
            value, child = self.read(item, placed, join_pointer(pointer, number), depth + 1)
            first, last = placed.span(item)
            members.append(Member(None, 0, 0, last - first, value, child))
            found.starts.append(first - begin)
            values.append(value)
        found.members = members
        return values, found

    def _named(self, name: str, pointer: str, depth: int) -> tuple[JSONValue, Node | None]:
        bound = self._names.bindings.of(name)
        if bound is None:
            raise Unknown
        value, _ = self.read(bound.value, bound.placed, pointer, depth + 1)
        if bound.shared and isinstance(value, dict | list):
            raise Unknown
        return value, hidden(value)


def hidden(value: JSONValue) -> Node | None:
    """The node of an object or list whose members are written elsewhere."""
    if not isinstance(value, dict | list):
        return None
    node = Node("object" if isinstance(value, dict) else "array", 0, value)
    node.members = []
    return node
