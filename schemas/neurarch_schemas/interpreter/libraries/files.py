"""Files that lie on the search paths, as text: ``open``, ``glob``, and YAML as packages ship it."""

from __future__ import annotations

import os
from fnmatch import fnmatch
from typing import TYPE_CHECKING, Any

from neurarch_schemas.interpreter.libraries.library import module, nothing, unknown_data
from neurarch_schemas.interpreter.values import MISSING, Builtin, Class, Instance, PythonModule, Unknown, Value

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine

_MOST_FILES = 20_000


class TextFile:
    """An open file."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.splitlines(keepends=True)

    def interpreted_attr(self, machine: Machine, name: str) -> Value:
        match name:
            case "read":
                return Builtin(name, lambda machine, *args: self.text)
            case "readlines":
                return Builtin(name, lambda machine, *args: list(self.lines))
            case "__enter__":
                return Builtin(name, lambda machine: self)
            case "__exit__" | "close":
                return Builtin(name, lambda machine, *args: None)
        return MISSING

    def interpreted_iter(self, machine: Machine) -> Any:
        return iter(self.lines)


def open_file(machine: Machine, path: Value, mode: Value = "r", *args: Value, **kwargs: Value) -> Value:
    if type(path) is Unknown:
        return Unknown(path.reason, data=True)
    if isinstance(mode, str) and any(letter in mode for letter in "wax+"):
        return Unknown("a file being written", data=True)
    folder = machine.state.get("folder")
    if folder is not None and machine.call_depth == 0 and machine.importing == 0 and not os.path.isabs(str(path)):
        # written in the construction itself, whose place is the file's folder
        path = os.path.join(folder, str(path))
    found = machine.sources.readable(str(path))
    if found is None:
        machine.fail("FileNotFoundError", f"No such file on the search paths: {path}")
    return TextFile(found)


def find_files(machine: Machine, pattern: str) -> list[str]:
    """``glob`` with ``**``, below the search paths only."""
    first = next((index for index, part in enumerate(pattern.split("/")) if any(c in part for c in "*?[")), None)
    if first is None:
        return [pattern] if machine.sources.readable(pattern) is not None else []
    parts = pattern.split("/")
    root = "/".join(parts[:first])
    if not machine.sources.inside(root):
        return []
    found: list[str] = []
    rest = "/".join(parts[first:])
    recursive = "**" in rest
    name = rest.rpartition("/")[2]
    count = 0
    for folder, folders, files in os.walk(root):
        folders.sort()
        for file in sorted(files):
            count += 1
            if count > _MOST_FILES:
                return found
            path = os.path.join(folder, file)
            if fnmatch(file, name) and (recursive or fnmatch(path, pattern)):
                found.append(path)
        if not recursive and "/" not in rest:
            break
    return found


def build(machine: Machine, name: str) -> PythonModule:
    if name == "glob":

        def search(machine: Machine, pattern: Value, **options: Value) -> Value:
            return Unknown(pattern.reason, data=True) if type(pattern) is Unknown else find_files(machine, str(pattern))

        return module(name, {"glob": search, "iglob": search, "escape": lambda machine, text: text})
    loader = Class(machine, "SafeLoader", module="yaml")
    for method in ("add_constructor", "add_implicit_resolver", "add_representer"):
        loader.namespace[method] = Builtin(method, nothing)
    loader.namespace["yaml_implicit_resolvers"] = {}
    names = ("SafeLoader", "Loader", "FullLoader", "CSafeLoader", "BaseLoader", "CLoader", "UnsafeLoader")
    return module(
        name,
        {
            "safe_load": _load,
            "load": _load,
            "full_load": _load,
            "safe_dump": lambda machine, *args, **kwargs: Unknown("YAML text", data=True),
            "dump": lambda machine, *args, **kwargs: Unknown("YAML text", data=True),
            "YAMLError": machine.builtins["ValueError"],
            **dict.fromkeys(names, loader),
            **dict.fromkeys(("SafeDumper", "Dumper", "CSafeDumper"), loader),
        },
        unknown_data(name),
    )


def _load(machine: Machine, source: Value, *args: Value, **kwargs: Value) -> Value:
    if isinstance(source, TextFile):
        source = source.text
    if not isinstance(source, str):
        return Unknown("a YAML file", data=True)
    try:
        return parse_yaml(source)
    except (ValueError, IndexError):
        return Unknown("YAML that is not understood", data=True)


# A subset of YAML: nested mappings and lists by indentation, flow lists and mappings, plain and quoted scalars.


def parse_yaml(text: str) -> Any:
    """Raises ValueError on what is outside the subset (anchors, tags, block scalars)."""
    lines: list[tuple[int, str]] = []
    for raw in text.splitlines():
        line = _without_comment(raw).rstrip()
        if not line.strip() or line.strip() == "---":
            continue
        lines.append((len(line) - len(line.lstrip()), line.strip()))
    joined: list[tuple[int, str]] = []
    for indent, line in lines:
        if joined and _depth(joined[-1][1]) > 0:
            joined[-1] = (joined[-1][0], joined[-1][1] + " " + line)
        else:
            joined.append((indent, line))
    value, place = _block(joined, 0, joined[0][0] if joined else 0)
    if place != len(joined):
        raise ValueError("indentation")
    return value


def _without_comment(line: str) -> str:
    quote = ""
    for index, character in enumerate(line):
        if quote:
            if character == quote:
                quote = ""
        elif character in "'\"":
            quote = character
        elif character == "#" and (index == 0 or line[index - 1].isspace()):
            return line[:index]
    return line


def _depth(text: str) -> int:
    depth, quote = 0, ""
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character in "[{":
            depth += 1
        elif character in "]}":
            depth -= 1
    return depth


def _block(lines: list[tuple[int, str]], place: int, indent: int) -> tuple[Any, int]:
    if place >= len(lines):
        return None, place
    if lines[place][1] == "-" or lines[place][1].startswith("- "):
        items: list[Any] = []
        while place < len(lines) and lines[place][0] == indent and lines[place][1].startswith("-"):
            rest = lines[place][1][1:].strip()
            if not rest:
                value, place = _block(lines, place + 1, lines[place + 1][0])
            elif _key(rest) is not None and not rest.startswith(("[", "{", "'", '"')):
                inner = indent + len(lines[place][1]) - len(rest)
                lines[place] = (inner, rest)
                value, place = _block(lines, place, inner)
            else:
                value, place = scalar(rest), place + 1
            items.append(value)
        return items, place
    if _key(lines[place][1]) is None:
        return scalar(lines[place][1]), place + 1
    mapping: dict[Any, Any] = {}
    while place < len(lines) and lines[place][0] == indent:
        pair = _key(lines[place][1])
        if pair is None:
            raise ValueError("a mapping")
        key, rest = pair
        if rest:
            if rest[0] in "&*!|>":
                raise ValueError("outside the subset")
            mapping[scalar(key)] = scalar(rest)
            place += 1
        elif place + 1 < len(lines) and (
            lines[place + 1][0] > indent or (lines[place + 1][0] == indent and lines[place + 1][1].startswith("-"))
        ):
            mapping[scalar(key)], place = _block(lines, place + 1, lines[place + 1][0])
        else:
            mapping[scalar(key)] = None
            place += 1
    return mapping, place


def _key(text: str) -> tuple[str, str] | None:
    quote, depth = "", 0
    for index, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character in "[{":
            depth += 1
        elif character in "]}":
            depth -= 1
        elif character == ":" and depth == 0 and (index + 1 == len(text) or text[index + 1].isspace()):
            return text[:index].strip(), text[index + 1 :].strip()
    return None


def scalar(text: str) -> Any:
    text = text.strip()
    if text.startswith("[") and text.endswith("]"):
        return [scalar(part) for part in _parts(text[1:-1])]
    if text.startswith("{") and text.endswith("}"):
        pairs = [_key(part) or (part, "") for part in _parts(text[1:-1])]
        return {scalar(key): scalar(value) for key, value in pairs}
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    if text in ("", "~", "null", "Null", "NULL"):
        return None
    if text.lower() in ("true", "yes", "on"):
        return True
    if text.lower() in ("false", "no", "off"):
        return False
    for kind in (int, float):
        try:
            if kind is float and not any(character in text for character in ".") and "inf" not in text:
                break
            return kind(text)
        except ValueError:
            continue
    return text


def _parts(text: str) -> list[str]:
    parts: list[str] = []
    depth, quote, current = 0, "", ""
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character in "[{":
            depth += 1
        elif character in "]}":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(current)
            current = ""
            continue
        current += character
    if current.strip():
        parts.append(current)
    return parts


__all__ = ["Instance", "TextFile", "build", "find_files", "open_file", "parse_yaml"]
