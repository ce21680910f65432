"""The plain values of a JSON text, as ``json.loads`` gives them."""

from __future__ import annotations

from typing import TypeAlias

JSONScalar: TypeAlias = bool | int | float | str | None
JSONValue: TypeAlias = bool | int | float | str | list["JSONValue"] | dict[str, "JSONValue"] | None
