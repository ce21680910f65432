"""Fixes on real files: the finding goes, nothing new comes, the rest of the file stays as it was."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from neurarch_rules.engine import discovery
from neurarch_rules.engine.analyse import analyse_text
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.fixes import apply_edits, choose, fix_text
from neurarch_rules.engine.options import Options
from neurarch_rules.engine.run import run
from neurarch_rules.testing.page import parse
from neurarch_rules.testing.run_example import options_of, safe_fix_problems
from neurarch_schemas.documents.document import TextEdit
from tests.rules import corpus

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
ENOUGH = 20


def lint(text: str, name: str = "config.json", options: Options | None = None) -> list[Finding]:
    analysis = analyse_text(name, text)
    return [] if analysis is None else list(run(analysis, options or Options()).findings)


def lint_without_budget(text: str) -> list[Finding]:
    """A file that can be built again may be over its cache budget, as it was before the mistake."""
    return lint(text, options=Options(ignore=("kv-cache-context-budget",)))


def rename(old: str, new: str) -> Callable[[str], str]:
    return lambda text: text.replace(f'"{old}":', f'"{new}":', 1)


def value(key: str, written: Callable[[Any], str]) -> Callable[[str], str]:
    def change(text: str) -> str:
        data = json.loads(text)
        if key not in data:
            return text
        return text.replace(f'"{key}": {json.dumps(data[key])}', f'"{key}": {written(data[key])}', 1)

    return change


def doubled(text: str) -> str:
    line = '"vocab_size": 17,'
    return text.replace('"vocab_size":', f'{line}\n  "vocab_size":', 1)


def trailing_comma(text: str) -> str:
    end = text.rstrip().rfind("}")
    return text[:end].rstrip() + ",\n" + text[end:]


MISTAKES: dict[str, tuple[str, Callable[[str], str]]] = {
    "typo": ("misspelled-key", rename("hidden_size", "hidden_szie")),
    "string": ("wrong-type", value("hidden_size", lambda number: f'"{number}"')),
    "text of a flag": ("wrong-type", value("tie_word_embeddings", lambda flag: f'"{str(flag).lower()}"')),
    "cache off": ("leftover-runtime-flag", value("use_cache", lambda _: "false")),
    "dtype": ("unknown-dtype", value("torch_dtype", lambda name: f'"torch.{name}"')),
    "key twice": ("json-duplicate-key", doubled),
    "trailing comma": ("json-syntax", trailing_comma),
    "byte order mark": ("json-bom", lambda text: "\ufeff" + text),
    "comment": ("json-comment", lambda text: text.replace("\n", "\n  // adapted\n", 1)),
}


def mutated() -> list[tuple[str, str, str, str]]:
    """(mistake, rule, file, text) for every published config that a mistake changes and the rule then notices."""
    found = []
    for mistake, (rule, change) in MISTAKES.items():
        count = 0
        for name, real, text in corpus.published():
            if real != "config.json" or len(text) > 100_000 or count >= ENOUGH + 10:
                continue
            changed = change(text)
            if changed != text and any(item.rule == rule and is_safe(item) for item in lint(changed)):
                count += 1
                found.append((mistake, rule, name, changed))
    return found


def is_safe(finding: Finding) -> bool:
    return any(fix.applicability == "safe" for fix in finding.fixes)


@pytest.mark.skipif(not corpus.SHARED.exists(), reason="the corpus is not beside the repository")
def test_safe_fixes_repair_published_files() -> None:
    counts: dict[str, int] = {}
    for mistake, rule, name, text in mutated():
        fixes = [fix for item in lint(text) if item.rule == rule for fix in item.fixes if fix.applicability == "safe"]
        assert fixes, f"{mistake} in {name}: no safe fix"
        result = apply_edits(text, fixes[0].edits)
        assert safe_fix_problems(text, result, lint_without_budget, rule) == [], f"{mistake} in {name}"
        assert untouched(text, result, fixes[0].edits)
        counts[mistake] = counts.get(mistake, 0) + 1
    assert {mistake: count for mistake, count in counts.items() if count < ENOUGH} == {}
    assert counts.keys() == MISTAKES.keys()


def untouched(before: str, after: str, edits: tuple[TextEdit, ...]) -> bool:
    """Outside the edits the text is the same, character for character."""
    first = min(edit.span[0] for edit in edits)
    last = max(edit.span[1] for edit in edits)
    return after.startswith(before[:first]) and after.endswith(before[last:])


@pytest.mark.parametrize("name", discovery.rule_names())
def test_safe_fixes_of_the_rules_own_page(name: str) -> None:
    """Every safe fix offered for a Bad example removes its finding and brings nothing new."""
    page = parse(Path(discovery.page_path(discovery.load(name).RULE)).read_text(encoding="utf-8"))
    for example in page.examples:
        if example.section not in ("Bad", "Fix") or len(example.files) != 1 or example.files[0].name != "config.json":
            continue
        from neurarch_rules.testing.assertions import extract

        text, _ = extract(example.files[0].text)
        options = options_of(example)

        def check(text: str, options: Options = options) -> list[Finding]:
            return lint(text, options=options)

        for finding in check(text):
            for fix in finding.fixes:
                result = apply_edits(text, fix.edits)
                assert result != text
                if fix.applicability == "safe":
                    assert safe_fix_problems(text, result, check, finding.rule) == []


def test_overlapping_fixes_wait_for_the_next_round() -> None:
    text = '{"model_type": "llama", "architectures": ["LlamaForCausalLM"], "num_key_value_heads": 8, '
    text += '"vocab_siez": 64000, "use_cache": "true",}'
    fixed = fix_text(text, lint)
    assert fixed.settled
    assert json.loads(fixed.text)["vocab_size"] == 64000
    assert lint(fixed.text) == []


def test_edits_that_overlap_are_refused() -> None:
    with pytest.raises(ValueError, match="overlap"):
        apply_edits("abcdef", (TextEdit((0, 3), "x"), TextEdit((2, 4), "y")))


def test_display_fixes_are_never_chosen_in_bulk() -> None:
    text = '{"model_type": "llama", "architectures": ["LlamaForCausalLM"], "num_key_value_heads": 6}'
    assert any(fix.applicability == "display" for item in lint(text) for fix in item.fixes)
    assert choose(lint(text), ("safe", "unsafe")) == ()


def test_a_fix_that_changes_the_cost_says_by_how_much() -> None:
    text = '{"model_type": "llama", "architectures": ["LlamaForCausalLM"], "num_key_value_heads": 6}'
    (finding,) = lint(text)
    assert finding.fixes[0].title == "num_key_value_heads = 4 (96 KiB -> 64 KiB per token)"
