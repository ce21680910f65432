from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Related
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import geometry
from neurarch_rules.facts.defaults import are_defaults
from neurarch_rules.facts.fixes import set_value
from neurarch_rules.facts.layers import layer_types
from neurarch_rules.facts.places import as_written, configs, integer, is_written, place, related, written
from neurarch_schemas.config.model_config import ModelConfig

RULE = RuleInfo(
    name="sliding-window-ineffective",
    severity="error",
    category="correctness",
    summary="A sliding window is written, and no layer uses it",
    needs=("sliding_window", "layer_types"),
)


def check(context: Context) -> Iterator[Finding]:
    for config in configs(context):
        setting = as_written(config, "sliding_window")
        window = setting.value if setting is not None and setting.pointer is not None else None
        if not isinstance(window, int) or isinstance(window, bool):
            yield from _missing_window(config)
            continue
        types = layer_types(config)
        if window <= 0:
            if config.get("use_sliding_window") is False or (types and "sliding_attention" not in types):
                continue  # how transformers writes a window that is switched off
            yield Finding(
                f"sliding_window {window} leaves no token to attend to",
                place(config, "sliding_window"),
                severity="warning",
            )
            continue
        if not config.is_native or not types or "sliding_attention" in types:
            continue
        if "use_sliding_window" in config:
            yield from _switched(context, config, window)
        elif (
            set(types) == {"full_attention"}
            and is_written(config, "layer_types")
            and not are_defaults(config, "sliding_window", "layer_types")
        ):
            yield Finding(
                f"sliding_window {window:,} is not used: all layers are full_attention",
                place(config, "sliding_window"),
                (related(config, "layer_types", "layer_types names no sliding_attention"),),
                severity="warning",
            )


def _switched(context: Context, config: ModelConfig, window: int) -> Iterator[Finding]:
    """Families with ``use_sliding_window``: the first ``max_window_layers`` layers attend to everything."""
    depth, full = geometry.layers(config), integer(config, "max_window_layers")
    if "use_sliding_window" not in written(context.analysis, config):
        positions = geometry.positions(config)
        if positions is not None and window >= positions.value:
            return
        yield Finding(
            f"sliding_window {window:,} is dropped: use_sliding_window is false by default"
            + (f", and max_window_layers is {full} for {depth.value} layers" if full and depth else ""),
            place(config, "sliding_window"),
            (related(config, "use_sliding_window"), related(config, "max_window_layers")),
            severity="warning",
        )
    elif (
        as_written(config, "use_sliding_window") is not None
        and written(context.analysis, config)["use_sliding_window"] is True
    ):
        if depth is None or full is None or full < depth.value:
            return
        others: tuple[Related, ...] = (related(config, depth.key), related(config, "sliding_window"))
        yield Finding(
            f"no layer slides: the first max_window_layers ({full}) of {depth.value} layers attend to everything; 0 "
            "lets all "
            f"layers use the window of {window:,}",
            place(config, "max_window_layers"),
            others,
            set_value(context.analysis, config.pointer, "max_window_layers", 0, "max_window_layers = 0", "unsafe"),
            severity="warning",
        )


def _missing_window(config: ModelConfig) -> Iterator[Finding]:
    """Sliding layers are asked for by name and the window is null."""
    if not config.is_native or not is_written(config, "layer_types") or "sliding_attention" not in layer_types(config):
        return
    setting = config.setting("sliding_window")
    if setting is not None and setting.value is None and setting.origin != "derived":
        yield Finding(
            "layer_types names sliding_attention, but sliding_window is null: the mask of those layers cannot be made",
            place(config, "sliding_window"),
            (related(config, "layer_types", "layer_types names sliding_attention"),),
            severity=None,
        )
