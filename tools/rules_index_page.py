"""Write docs/rules.md, the table of all rules."""

from __future__ import annotations

from pathlib import Path

from neurarch_rules.engine import discovery, selection

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "docs" / "rules.md"
HEAD = """# Rules

One page a rule: what it finds, why it matters, examples that must and must not be reported (they are run as tests), and
the repair. `neurarch-lsp --explain RULE` prints the same page. Severities can be changed in the settings.
"""


def rendered() -> str:
    rules = [rule.RULE for rule in discovery.all_rules()]
    lines = [HEAD]
    for category in selection.CATEGORIES:
        found = [info for info in rules if info.category == category]
        lines += [
            f"\n## {category.capitalize()} ({len(found)})\n",
            "| rule | severity | what it finds | fix |",
            "|---|---|---|---|",
        ]
        for info in found:
            file = f"../rules/neurarch_rules/rules/{info.name.replace('-', '_')}.md"
            lines.append(f"| [{info.name}]({file}) | {info.severity} | {info.summary} | {_fix(info.name)} |")
    return "\n".join(lines) + "\n"


def _fix(name: str) -> str:
    source = (ROOT / "rules/neurarch_rules/rules" / f"{name.replace('-', '_')}.py").read_text(encoding="utf-8")
    return "yes" if "fixes" in source or "_fixes" in source else ""


if __name__ == "__main__":
    TARGET.write_text(rendered(), encoding="utf-8")
