"""Fields of config classes in Python code: where they are defined, read and given.

Works on tokens, so that text that is being typed, and files that are not open, cost little.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from neurarch_schemas.config_calls.damaged import TOKEN, opened

if TYPE_CHECKING:
    from neurarch_schemas.documents.document import Span

_CLASS = re.compile(r"^class[ \t]+(\w+)[^\n]*:[^\n]*\n((?:[ \t]+[^\n]*\n|[ \t]*\n|[ \t]*#[^\n]*\n)*)", re.MULTILINE)
_CONFIG_CLASS = re.compile(r"Config|Configuration|Args|Arguments|Hparams|HParams")
_ATTRIBUTE = re.compile(r"^([ \t]+)(\w+)[ \t]*(?::[^=\n]*(?:=|$)|=(?!=))", re.MULTILINE)
_ASSIGNED = re.compile(r"^[ \t]+self\.(\w+)[ \t]*(?::[^=\n]*)?=(?!=)", re.MULTILINE)
_INIT = re.compile(r"^[ \t]+def[ \t]+__init__[ \t]*(\()", re.MULTILINE)
_ANNOTATED = re.compile(r"\b(\w+)[ \t]*:[ \t]*[\"']?(?:[\w.]+\.)?(\w+)")
_GETATTR = re.compile(r"\b(?:getattr|hasattr)\([ \t]*([\w.]+)[ \t]*,[ \t]*[\"'](\w+)[\"']")
RECEIVERS = frozenset(("config", "cfg", "conf"))
"""Names that hold a config whatever they are annotated with; so does what ends in ``_config``."""


@dataclass(frozen=True, slots=True)
class ConfigClass:
    """``fields``: names with the places that define them: class attribute, parameter, ``self.NAME = ...``."""

    name: str
    fields: tuple[tuple[str, Span], ...]

    def defines(self, name: str) -> bool:
        return any(field == name for field, _ in self.fields)


def config_classes(text: str) -> Iterator[ConfigClass]:
    """The classes named like a config or derived from one."""
    for match in _CLASS.finditer(text + "\n"):
        header = text[match.start() : match.start(2)]
        if _CONFIG_CLASS.search(header) is not None:
            yield ConfigClass(match[1], tuple(sorted(_fields(text, match.span(2)), key=lambda field: field[1])))


def _fields(text: str, body: Span) -> Iterator[tuple[str, Span]]:
    indent: str | None = None
    for match in _ATTRIBUTE.finditer(text, *body):
        indent = match[1] if indent is None else indent
        if match[1] == indent and match[2] not in ("def", "class", "if", "else", "try", "return", "with", "for"):
            yield match[2], match.span(2)
    for match in _ASSIGNED.finditer(text, *body):
        yield match[1], match.span(1)
    for match in _INIT.finditer(text, *body):
        for start, end in opened(text, match.start(), match.start(1), body[1]).segments:
            name = re.compile(r"\s*(?:#[^\n]*\s*)*(\w+)").match(text, start, end)
            if name is not None and name[1] != "self":
                yield name[1], name.span(1)


def field_at(text: str, offset: int) -> tuple[str, str] | None:
    """Class and field that the place at ``offset`` defines."""
    for each in config_classes(text):
        for name, span in each.fields:
            if span[0] <= offset <= span[1]:
                return each.name, name
    return None


def given_at(text: str, offset: int) -> tuple[str, str, Span] | None:
    """Class, field and its span, for the keyword of a call of a class named like a config at ``offset``."""
    line = text.rfind("\n", 0, offset) + 1
    word = next((match for match in re.finditer(r"\w+", text[line:]) if line + match.end() >= offset), None)
    if word is None or line + word.start() > offset or not re.match(r"[ \t]*=(?!=)", text[line + word.end() :]):
        return None
    span = line + word.start(), line + word.end()
    for callee, inside in _calls(text):
        for start, name in inside:
            if start == span[0]:
                return callee, name, span
    return None


def uses(text: str, name: str, classes: Collection[str]) -> list[Span]:
    """Where the text reads, sets or gives a field of these classes: ``config.NAME``, ``getattr``, ``Config(NAME=``."""
    if name not in text:
        return []
    receivers = {match[1] for match in _ANNOTATED.finditer(text) if match[2] in classes} | RECEIVERS
    found = [
        span
        for owner, part, span in _attributes(text, 0, len(text))
        if part == name and _holds_config(owner, receivers)
    ]
    found += [
        match.span(2)
        for match in _GETATTR.finditer(text)
        if match[2] == name and _holds_config(match[1].rpartition(".")[2], receivers)
    ]
    for callee, inside in _calls(text):
        if callee in classes:
            found += [(start, start + len(name)) for start, keyword in inside if keyword == name]
    return sorted(set(found))


def is_config(text: str, name: str) -> bool:
    """Whether a name of this text holds a config, as far as its spelling or an annotation says."""
    known = {match[1] for match in _ANNOTATED.finditer(text) if _CONFIG_CLASS.search(match[2])} | RECEIVERS
    return _holds_config(name, known)


def annotated(text: str, offset: int, name: str = "config") -> set[str]:
    """The class that the nearest parameter of this name above is annotated with, or of which it is made."""
    declared = rf"\b{name}[ \t]*(?::[ \t]*[\"']?(\w+)|=[ \t]*(?:\w+\.)*?(\w+)(?:\.from_pretrained)?\()"
    found = [match[1] or match[2] for match in re.finditer(declared, text[:offset])]
    return set(found[-1:])


def used_at(text: str, offset: int) -> tuple[str, Span] | None:
    """The field that the code reads at ``offset``, whatever holds the config there."""
    line = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    known = {match[1] for match in _ANNOTATED.finditer(text) if _CONFIG_CLASS.search(match[2])} | RECEIVERS
    for owner, part, span in _attributes(text, line, len(text) if end < 0 else end):
        if span[0] <= offset <= span[1] and _holds_config(owner, known):
            return part, span
    return None


def _attributes(text: str, start: int, end: int) -> Iterator[tuple[str, str, Span]]:
    """Of "model.config.size" the attributes, each with the name before it and its own place."""
    for match in TOKEN.finditer(text, start, end):
        if match.lastgroup != "name":
            continue
        owner, *parts = match.group().split(".")
        at = match.start() + len(owner) + 1
        for part in parts:
            yield owner, part, (at, at + len(part))
            owner, at = part, at + len(part) + 1


def _holds_config(name: str, receivers: Collection[str]) -> bool:
    return name in receivers or name.endswith("_config")


def _calls(text: str) -> Iterator[tuple[str, list[tuple[int, str]]]]:
    """Calls of classes named like a config with the keywords they are given, each with its offset."""
    for match in TOKEN.finditer(text):
        if match.lastgroup != "name" or text[match.end() : match.end() + 1] != "(":
            continue
        callee = match.group().rpartition(".")[2]
        if _CONFIG_CLASS.search(callee) is None or text[max(match.start() - 8, 0) : match.start()].rstrip(
            " \t"
        ).endswith(("class", "def")):
            continue
        inside = []
        for start, end in opened(text, match.start(), match.end(), len(text)).segments:
            keyword = re.compile(r"\s*(?:#[^\n]*\s*)*(\w+)\s*=(?!=)").match(text, start, end)
            if keyword is not None:
                inside.append((keyword.start(1), keyword[1]))
        yield callee, inside
