"""What a rule is: metadata at the top of its file and a pure function ``check``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple, Protocol

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Category, Finding, Severity
from neurarch_schemas.documents.document import FileKind

When = Literal["always", "problems", "serving", "checkpoint", "tokenizer", "beside"]
About = Literal["model", "key", "file"]


class RuleInfo(NamedTuple):
    """The constant ``RULE`` of each file in ``neurarch_rules/rules``.

    ``name`` is the file's name with hyphens; ``rules/<name>.md`` beside it is page, ``--explain`` text and test.
    """

    name: str
    severity: Severity
    category: Category
    summary: str
    """One line, no full stop, shown by ``--rules``."""
    reads: tuple[FileKind, ...] = ("config",)
    aliases: tuple[str, ...] = ()
    """Former names that select, ignore and suppress still understand."""
    default: bool = True
    """Whether the rule runs without being selected."""
    needs: tuple[str, ...] = ()
    """Words one of which stands in every file the rule can speak about; empty: any file. Saves loading the rule."""
    when: When = "always"
    """What the rule cannot speak without: "problems" of the syntax, "serving" settings about GPUs, the names or headers
    of a "checkpoint", files of a "tokenizer", any file "beside"."""
    about: About = "model"
    """A rule about one "key" holds whatever the other keys say; one about the "file" that a model is published in says
    nothing of a config that Python code constructs."""


class Rule(Protocol):
    RULE: RuleInfo

    def check(self, context: Context) -> Iterable[Finding]: ...
