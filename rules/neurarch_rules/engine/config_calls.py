"""``LlamaConfig(hidden_size=54, ...)`` in Python code: findings of a config.json, placed on the keyword arguments."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, cast

from neurarch_rules.engine import discovery
from neurarch_rules.engine.finding import Finding, Fix, Place, Related
from neurarch_rules.engine.fixes import apply_edits
from neurarch_rules.engine.locate import span_of
from neurarch_schemas.documents.document import TextEdit
from neurarch_schemas.documents.pointer import split_pointer

if TYPE_CHECKING:
    from neurarch_rules.engine.options import Options
    from neurarch_rules.engine.rule import About
    from neurarch_schemas.analysis import Analysis
    from neurarch_schemas.config_calls.find import ConfigCall
    from neurarch_schemas.documents.document import Span
    from neurarch_schemas.python_analysis import PythonAnalysis

LOOSE = frozenset(
    ("vocab_size", "pad_token_id", "bos_token_id", "eos_token_id", "torch_dtype", "dtype", "attn_implementation")
)
"""Keys whose value may be computed without making the rest uncertain."""
CATEGORIES = ("correctness", "training")


def findings(analysis: Analysis, options: Options) -> Iterator[Finding]:
    """For each config that the code constructs; complete, as from a run of its own."""
    for call in cast("PythonAnalysis", analysis).config_calls:
        if call.is_to_fail:
            continue
        start = call.span[0]
        for finding in _relative(_Request(call, options)):
            yield moved(finding, start)


class _Request:
    """Equal for calls that are written alike, wherever they stand: an edit elsewhere in the file costs them nothing."""

    def __init__(self, call: ConfigCall, options: Options) -> None:
        self._call: ConfigCall | None = call
        self.options = options
        document, start = call.document, call.span[0]
        line = document.text.rfind("\n", 0, start) + 1
        named = [(key, span[0] - start, span[1] - start) for key, span in document.elsewhere.items()]
        changed = [(key, span[0] - start, span[1] - start) for key, spans in document.changed.items() for span in spans]
        self._key = (
            document.text[line : call.span[1]], start - line, repr(document.data), call.unknown, call.open_ended,
            call.is_damaged, tuple(named), tuple(changed), document.name_span[0] - start, options,
        )  # fmt: skip

    def taken(self) -> ConfigCall:
        """The call, once: what is kept must not hold the text of a whole file."""
        call, self._call = self._call, None
        assert call is not None
        return call

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Request) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key[0])  # options cannot be hashed


@lru_cache(maxsize=512)
def _relative(request: _Request) -> tuple[Finding, ...]:
    """The findings of a call, with places counted from its start."""
    call = request.taken()
    return tuple(moved(finding, -call.span[0]) for finding in _of_call(call, request.options))


def moved(finding: Finding, distance: int) -> Finding:
    """The finding with its spans further on in the text."""

    def place(item: Place) -> Place:
        assert item.span is not None
        return item._replace(span=(item.span[0] + distance, item.span[1] + distance))

    fixes = tuple(
        fix._replace(
            edits=tuple(TextEdit((edit.span[0] + distance, edit.span[1] + distance), edit.text) for edit in fix.edits)
        )
        for fix in finding.fixes
    )
    related = tuple(item._replace(place=place(item.place)) for item in finding.related)
    return finding._replace(place=place(finding.place), related=related, fixes=fixes)


def _of_call(call: ConfigCall, options: Options) -> Iterator[Finding]:
    from neurarch_rules.engine.run import check

    unknown = {_first(pointer) for pointer in call.unknown}
    subjects = _subjects(options.plugins)
    is_certain = not call.open_ended and not call.is_damaged and unknown <= LOOSE
    for finding in check(call.analysis, options):
        subject = subjects.get(finding.rule)
        if finding.category not in CATEGORIES or subject == "file" or finding.severity in ("info", "hint"):
            continue
        pointers = [finding.place.pointer or "", *(related.place.pointer or "" for related in finding.related)]
        if finding.rule == "heads-indivisible" and _hidden_is_odd(call.document.data):
            pointers.insert(0, "/hidden_size")
        # While a call is typed, what was found between two arguments that stand there already stays.
        stays = call.is_damaged and len(pointers) > 1 and all(_is_written(call, pointer) for pointer in pointers)
        if not unknown.isdisjoint(map(_first, pointers)):
            continue
        if not (is_certain or stays or subject == "key"):
            continue
        # What an object lacks is told on the object, as in JSON; what the config lacks has no place in the call.
        around = (finding.place.pointer or "").rpartition("/")[0]
        candidates = [*pointers, around] if around else pointers
        written = next((pointer for pointer in candidates if _is_written(call, pointer)), None)
        if written is not None:
            yield _placed(call, finding, written)


@cache
def _subjects(plugins: tuple[str, ...]) -> Mapping[str, About]:
    """What each rule is about."""
    return {rule.RULE.name: rule.RULE.about for rule in discovery.all_rules(plugins)}


def _placed(call: ConfigCall, finding: Finding, pointer: str) -> Finding:
    """The finding with spans for pointers, and those of its fixes that leave the code readable."""
    document = call.document
    others = [related for related in finding.related if _is_written(call, related.place.pointer or "")]
    is_reachable = finding.place.pointer not in document.elsewhere
    return finding._replace(
        place=Place(None, _span(call, finding.place._replace(pointer=pointer))),
        related=tuple(Related(Place(None, _span(call, each.place)), each.message) for each in others),
        fixes=tuple(fix for fix in finding.fixes if is_reachable and _is_sound(call, fix)),
    )


def _span(call: ConfigCall, place: Place) -> Span:
    """An argument is marked with its name: ``hidden_size=54``."""
    if place.on == "key" and call.document.key_span(place.pointer or "") is not None:
        return span_of(place, call.document)
    return call.document.pair_span(place.pointer or "") or span_of(place, call.document)


def _is_written(call: ConfigCall, pointer: str) -> bool:
    document = call.document
    return bool(pointer) and (document.pair_span(pointer) is not None or pointer in document.elsewhere)


def _is_sound(call: ConfigCall, fix: Fix) -> bool:
    """The edits stay inside this config and leave code that can be parsed: not where a ``**`` hides brackets."""
    start, end = call.span
    inside = [edit for edit in fix.edits if start <= edit.span[0] and edit.span[1] <= end]
    if call.is_damaged or not all(edit in inside or call.covers(edit.span[0]) for edit in fix.edits):
        return False
    own = [TextEdit((edit.span[0] - start, edit.span[1] - start), edit.text) for edit in inside]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(f"({apply_edits(call.document.text[start:end], own)}\n)")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _hidden_is_odd(values: Any) -> bool:
    """Of a width and a number of heads that do not fit, the width is the unusual one."""
    hidden, heads = values.get("hidden_size"), values.get("num_attention_heads")
    if type(hidden) is not int or type(heads) is not int or heads <= 0:
        return type(hidden) is int and hidden % 8 != 0
    return hidden % 8 != 0 and heads & (heads - 1) == 0


def _first(pointer: str) -> str:
    return split_pointer(pointer)[0] if pointer else ""
