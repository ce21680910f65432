"""What a part of a Python file depends on, so that an edit elsewhere costs it nothing.

A top-level statement reaches the statements whose names it mentions, at any distance. What was found silent stays
silent until something it reaches changes; what had something to say is computed anew, where it now stands.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import cached_property, lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from neurarch_schemas.documents.python_nodes import nodes_of, stored

if TYPE_CHECKING:
    from neurarch_rules.engine.finding import Finding
    from neurarch_rules.facts.python_file import ClassFacts, PythonFile
    from neurarch_schemas.documents.python_units import Placed

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
Check = Callable[..., Iterable[Any]]
KEPT = 16_384
"""Answers kept: those of all rules about some large files. One is a digest, no part of a text."""


class Reach:
    """Of each top-level statement of a file."""

    def __init__(self, units: tuple[Placed, ...], imports: dict[str, str]) -> None:
        self.units = units
        self.imports = imports
        self._numbers = {placed.start: number for number, placed in enumerate(self.units)}
        self._found: dict[int, frozenset[int]] = {}
        self._mentioning: dict[tuple[str, ...], frozenset[int]] = {}
        self._digests: dict[tuple[int, ...], bytes] = {}

    def of(self, *parts: Placed) -> bytes:
        """Equal for statements that are alike and reach alike ones."""
        starts = tuple(placed.start for placed in parts)
        if starts not in self._digests:
            self._digests[starts] = self._digest(parts)
        return self._digests[starts]

    def _digest(self, parts: tuple[Placed, ...]) -> bytes:
        numbers: set[int] = set()
        for placed in parts:
            numbers |= self._reached(self._numbers[placed.start])
        digest = self._common.copy()
        for number in sorted(numbers):
            digest.update(self.units[number].unit.digest)
        return digest.digest()

    @cached_property
    def main(self) -> tuple[Placed, ...]:
        """The statements that do something when the file is run, beyond defining and importing."""
        return tuple(self.units[number] for number in sorted(self._main))

    def reads_variables(self, placed: Placed) -> bool:
        """Reaches a statement that runs at module level."""
        return any(number in self._main for number in self._reached(self._numbers[placed.start]))

    def mentions(self, words: tuple[str, ...], *parts: Placed) -> bool:
        """Whether one of the words stands in what the parts reach, or an import may have renamed what it means."""
        if words not in self._mentioning:
            everywhere = any(word in name for word in words for name in self.imports.values())
            self._mentioning[words] = frozenset(
                number
                for number, placed in enumerate(self.units)
                if everywhere or any(word in placed.unit.text for word in words)
            )
        mentioning = self._mentioning[words]
        return any(not mentioning.isdisjoint(self._reached(self._numbers[placed.start])) for placed in parts)

    @cached_property
    def _common(self) -> blake2b:
        """What anything may depend on: the imports, and options of the command line, which are known by name alone."""
        digest = blake2b(repr(sorted(self.imports.items())).encode("utf-8", "surrogatepass"), digest_size=16)
        for placed in self.units:
            if "add_argument" in placed.unit.words:
                digest.update(placed.unit.digest)
        return digest

    @cached_property
    def _definitions(self) -> dict[str, list[int]]:
        """Classes and functions by name."""
        found: dict[str, list[int]] = {}
        for number, placed in enumerate(self.units):
            for node in placed.unit.body:
                if isinstance(node, DEFINITIONS):
                    found.setdefault(node.name, []).append(number)
        return found

    @cached_property
    def _main(self) -> frozenset[int]:
        plain = (*DEFINITIONS, ast.Import, ast.ImportFrom)
        return frozenset(
            number
            for number, placed in enumerate(self.units)
            if any(not isinstance(node, plain) and not _is_text(node) for node in placed.unit.body)
        )

    @cached_property
    def _set(self) -> frozenset[str]:
        """The names that statements at module level give a value."""
        return frozenset(
            node.id
            for number in self._main
            for statement in self.units[number].unit.body
            for node in nodes_of(statement, ast.Name)
            if not isinstance(node.ctx, ast.Load)
        )

    @cached_property
    def _variables(self) -> dict[str, list[int]]:
        """The statements at module level that set or read such a name, and all others that may change what it holds."""
        found: dict[str, list[int]] = {}
        for number, placed in enumerate(self.units):
            if placed.unit.words.isdisjoint(self._set):
                continue
            if number in self._main:
                names = placed.unit.names
            else:
                names = frozenset(name for statement in placed.unit.body for name in stored(statement))
            for name in names & self._set:
                found.setdefault(name, []).append(number)
        return found

    def _reached(self, start: int) -> frozenset[int]:
        known = self._found.get(start)
        if known is not None:
            return known
        seen = {start}
        waiting = [start]
        while waiting:
            for number in self._next(waiting.pop()):
                if number not in seen:
                    seen.add(number)
                    waiting.append(number)
        found = self._found[start] = frozenset(seen)
        return found

    def _next(self, number: int) -> Iterator[int]:
        unit = self.units[number].unit
        for name in unit.words & self._defined:
            yield from self._definitions[name]
        if not unit.words.isdisjoint(self._set):
            for name in unit.names & self._set:
                yield from self._variables[name]

    @cached_property
    def _defined(self) -> frozenset[str]:
        return frozenset(self._definitions)


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def of_classes(classes: Iterable[ClassFacts], check: Callable[[ClassFacts], Iterable[Finding]]) -> Iterator[Finding]:
    """The findings of each class, by a check that reads nothing beyond what the class reaches."""
    for found in classes:
        yield from answer((check, found.name, found.file.reach.of(found.placed)), check, found)


def of_units(file: PythonFile, check: Callable[[PythonFile, Placed], Iterable[Finding]]) -> Iterator[Finding]:
    """As ``of_classes`` for each top-level statement."""
    for placed in file.units:
        yield from answer((check, file.reach.of(placed)), check, file, placed)


def answer(key: Hashable, check: Check, *given: Any) -> Iterable[Any]:
    """What a check gives; nothing at once where it gave nothing for an equal ``key`` before."""
    question = _Question(key, check, given)
    if _is_silent(question):
        question.forget()
        return ()
    found = question.forget()
    return check(*given) if found is None else found


def is_silent(key: Hashable, check: Check, *given: Any) -> bool:
    """Whether a check gives nothing, asked once for equal keys."""
    question = _Question(key, check, given)
    silent = _is_silent(question)
    question.forget()
    return silent


class _Question:
    """Equal by its key; what else it holds is let go of once it is answered."""

    __slots__ = ("_found", "_given", "_hash", "_key")

    def __init__(self, key: Hashable, check: Check, given: tuple[Any, ...]) -> None:
        self._key = key
        self._hash = hash(key)
        self._given: tuple[Check, tuple[Any, ...]] | None = (check, given)
        self._found: list[Any] | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Question) and self._key == other._key

    def __hash__(self) -> int:
        return self._hash

    def ask(self) -> bool:
        assert self._given is not None
        check, given = self._given
        self._found = list(check(*given))
        return bool(self._found)

    def forget(self) -> list[Any] | None:
        found, self._found, self._given = self._found, None, None
        return found


@lru_cache(maxsize=KEPT)
def _is_silent(question: _Question) -> bool:
    return not question.ask()


__all__ = ["Reach", "answer", "is_silent", "of_classes", "of_units"]
