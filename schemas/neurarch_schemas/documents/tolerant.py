"""Texts that are not sound JSON, or hold what must be reported: comments, equal keys, damage of any kind."""

from __future__ import annotations

import re

from neurarch_schemas.documents import layout
from neurarch_schemas.documents.frames import Frame
from neurarch_schemas.documents.nodes import Member, Node, RawProblem
from neurarch_schemas.documents.parser import Parser
from neurarch_schemas.documents.repairs import Value
from neurarch_schemas.documents.reporting import LARGE, Exhausted, Unbalanced, line_end_of

_LFS = re.compile(r"version https://git-lfs\.github\.com/spec/")
_NEAR = 300
"""Code points in which the first bracket or key is looked for, where a file does not begin with one."""


def read_tolerantly(text: str, comments_allowed: bool) -> Node:
    """A list whose only member is the document's value, with the problems found; nothing raises."""
    try:
        try:
            # Reading a large text by its brackets to find that they do not match takes longer than to count them.
            balance = layout.sure_balance(text) if len(text) > LARGE else 0
            if balance:
                return _read(text, comments_allowed, by_layout=True, balance=balance)
            return _read(text, comments_allowed, by_layout=False)
        except Unbalanced:
            return _read(text, comments_allowed, by_layout=True)
    except RecursionError:
        return _only_problem(text, "nested too deeply to be read")


def _read(text: str, comments_allowed: bool, by_layout: bool, balance: int | None = None) -> Node:
    what = _other_kind(text)
    if what is not None:
        return _only_problem(text, what)
    parser = Parser(text, comments_allowed, by_layout, balance)
    frame = Frame("array", 0)
    parser.frames.append(frame)
    try:
        return _document(parser, frame)
    except Exhausted as stop:
        if not by_layout:
            raise Unbalanced from None
        if not parser.stopped:
            parser.not_read(frame, stop.at)
        return frame.node(len(text))


def _document(parser: Parser, frame: Frame) -> Node:
    text = parser.text
    at = 0
    if text.startswith("\ufeff"):
        parser.report("json-bom", "the file begins with a byte order mark, which JSON does not allow", 0, 1, "")
        at = 1
    at = parser.skip(at)
    if at == len(text):
        parser.report("json-syntax", "the file is empty", 0, 0)
        return frame.node(len(text))
    found = _root(parser, at)
    if found is None:
        first = text[at : line_end_of(text, at)].split(maxsplit=1)[0][:40]
        return _only_problem(text, f"this is not JSON: it begins with {first!r}")
    parser.owner = None
    if found.readable:
        frame.add(Member(None, 0, 0, found.end - found.start, found.value, found.node), found.start)
    rest = parser.skip(found.end)
    if rest < len(text):
        parser.structural("there is text behind the end of the JSON value", rest, line_end_of(text, rest))
    root = frame.node(len(text))
    node = found.node
    if node is not None and not node.data and len(node.problems) > 3 and '"' not in text:
        return _only_problem(text, "this is not JSON, though it begins with a bracket")
    return root


def _root(parser: Parser, at: int) -> Value | None:
    """The document's value; None where there is none."""
    text = parser.text
    character = text[at]
    if not parser.by_layout:
        if character not in '{["' and not (character.isalnum() or character == "-"):
            raise Unbalanced
        return parser.value(at)
    if character in "{[":
        inner = layout.skip_trivia(text, at + 1)
        doubled = text[inner : inner + 1] in ("{", "[") if character == "{" else text[inner : inner + 1] == "{"
        doubled = doubled and "\n" not in text[at:inner]
        if doubled and (character == "{" or text.rstrip().endswith("}")) and parser.balance > 0:
            parser.structural(f"this {character} opens nothing", at, at + 1)
            return parser.value(inner)
        return parser.value(at)
    key = layout.KEY_AHEAD.search(text, at, at + _NEAR)
    opener = min(
        (found for found in (text.find("{", at, at + _NEAR), text.find("[", at, at + _NEAR)) if found >= 0), default=-1
    )
    if key is not None and not 0 <= opener < key.start():
        parser.structural("{ is missing at the beginning", key.start(), key.start() + 1)
        one_line = "\n" not in text[key.start() :].rstrip()
        return parser.virtual("object", key.start(), -1 if one_line else layout.own_line_column(text, key.start()), 0)
    if opener >= 0 and "\n" not in text[at:opener] and "\r" not in text[at:opener]:
        parser.structural(f"there is text before the {text[opener]}", at, opener)
        return parser.value(opener)
    return None


def _other_kind(text: str) -> str | None:
    """What a file is that is no attempt at JSON, as found in place of a configuration."""
    head = text[:200].lstrip("\ufeff \t\r\n")
    if head.startswith("<") and not head.startswith("<<<<<<<"):
        return "this is a web page (HTML or XML), not JSON: a download that failed?"
    if _LFS.match(head):
        return "this is a Git LFS pointer, not the file itself: run `git lfs pull`"
    if head.startswith("PK\x03\x04") or "\x00" in head:
        return "this is a binary file, not JSON"
    return None


def _only_problem(text: str, message: str) -> Node:
    """A document without a value; its one problem stands on its first line that holds anything."""
    root = Node("array", len(text), [])
    root.members = []
    start = len(text) - len(text.lstrip("\ufeff \t\r\n"))
    root.problems = (RawProblem("json-syntax", message, start, line_end_of(text, start)),)
    return root
