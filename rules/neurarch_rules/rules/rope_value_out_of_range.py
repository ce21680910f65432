from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Related
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import geometry, rope
from neurarch_rules.facts.defaults import are_defaults
from neurarch_rules.facts.places import as_written, configs, number, place, related
from neurarch_rules.facts.words import quoted
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.config.rope import REQUIRED

RULE = RuleInfo(
    name="rope-value-out-of-range",
    severity="error",
    category="correctness",
    summary="A RoPE number that makes no sense: a factor below 1, frequencies in the wrong order, an odd rotary size",
    needs=("rope_",),
)


def check(context: Context) -> Iterator[Finding]:
    for config in configs(context):
        for block in rope.blocks(context, config):
            yield from _factor(block)
            yield from _frequencies(block)
            yield from _theta_and_share(block)
        yield from _share_beside(config)
        theta = number(config.get("rope_theta"))
        if theta is not None and theta <= 0 and (setting := config.setting("rope_theta")) and setting.pointer:
            yield Finding(
                f"rope_theta is {theta:g}: the base of the frequencies must be positive",
                place(config, "rope_theta"),
                severity="warning",
            )


def _share_beside(config: ModelConfig) -> Iterator[Finding]:
    """The old place of the rotated share, beside the block."""
    for key in ("partial_rotary_factor", "rotary_pct", "rotary_percentage"):
        setting = as_written(config, key)
        share = None if setting is None or setting.pointer is None else number(setting.value)
        if share is not None and not 0 < share <= 1:
            yield Finding(
                f"{key} {share:g} is not a share of the head: it must lie between 0 and 1",
                place(config, key),
                severity="warning",
            )


def _factor(block: rope.Block) -> Iterator[Finding]:
    value = block.values.get("factor")
    if value is None or block.rope_type not in REQUIRED:
        return
    factor = number(value)
    if factor is None:
        yield Finding(
            f"factor must be a number, not {quoted(value)}: RoPE cannot be computed",
            block.place("factor"),
            severity=None if block.config.is_native else "warning",
        )
    elif factor <= 0:
        yield Finding(
            f"factor is {factor:g}: positions cannot be scaled by it", block.place("factor"), severity="warning"
        )
    elif factor < 1:
        yield Finding(
            f"factor {factor:g} is below 1: it shrinks the window of {_window(block)} tokens instead of stretching it",
            block.place("factor"),
            severity="warning",
        )


def _window(block: rope.Block) -> str:
    found = geometry.positions(block.config)
    return f"{found.value:,}" if found else "all"


def _frequencies(block: rope.Block) -> Iterator[Finding]:
    low, high = block.number("low_freq_factor"), block.number("high_freq_factor")
    if block.rope_type == "llama3":
        yield from _llama3_bounds(block, (("low_freq_factor", low), ("high_freq_factor", high)))
    if block.rope_type == "llama3" and low is not None and high is not None and high < low:
        yield Finding(
            f"high_freq_factor {high:g} must not be below low_freq_factor {low:g}: the band between them is "
            "interpolated over "
            f"their difference",
            block.place("high_freq_factor"),
            (Related(block.place("low_freq_factor"), f"low_freq_factor is {low:g}"),),
            severity="warning",
        )
    original, window = block.original_length, geometry.positions(block.config)
    if block.rope_type == "llama3" and original is not None and window is not None and original >= window.value:
        yield Finding(
            f"original_max_position_embeddings {original:,.0f} is not below {window.key} {window.value:,}: there is "
            "nothing "
            "to stretch, yet the frequencies are changed",
            block.place(rope.ORIGINAL),
            (related(block.config, window.key),),
            severity="warning",
        )
    fast, slow = block.number("beta_fast"), block.number("beta_slow")
    if block.rope_type == "yarn" and (32 if fast is None else fast) < (1 if slow is None else slow):
        yield Finding(
            f"beta_fast {32 if fast is None else fast:g} must be above beta_slow {1 if slow is None else slow:g}: "
            "the ramp "
            "between interpolated and kept frequencies is upside down",
            block.place("beta_fast" if fast is not None else "beta_slow"),
            severity="warning",
        )
    attention = block.number("attention_factor")
    if attention is not None and attention <= 0:
        yield Finding(
            f"attention_factor is {attention:g}: attention scores would vanish",
            block.place("attention_factor"),
            severity="warning",
        )


def _llama3_bounds(block: rope.Block, bounds: tuple[tuple[str, float | None], ...]) -> Iterator[Finding]:
    """The original window is divided by either number."""
    for key, value in bounds:
        if value is not None and value <= 0:
            yield Finding(
                f"{key} is {value:g}: the original window is divided by it, so it must be above 0: "
                + ("the model cannot be built" if value == 0 else "no frequency lies in the band it bounds"),
                block.place(key),
                severity="error" if value == 0 else "warning",
            )


def _theta_and_share(block: rope.Block) -> Iterator[Finding]:
    theta, share = block.number("rope_theta"), block.number("partial_rotary_factor")
    if theta is not None and theta <= 0:
        yield Finding(
            f"rope_theta is {theta:g}: the base of the frequencies must be positive",
            block.place("rope_theta"),
            severity="warning",
        )
    if share is not None and not 0 < share <= 1 and not are_defaults(block.config, "rope_parameters"):
        yield Finding(
            f"partial_rotary_factor {share:g} is not a share of the head: it must lie between 0 and 1",
            block.place("partial_rotary_factor"),
            severity="warning",
        )
