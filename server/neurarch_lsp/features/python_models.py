"""The module classes of a Python text with what their constructors build, interpreted once a text and kept."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from neurarch_schemas.documents.document import Span
    from neurarch_schemas.interpreter import SourceCache
    from neurarch_schemas.modules.tree import Module, Stack

KEPT = 24
"""Files whose last readable state is remembered."""
SECONDS = 4.0
"""Wall time for all classes of one file; those that come later are labelled."""
_CLASS = re.compile(r"^class[ \t]+(\w+)", re.MULTILINE)
_ASSIGNED = re.compile(r"^[ \t]+self\.(\w+)[ \t]*(?::[^=\n]+)?=(?!=)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ClassModel:
    """``tree`` is what ``construction`` builds; without one ``reason`` says why. ``name_span`` is in the text given."""

    name: str
    name_span: Span
    construction: str | None
    tree: Module | None
    exact: bool
    reason: str | None
    broken: bool = False
    """The text cannot be parsed right now: this is what its last readable state built."""
    incomplete: bool = False
    """Something has no known shape: the count is a lower bound."""

    @property
    def about(self) -> str:
        """What stands before a count that is not exact."""
        return "" if self.exact else "at least " if self.incomplete else "about "


class Reading(NamedTuple):
    """``sound``: the text can be parsed."""

    sound: bool
    classes: tuple[ClassModel, ...]


Interpret = Callable[[str, str, Sequence[str], bool], Reading]
"""As ``read``, without its cache."""


class PythonModels:
    """Results by file and text; used on one thread.

    While a text cannot be parsed, what its last readable state built is shown at the classes' present places; where
    there was none, what can be read of it is interpreted and never called exact.
    """

    def __init__(self, interpret: Interpret) -> None:
        self._known: dict[str, tuple[str, Reading]] = {}
        self._interpret = interpret

    def of(
        self, path: str, text: str, search_paths: Sequence[str], wanted: Callable[[], bool] = lambda: True
    ) -> tuple[ClassModel, ...]:
        """The classes in the order of the text. Never raises on user input.

        ``wanted`` is asked when the turn comes: a text that has been edited meanwhile is not interpreted any more, and
        the last readable state is given.
        """
        known = self._known.get(path)
        if known is not None and known[0] == text:
            return known[1].classes
        if not wanted():
            return _moved(known[1].classes, text) if known is not None else ()
        last = known[1].classes if known is not None and known[1].sound else None
        found = self._interpret(path, text, search_paths, last is not None)
        if last is not None and not found.sound:
            return _moved(last, text)
        if len(self._known) >= KEPT and path not in self._known:
            self._known.pop(next(iter(self._known)))
        self._known[path] = (text, found)
        return found.classes


def read(path: str, text: str, search_paths: Sequence[str], only_sound: bool, cache: SourceCache) -> Reading:
    """What the constructor of each module class builds; ``cache`` holds the files read on the way. With ``only_sound``
    a text that cannot be parsed is not interpreted."""
    sound = _parses(text, cache)
    if only_sound and not sound:
        return Reading(False, ())
    return Reading(sound, tuple(_classes(path, text, search_paths, cache)))


def _classes(path: str, text: str, search_paths: Sequence[str], cache: SourceCache) -> Iterator[ClassModel]:
    from neurarch_schemas.interpreter import HOSTILE, interpret_file

    places = _class_spans(text)
    for each, result in interpret_file(path, search_paths, HOSTILE, seconds=SECONDS, cache=cache, text=text):
        span = places.get(each.name)
        if span is None:
            continue
        if result is None:
            yield ClassModel(each.name, span, None, None, False, each.reason)
        else:
            yield ClassModel(
                each.name,
                span,
                each.construction,
                result.tree,
                result.exact and not result.lazy,
                result.reason,
                incomplete=result.incomplete,
            )


def _class_spans(text: str) -> dict[str, Span]:
    return {match[1]: match.span(1) for match in _CLASS.finditer(text)}


def _parses(text: str, cache: SourceCache) -> bool:
    try:
        cache.tree(text)
    except SyntaxError:
        return False
    return True


def _moved(models: tuple[ClassModel, ...], text: str) -> tuple[ClassModel, ...]:
    places = _class_spans(text)
    return tuple(replace(model, name_span=places[model.name], broken=True) for model in models if model.name in places)


@dataclass(frozen=True, slots=True)
class Submodule:
    """``self.NAME = ...`` in a class: ``part`` is what is registered there in one instance of the class, of which the
    ``owner``'s model holds ``times``."""

    owner: ClassModel
    attribute: str
    span: Span
    part: Module | Stack
    times: int


def class_at(models: Sequence[ClassModel], offset: int) -> ClassModel | None:
    """The class whose name is at ``offset``."""
    return next((model for model in models if model.name_span[0] <= offset <= model.name_span[1]), None)


def enclosing_class(text: str, offset: int) -> str | None:
    """The name of the top-level class around ``offset``."""
    found: str | None = None
    for match in re.finditer(r"^(?:class[ \t]+(\w+)|(?=[^\s#)\]}]))", text, re.MULTILINE):
        if match.start() > offset:
            break
        found = match[1]
    return found


def attribute_at(text: str, offset: int) -> tuple[str, Span] | None:
    """The attribute that the line at ``offset`` assigns, where the cursor is on ``self.NAME``."""
    start = text.rfind("\n", 0, offset) + 1
    match = _ASSIGNED.match(text, start)
    if match is None or not match.start() <= offset <= match.end(1):
        return None
    return match[1], match.span(1)


def submodule_at(models: Sequence[ClassModel], text: str, offset: int) -> Submodule | None:
    """What the assignment at ``offset`` registers: in the class's own model, else in one that holds the class."""
    assigned, inside = attribute_at(text, offset), enclosing_class(text, offset)
    if assigned is None or inside is None:
        return None
    attribute, span = assigned
    own = [model for model in models if model.name == inside]
    for model in (*own, *(model for model in models if model.name != inside)):
        for module, times in () if model.tree is None else _instances(model.tree, inside):
            part = next((child for name, child in module.children if name == attribute), None)
            if part is not None:
                return Submodule(model, attribute, span, part, times)
    return None


def _instances(tree: Module, type_name: str) -> Iterator[tuple[Module, int]]:
    """Modules of a type in a tree, with how often each stands there."""
    from neurarch_schemas.modules.tree import walk

    for visit in walk(tree):
        if visit.module.type == type_name:
            yield visit.module, visit.times
