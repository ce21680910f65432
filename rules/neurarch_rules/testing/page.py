"""Rule pages: Markdown whose fenced blocks are files.

Blocks under one heading form examples: a block without a title starts an example and is its ``config.json`` (a
``python`` block: its ``model.py``); blocks
with ``title="name"`` that follow lie beside it. Titled blocks alone form one example as well. A ``toml`` block holds
the settings of the examples under its heading, a ``json fixed`` block what the file before it must become by its fix.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

FENCE = re.compile(r"^(`{3,})(\w*)\s*(.*)$")
HEADING = re.compile(r"^(#{1,6})\s+(.*\S)\s*$")
TITLE = re.compile(r'title="([^"]+)"')
UNTITLED = {"json": "config.json", "python": "model.py"}
"""The name of a block without a title, by its language."""


@dataclass(frozen=True, slots=True)
class Block:
    """``line`` is where the block's text starts, 1-based."""

    name: str
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Heading:
    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Fence:
    language: str
    info: str
    block: Block


@dataclass
class Example:
    section: str
    line: int
    files: list[Block] = field(default_factory=list)
    settings: str | None = None
    fixed: str | None = None


@dataclass(frozen=True, slots=True)
class Page:
    title: str
    sections: tuple[str, ...]
    """Names of the second-level headings, e.g. "Bad"."""
    examples: tuple[Example, ...]


def parse(text: str) -> Page:
    title = ""
    sections: list[str] = []
    examples: list[Example] = []
    group: list[Example] = []
    settings: str | None = None

    for item in _items(text):
        if isinstance(item, Heading):
            level, name = item.level, item.text
            group, settings = [], None
            if level == 1:
                title = name
            elif level == 2:
                sections.append(name)
            continue
        language, info, block = item.language, item.info, item.block
        section = sections[-1] if sections else ""
        if language == "toml" and not TITLE.search(info):
            settings = block.text
            for example in group:
                example.settings = settings
        elif "fixed" in info.split():
            if not group:
                raise ValueError(f"line {block.line}: a fixed block needs a file before it")
            group[-1].fixed = block.text
        elif TITLE.search(info) or language in UNTITLED:
            if not group or not TITLE.search(info):
                group.append(Example(section, block.line, settings=settings))
                examples.append(group[-1])
            group[-1].files.append(block)
    return Page(title, tuple(sections), tuple(examples))


def _items(text: str) -> Iterator[Heading | Fence]:
    lines = text.split("\n")
    index = 0
    while index < len(lines):
        line = lines[index]
        fence = FENCE.match(line)
        heading = HEADING.match(line)
        if fence:
            end = index + 1
            while end < len(lines) and lines[end].rstrip() != fence[1]:
                end += 1
            body = "".join(line + "\n" for line in lines[index + 1 : end])
            named = TITLE.search(fence[3])
            name = named[1] if named else UNTITLED.get(fence[2], "config.json")
            yield Fence(fence[2], fence[3], Block(name, body, index + 2))
            index = end
        elif heading:
            yield Heading(len(heading[1]), heading[2])
        index += 1
