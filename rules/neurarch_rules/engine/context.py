"""Everything a rule may look at; a rule does no I/O of its own."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from neurarch_rules.engine.options import Options
    from neurarch_schemas.analysis import Analysis

T = TypeVar("T")


class Context:
    """``analysis``: what is known about the file, computed lazily and once; ``options``: the settings that apply."""

    def __init__(self, analysis: Analysis, options: Options) -> None:
        self.analysis = analysis
        self.options = options
        self._computed: dict[Hashable, Any] = {}

    def once(self, key: Hashable, compute: Callable[[], T]) -> T:
        """A value that several rules derive from this file, computed by the first one that asks."""
        if key not in self._computed:
            self._computed[key] = compute()
        return cast(T, self._computed[key])
