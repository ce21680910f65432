from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import experts, geometry
from neurarch_rules.facts.places import configs, integer, is_written, place, related
from neurarch_rules.facts.words import counted
from neurarch_schemas.config.model_config import ModelConfig

RULE = RuleInfo(
    name="layer-count-out-of-range",
    severity="warning",
    category="correctness",
    summary="More dense, shared or windowed layers are asked for than the model has",
)

FIRST_LAYERS = (
    "first_k_dense_replace",
    "moe_layer_start_index",
    "num_kv_shared_layers",
    "first_num_dense_layers",
    "num_dense_layers",
)

MANY = 1000


def check(context: Context) -> Iterator[Finding]:
    for config in configs(context):
        depth = geometry.layers(config)
        if depth is None or depth.value <= 0:
            continue
        yield from _no_experts(config, depth)
        if context.analysis.config is not None and not context.analysis.config.model_type.endswith("assistant"):
            yield from _all_shared(config, depth)  # a drafting model borrows the cache of another one
        for name in FIRST_LAYERS:
            count = integer(config, name)
            if count is None or count <= depth.value or not (is_written(config, name) or is_written(config, depth.key)):
                continue
            message = f"{name} is {count}, but the model has {counted(depth.value, 'layer')}"
            mixture = experts.total(config)
            if mixture is not None and "dense" in name:
                message += f": every layer is dense and none of the {mixture.value} experts is built"
            yield Finding(message, place(config, name), (related(config, depth.key),))


def _all_shared(config: ModelConfig, depth: geometry.Named) -> Iterator[Finding]:
    count = integer(config, "num_kv_shared_layers")
    if count == depth.value and is_written(config, "num_kv_shared_layers"):
        yield Finding(
            f"num_kv_shared_layers is {count}: all {counted(depth.value, 'layer')} would use keys and values of an "
            "earlier one, and there is none that computes them",
            place(config, "num_kv_shared_layers"),
            (related(config, depth.key),),
        )


def _no_experts(config: ModelConfig, depth: geometry.Named) -> Iterator[Finding]:
    """Exactly all layers are dense."""
    mixture, dense = experts.total(config), config.get("mlp_only_layers")
    if mixture is None or not is_written(config, mixture.key) or depth.value < 2:
        return
    names = [name for name in FIRST_LAYERS if "dense" in name and integer(config, name) == depth.value]
    if isinstance(dense, list) and set(range(min(depth.value, MANY))) <= {at for at in dense if isinstance(at, int)}:
        names += ["mlp_only_layers"] if len(dense) >= depth.value else []
    for name in names:
        if is_written(config, name):
            yield Finding(
                f"{name} makes all {counted(depth.value, 'layer')} dense: none of the {mixture.value} experts is built",
                place(config, name),
                (related(config, mixture.key), related(config, depth.key)),
            )
