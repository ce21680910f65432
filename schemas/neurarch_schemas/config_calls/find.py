"""The configs that a Python text constructs."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from neurarch_schemas.analysis import Analysis
from neurarch_schemas.catalogue.load import config_type
from neurarch_schemas.config.read import read_config
from neurarch_schemas.config_calls import damaged
from neurarch_schemas.config_calls.bindings import Bindings
from neurarch_schemas.config_calls.changes import Fate, Mentions, fate
from neurarch_schemas.config_calls.document import PythonConfigDocument
from neurarch_schemas.config_calls.names import Names, imported_names
from neurarch_schemas.config_calls.reader import Reader
from neurarch_schemas.config_calls.values import Unknown
from neurarch_schemas.config_calls.writes import last_name
from neurarch_schemas.documents.pointer import join_pointer, parent_pointer, split_pointer
from neurarch_schemas.documents.python_units import split
from neurarch_schemas.elsewhere import Elsewhere, here
from neurarch_schemas.record import Record
from neurarch_schemas.surroundings.folder import Folder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from neurarch_schemas.documents.document import Span
    from neurarch_schemas.documents.json_value import JSONValue
    from neurarch_schemas.documents.nodes import Node
    from neurarch_schemas.documents.python_units import Placed

_WORDS = ("Config(", "for_model", "from_dict")
WITHOUT_SIZE = frozenset(
    ("pad_token_id", "bos_token_id", "eos_token_id", "attn_implementation", "_attn_implementation", "use_cache")
)
"""Keys that change no tensor."""
FACTORIES = ("for_model", "from_dict")
"""Class methods that make a config of what they are given."""
EXPECTING_FAILURE = frozenset(("raises", "assertRaises", "assertRaisesRegex", "RaisesGroup", "suppress"))
"""Functions of pytest, unittest, absl and contextlib that want an exception of what they wrap, or pass over it."""
OTHER_ERRORS = frozenset(
    ("ImportError", "ModuleNotFoundError", "OSError", "IOError", "FileNotFoundError", "KeyboardInterrupt", "HTTPError")
)
"""Exceptions that no value of a config raises."""


class ConfigCall(Record):
    """A config in Python code; ``analysis`` is that of the config.json it stands for, with places in the code.

    ``unknown``: pointers of keys whose value depends on what runs. ``open_ended``: pointers of objects that may have
    keys beside those seen (``**kwargs``, positional arguments).
    """

    document: PythonConfigDocument
    span: Span
    unknown: tuple[str, ...]
    open_ended: tuple[str, ...]
    is_damaged: bool = False
    """The statement cannot be parsed right now: what can be read of it is here."""
    is_to_fail: bool = False
    """A test says that what is built here is refused: ``with pytest.raises(ValueError):``."""
    interpreting: Elsewhere = staticmethod(here)

    @cached_property
    def analysis(self) -> Analysis:
        config = read_config(self.document.data)
        return Analysis(self.document, "config", Folder(), config, self.uncertain, self.interpreting)

    @property
    def uncertain(self) -> str | None:
        """Why numbers of this config may not be those of the program."""
        if self.is_damaged:
            return "the code cannot be parsed right now"
        sizes = [pointer for pointer in self.unknown if split_pointer(pointer)[-1] not in WITHOUT_SIZE]
        if sizes:
            return f"{'.'.join(split_pointer(sizes[0]))} is known only when the code runs"
        return "further arguments are known only when the code runs" if self.open_ended else None

    def covers(self, offset: int) -> bool:
        """Whether a place belongs to this config."""
        name, changed = self.document.name_span, self.document.changed.values()
        spans = (self.span, name, *(span for spans in changed for span in spans))
        return any(start <= offset <= end for start, end in spans)


def config_calls(text: str, uri: str, units: tuple[Placed, ...]) -> tuple[ConfigCall, ...]:
    """In the order of the text. Never raises on user input."""
    if not _may_construct(text):
        return ()
    return tuple(sorted(_found(text, uri, units), key=lambda call: call.span))


def _may_construct(text: str) -> bool:
    return any(word in text for word in _WORDS)


def _found(text: str, uri: str, units: tuple[Placed, ...]) -> Iterator[ConfigCall]:
    readable = text.replace("\r\n", " \n").replace("\r", "\n").replace("\f", " ") if "\r" in text else text
    broken = list(_gaps(readable, units))
    own = frozenset(node.name for placed in units for node in placed.unit.body if isinstance(node, ast.ClassDef))
    names = Names(imported_names(units), own, lambda: Bindings(units, [piece for _, piece in broken]))
    mentions = Mentions(units)
    for placed in units:
        if _may_construct(placed.unit.text):
            for call in _outermost(placed, names):
                found = _Found(text, uri, names, placed, call, mentions).read()
                if found is not None:
                    yield found
    for start, piece in broken:
        if _may_construct(piece):
            yield from _damaged(text, readable, uri, (start, start + len(piece)), names)


def _gaps(text: str, units: tuple[Placed, ...]) -> Iterator[tuple[int, str]]:
    """The statements that could not be parsed: what lies between the others."""
    at = 0
    for placed in (*units, None):
        start = len(text) if placed is None else placed.start
        if start > at and not text[at:start].isspace():
            yield from ((at + begin, piece) for begin, piece in split(text[at:start]))
        at = start if placed is None else start + len(placed.unit.text)


def _damaged(text: str, readable: str, uri: str, span: Span, names: Names) -> Iterator[ConfigCall]:
    for opened, callee in damaged.calls(readable, *span, names):
        reader = Reader(names)
        model_type = names.model_type(callee)
        positional = () if model_type else ("model_type",)
        node = damaged.read(readable, opened, callee, reader, names, positional=positional)
        if isinstance(node.data, dict) and isinstance(node.data.get("model_type"), str):
            document = PythonConfigDocument(
                uri, text, opened.start, node, (opened.start, opened.opening), {}, reader.elsewhere
            )
            yield ConfigCall(
                document, (opened.start, opened.end), tuple(reader.unknown), tuple(reader.open_ended), is_damaged=True
            )


def _outermost(placed: Placed, names: Names) -> Iterator[ast.Call]:
    """The config calls of a statement that are no argument of another one."""
    parents = placed.unit.parents
    found = {
        call
        for name, calls in placed.unit.calls.items()
        if name.endswith("Config") or name in FACTORIES
        for call in calls
        if _is_config(call, names)
    }
    for call in found:
        above = parents[call]
        while above not in found and parents[above] is not above:
            above = parents[above]
        if above not in found:
            yield call


def _is_to_fail(node: ast.AST, parents: Mapping[ast.AST, ast.AST]) -> bool:
    """An exception of the node is wanted, or passed over: ``with pytest.raises(...)``, ``try`` ... ``except``."""
    if isinstance(node, ast.With | ast.AsyncWith) and any(_wants_failure(item.context_expr) for item in node.items):
        return True
    while (above := parents[node]) is not node and not isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef):
        around = [item.context_expr for item in above.items] if isinstance(above, ast.With | ast.AsyncWith) else [above]
        if any(_wants_failure(each) for each in around):
            return True
        if isinstance(above, ast.Try) and node in above.body and any(map(_passes_over, above.handlers)):
            return True
        node = above
    return False


def _wants_failure(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and last_name(node.func) in EXPECTING_FAILURE


def _passes_over(handler: ast.ExceptHandler) -> bool:
    """Catches what a config or model refuses with, and goes on."""
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    names = {"Exception" if kind is None else last_name(kind) for kind in kinds}
    if names <= OTHER_ERRORS:
        return False
    return not any(
        isinstance(node, ast.Raise)
        or (isinstance(node, ast.Call) and last_name(node.func) in ("exit", "fail", "_exit"))
        for node in ast.walk(handler)
    )


def _is_config(call: ast.Call, names: Names) -> bool:
    if isinstance(call.func, ast.Attribute) and call.func.attr == "from_dict":
        return names.model_type(call.func.value) is not None
    return damaged.is_config(call.func, names)


class _Found:
    """One call that makes a config."""

    def __init__(self, text: str, uri: str, names: Names, placed: Placed, call: ast.Call, mentions: Mentions) -> None:
        self._text, self._uri, self._names = text, uri, names
        self._placed, self._call, self._mentions = placed, call, mentions
        self._reader = Reader(names)

    def read(self) -> ConfigCall | None:
        """None where even the model type is not certain."""
        call, placed, reader = self._call, self._placed, self._reader
        factory = call.func.attr if isinstance(call.func, ast.Attribute) and call.func.attr in FACTORIES else None
        if factory == "for_model":
            node = reader.object(call, placed, "", positional=("model_type",))
            model_type = node.data.get("model_type") if isinstance(node.data, dict) else None
            return self._made(node, placed.span(call), model_type)
        named = call.func.value if factory and isinstance(call.func, ast.Attribute) else call.func
        model_type = self._names.model_type(named)
        if factory == "from_dict" or (not call.args and [keyword.arg for keyword in call.keywords] == [None]):
            given = call.args[:1] or [keyword.value for keyword in call.keywords[:1]]
            inner = self._dict(given[0]) if given else None
            if inner is not None:
                node = reader.object(inner[0], inner[1], "")
                if factory and (call.keywords or len(call.args) > 1):
                    reader.open_ended[""] = placed.span(call)
                return self._made(node, inner[1].span(inner[0]), model_type)
            if factory:
                return None
        return self._made(reader.object(call, placed, ""), placed.span(call), model_type)

    def _dict(self, node: ast.expr) -> tuple[ast.Dict | ast.Call, Placed] | None:
        """The dict that an expression surely is, with its place."""
        placed = self._placed
        if isinstance(node, ast.Name):
            bound = self._names.bindings.of(node.id)
            if bound is None or bound.shared:
                return None
            node, placed = bound.value, bound.placed
        if isinstance(node, ast.Dict):
            return node, placed
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict" and not node.args:
            return node, placed
        return None

    def _made(self, node: Node, span: Span, model_type: object) -> ConfigCall | None:
        if not isinstance(model_type, str) or not isinstance(node.data, dict):
            return None
        node.data = {"model_type": model_type, **node.data}
        found = fate(self._call, self._placed, self._mentions)
        changed = self._changed(node.data, found)
        document = PythonConfigDocument(
            self._uri, self._text, span[0], node, self._placed.span(self._call.func), changed, self._reader.elsewhere
        )
        return ConfigCall(
            document,
            span,
            tuple(self._reader.unknown),
            tuple(self._reader.open_ended),
            is_to_fail=any(
                _is_to_fail(where, placed.unit.parents)
                for placed, where in ((self._placed, self._call), *([found.use] if found.use else []))
            ),
        )

    def _changed(self, data: dict[str, JSONValue], fate: Fate) -> dict[str, tuple[Span, Span]]:
        """What later statements set, written into ``data``."""
        found: dict[str, tuple[Span, Span]] = {}
        for change in fate.changes:
            key = change.placed.span(change.target)
            if not change.pointer:
                for name in [name for name in data if name != "model_type"]:
                    del data[name]
                    self._reader.unknown[join_pointer("", name)] = key
                continue
            attribute = split_pointer(change.pointer)[-1]
            if isinstance(change.target, ast.Attribute):
                key = key[1] - len(attribute), key[1]
            holder: JSONValue = data
            for name in split_pointer(parent_pointer(change.pointer)):
                holder = holder.get(name) if isinstance(holder, dict) else None
            if not isinstance(holder, dict):
                continue
            record = config_type(str(holder.get("model_type")))
            for other in [key for key in holder if record and record.canonical(key) == record.canonical(attribute)]:
                del holder[other]
            self._reader.unknown.pop(change.pointer, None)
            try:
                if change.value is None:
                    raise Unknown
                value, _ = self._reader.read(change.value, change.placed, change.pointer)
            except Unknown:
                holder.pop(attribute, None)
                self._reader.unknown[change.pointer] = key
                continue
            holder[attribute] = value
            found[change.pointer] = key, change.placed.span(change.value)
        return found
