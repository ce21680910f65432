"""Which versions of the libraries a repository states: requirements files, pyproject.toml, lock files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, MutableMapping

from neurarch_schemas.surroundings.requirement_files import LOCK_FILES
from neurarch_schemas.surroundings.source import Source

LIBRARIES = frozenset(
    (
        "transformers", "peft", "vllm", "torch", "accelerate", "bitsandbytes", "sglang", "tokenizers", "trl",
        "huggingface-hub", "safetensors", "optimum", "auto-gptq", "gptqmodel", "autoawq", "compressed-tensors",
        "flash-attn", "unsloth", "deepspeed", "text-generation",
    )
)  # fmt: skip
MAX_BYTES = 8_000_000
_REQUIREMENT = re.compile(
    r"""["']?\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*\(?\s*((?:(?:===|==|~=|!=|>=|<=|>|<)\s*[^\s,;#"'()]+\s*,?\s*)+)"""
)
_LOCKED = re.compile(r'\[\[package\]\]\s*\nname = "([^"]+)"\s*\nversion = "([^"]+)"')
_PIPFILE = re.compile(r'"([A-Za-z0-9._-]+)":\s*\{[^{}]*?"version":\s*"==([^"]+)"', re.DOTALL)


def read_requirements(
    source: Source, files: Iterable[str], known: MutableMapping[str, tuple[tuple[str, str], ...]]
) -> dict[str, str]:
    """Library -> version ("4.55.0", from a lock file or a pin) or specifier (">=4.45,<5"); the nearest file wins.

    ``known`` keeps what the files above the document's folder state: many documents share them.
    """
    found: dict[str, str] = {}
    for file in files:
        stated = known.get(file)
        if stated is None:
            stated = tuple(_of_libraries(source, file))
            if "/" in file:
                known[file] = stated
        for library, version in stated:
            found.setdefault(library, version)
    return found


def _of_libraries(source: Source, file: str) -> Iterator[tuple[str, str]]:
    data = source.read(file, MAX_BYTES)
    if data is None:
        return
    for library, version in _stated(file.rpartition("/")[2], data.decode("utf-8", "replace")):
        name = re.sub(r"[-_.]+", "-", library).lower()
        if name in LIBRARIES and version not in ("", "*"):
            yield name, version


def _stated(file: str, text: str) -> Iterator[tuple[str, str]]:
    if file == "Pipfile.lock":
        return ((match[1], match[2]) for match in _PIPFILE.finditer(text))
    if file in LOCK_FILES:
        return ((match[1], match[2]) for match in _LOCKED.finditer(text.replace("\r\n", "\n")))
    return _pyproject(text) if file == "pyproject.toml" else _requirement_lines(text)


def _requirement_lines(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        match = _REQUIREMENT.match(line.strip())
        if match is not None:
            yield match[1], _specifier(match[2])


def _pyproject(text: str) -> Iterator[tuple[str, str]]:
    """Dependencies of the project, its extras and groups, and of Poetry's tables."""
    import tomllib

    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError):
        return
    project = _table(data.get("project"))
    lists = [project.get("dependencies")]
    lists += _table(project.get("optional-dependencies")).values()
    lists += _table(data.get("dependency-groups")).values()
    for entries in lists:
        for entry in entries if isinstance(entries, list) else ():
            if isinstance(entry, str):
                yield from _requirement_lines(entry)
    poetry = _table(_table(data.get("tool")).get("poetry"))
    tables = [poetry.get("dependencies")]
    tables += [_table(group).get("dependencies") for group in _table(poetry.get("group")).values()]
    for table in tables:
        for library, value in _table(table).items():
            version = value.get("version") if isinstance(value, dict) else value
            if isinstance(version, str):
                yield library, _poetry_specifier(version)


def _table(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _specifier(text: str) -> str:
    """A pin as its bare version, anything else without blanks."""
    spelled = re.sub(r"\s+", "", text).rstrip(",")
    pin = re.fullmatch(r"={2,3}([^,*]+)", spelled)
    return pin[1] if pin is not None else spelled


def _poetry_specifier(text: str) -> str:
    """Poetry's ^4.40 and ~4.40 as ranges; a bare version is a pin."""
    match = re.fullmatch(r"\s*([\^~])\s*(\d+)(?:\.(\d+))?((?:\.\d+)*)\s*", text)
    if match is None:
        return _specifier(text)
    sign, major, minor, rest = match[1], int(match[2]), match[3], match[4]
    low = f"{major}" + (f".{minor}" if minor is not None else "") + rest
    if minor is not None and (sign == "~" or major == 0):
        return f">={low},<{major}.{int(minor) + 1}"
    return f">={low},<{major + 1}"
