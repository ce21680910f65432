"""RoPE parameters from which no frequencies can be computed."""

from __future__ import annotations

from collections.abc import Iterator

from neurarch_schemas.catalogue.load import ConfigType, config_type, enumerations
from neurarch_schemas.config.check_types import show
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.config.refusals.refusal import Refusal
from neurarch_schemas.config.rope import REQUIRED
from neurarch_schemas.documents.json_value import JSONValue

NUMBERS = ("rope_theta", "factor", "low_freq_factor", "high_freq_factor", "beta_fast", "beta_slow")
SHARE = "partial_rotary_factor"
SMALLEST_CHECKED_HEAD = 5
"""Heads of up to four stand in configs of tests and are let pass (``validate_rope``)."""


def refused_rope(config: ModelConfig) -> Iterator[Refusal]:
    """What ``validate_rope`` or the rotary embedding of transformers 5.24 raises about."""
    parameters = config.get("rope_parameters")
    if not isinstance(parameters, dict) or not parameters or not _rotates(config):
        return
    record = config_type(config.model_type)
    usual = None if record is None else record.resolved.get("rope_parameters")
    wants_kinds = isinstance(usual, dict) and _is_divided(usual)
    wanted = None
    if wants_kinds and not _is_divided(parameters):
        wanted = "a block for each kind of layer"
    elif isinstance(usual, dict) and not wants_kinds and _is_divided(parameters) and "rope_type" not in parameters:
        wanted = "one block for all layers"
    if wanted is not None:
        yield Refusal(f"rope_parameters of {config.model_type} must be {wanted}", config.pointer, ("rope_parameters",))
        return
    for part in parameters.values() if wants_kinds else (parameters,):
        found = _reason(config, part) if isinstance(part, dict) and part else None
        if found is not None:
            yield Refusal(found[0], config.pointer, ("rope_parameters",), found[1])
            return


def _rotates(config: ModelConfig) -> bool:
    """Some types have RoPE parameters whether they use them or not."""
    kind = config.get("position_embedding_type", "rope")
    return config.get("use_mem_rope") is not False and kind in ("rope", "rotary")


def _reason(config: ModelConfig, part: dict[str, JSONValue]) -> tuple[str, str | None] | None:
    """With the rule that finds the same."""
    record = config_type(config.model_type)
    kind = part.get("rope_type", "default")
    if kind not in enumerations()["rope_types"]:
        return f"it has no RoPE type {show(kind)}", None if kind is None else "rope-unknown-type"
    if record is not None and record.rope_type == "axial" and kind != "axial":
        return f"{config.model_type} takes only axial RoPE, not {show(kind)}", None
    missing = [name for name in REQUIRED.get(str(kind), ()) if part.get(name) is None]
    if missing:
        return f"RoPE type {show(kind)} needs {missing[0]}", "rope-missing-field"
    for name in (*NUMBERS, SHARE) if _rotates_a_share(record) else NUMBERS:
        value = part.get(name)
        if (name in part and value is None and name == "rope_theta") or isinstance(value, str | list | dict):
            return (
                f"{name} must be a number, not {show(value)}",
                "rope-value-out-of-range" if name == "factor" else None,
            )
    head = config.whole_numbers.get("head_dim", 0)
    share = part.get(SHARE)
    if head >= SMALLEST_CHECKED_HEAD and head % 2 and (not isinstance(share, int | float) or int(head * share) == head):
        return f"RoPE rotates pairs, and head_dim {head} is odd", "rope-odd-rotary-dim"
    return None


def _is_divided(parameters: dict[str, JSONValue]) -> bool:
    """By kind of layer; some classes keep the fields of an undivided block beside."""
    return any(isinstance(part, dict) for part in parameters.values())


def _rotates_a_share(record: ConfigType | None) -> bool:
    """The classes of this type rotate a part of each head; others ignore the share that a file gives."""
    parameters = None if record is None else record.resolved.get("rope_parameters")
    if not isinstance(parameters, dict):
        return False
    return any(isinstance(part, dict) and SHARE in part for part in (parameters, *parameters.values()))
