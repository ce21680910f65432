"""RoPE blocks as they are written: rope_scaling or rope_parameters, flat or one object per layer type."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from neurarch_rules.engine.finding import Place
from neurarch_rules.facts import geometry
from neurarch_rules.facts.places import as_written, is_written, number, written
from neurarch_schemas.config.rope import REQUIRED
from neurarch_schemas.documents.pointer import join_pointer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from neurarch_rules.engine.context import Context
    from neurarch_rules.facts.places import On
    from neurarch_schemas.analysis import Analysis
    from neurarch_schemas.config.model_config import ModelConfig
    from neurarch_schemas.documents.json_value import JSONValue

KEYS = ("rope_scaling", "rope_parameters")
OPTIONAL: dict[str, tuple[str, ...]] = {
    "yarn": ("attention_factor", "beta_fast", "beta_slow", "mscale", "mscale_all_dim", "truncate"),
    "longrope": ("attention_factor", "factor", "short_mscale", "long_mscale"),
}
COMMON = frozenset(
    (
        "rope_type",
        "type",
        "rope_theta",
        "partial_rotary_factor",
        "original_max_position_embeddings",
        "mrope_section",
        "mrope_interleaved",
        "interleaved",
    )
)
FIELDS = frozenset(name for table in (REQUIRED, OPTIONAL) for fields in table.values() for name in fields) | COMMON
ORIGINAL = "original_max_position_embeddings"


class Block(NamedTuple):
    """One set of RoPE fields; ``label`` is its layer type where there is one per layer type."""

    config: ModelConfig
    key: str
    label: str | None
    values: dict[str, JSONValue]
    pointer: str

    @property
    def rope_type(self) -> str:
        found = self.values.get("rope_type", self.values.get("type", "default"))
        return found if isinstance(found, str) else ""

    def number(self, name: str) -> float | None:
        return number(self.values.get(name))

    def place(self, name: str, on: On = "value") -> Place:
        return Place(join_pointer(self.pointer, name), on=on)

    @property
    def original_length(self) -> float | None:
        """The written pretrained length, in the block or beside it."""
        inside = self.number(ORIGINAL)
        return inside if inside is not None else number(self.config.get(ORIGINAL))


def blocks(context: Context, config: ModelConfig) -> tuple[Block, ...]:
    """Written blocks; an object whose values are all objects is split by layer type."""
    return context.once(("rope", config.pointer), lambda: tuple(_blocks(context.analysis, config)))


def _blocks(analysis: Analysis, config: ModelConfig) -> Iterator[Block]:
    data = written(analysis, config)
    for key in KEYS:
        value = data.get(key)
        if not isinstance(value, dict) or not value:
            continue
        pointer = join_pointer(config.pointer, key)
        inner = {label: part for label, part in value.items() if isinstance(part, dict)}
        if inner and not ({"rope_type", "type", "rope_theta", "factor"} & value.keys()):
            for label, part in inner.items():
                yield Block(config, key, label, part, join_pointer(pointer, label))
        else:
            yield Block(config, key, None, value, pointer)


def rotary_dim(block: Block) -> int | None:
    """How many dimensions of a head are rotated."""
    config = block.config
    latent = config.get("qk_rope_head_dim")
    if isinstance(latent, int) and not isinstance(latent, bool):
        return latent
    size = geometry.head_dim(config)
    if size is None:
        return None
    share = block.number("partial_rotary_factor")
    if share is None:
        share = number(config.get("partial_rotary_factor"))
    if share is None:
        effective = config.get("rope_parameters")
        share = number(effective.get("partial_rotary_factor")) if isinstance(effective, dict) else None
    return size if share is None else int(size * share)


def theta(block: Block) -> float | None:
    inside = block.number("rope_theta")
    return inside if inside is not None else number(block.config.get("rope_theta"))


def rope_theta(config: ModelConfig) -> float | None:
    """The base that is used, given or not; None where kinds of layers have their own and where there is none."""
    parameters = config.get("rope_parameters")
    return number(parameters.get("rope_theta")) if isinstance(parameters, dict) else None


def gives_theta(config: ModelConfig) -> bool:
    """The file says the base, beside or inside the RoPE block."""
    if is_written(config, "rope_theta"):
        return True
    blocks = (as_written(config, name) for name in ("rope_parameters", "rope_scaling"))
    return any(
        block is not None
        and block.origin == "written"
        and isinstance(block.value, dict)
        and "rope_theta" in block.value
        for block in blocks
    )
