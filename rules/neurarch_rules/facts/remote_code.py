"""What auto_map would import."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from neurarch_schemas.analysis import Analysis


class Reference(NamedTuple):
    """``AutoConfig: repository--module.Class``; ``repository`` is None for a file beside the config."""

    auto_class: str
    module: str
    name: str
    repository: str | None


def references(analysis: Analysis) -> Iterator[Reference]:
    data = analysis.document.data
    auto_map = data.get("auto_map") if isinstance(data, dict) else None
    if not isinstance(auto_map, dict):
        return
    for auto_class, value in auto_map.items():
        for target in value if isinstance(value, list) else [value]:
            if not isinstance(target, str) or "." not in target:
                continue
            repository, separator, path = target.rpartition("--")
            module, _, name = path.rpartition(".")
            yield Reference(auto_class, module.replace(".", "/"), name, repository if separator else None)
