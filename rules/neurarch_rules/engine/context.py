"""Everything a rule may look at; a rule does no I/O of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from neurarch_rules.engine.options import Options
    from neurarch_schemas.analysis import Analysis


@dataclass(frozen=True)
class Context:
    """``analysis`` is what is known about the file, computed lazily and once; ``options`` the settings that apply to it."""

    analysis: Analysis
    options: Options
