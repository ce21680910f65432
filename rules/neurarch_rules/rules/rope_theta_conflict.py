from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place, Related
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import rope
from neurarch_rules.facts.places import configs, number, written
from neurarch_schemas.documents.pointer import join_pointer

RULE = RuleInfo(
    name="rope-theta-conflict",
    severity="warning",
    category="correctness",
    summary="RoPE is given twice with different values, and one of them is never read",
    needs=("rope_scaling", "rope_parameters"),
)

TWICE = ("rope_theta", "partial_rotary_factor")


def check(context: Context) -> Iterator[Finding]:
    for config in configs(context):
        data = written(context.analysis, config)
        if not config.is_native:
            continue
        found = list(rope.blocks(context, config))
        for block in found:
            if block.label is not None:
                continue
            for name in TWICE:
                inside, outside = block.number(name), number(data.get(name))
                if inside is not None and outside is not None and inside != outside:
                    yield Finding(
                        f"{name} is {outside:g} here and {inside:g} inside {block.key}: transformers 5 uses "
                        f"{inside:g}, older "
                        f"releases {outside:g}",
                        Place(join_pointer(config.pointer, name)),
                        (Related(block.place(name), f"{inside:g} here"),),
                    )
        keys = {block.key: block for block in found}
        if len(keys) == 2:
            scaling, parameters = keys["rope_scaling"], keys["rope_parameters"]
            if scaling.label is None and scaling.rope_type != parameters.rope_type:
                yield Finding(
                    f"rope_scaling says {scaling.rope_type} and rope_parameters says {parameters.rope_type}: "
                    "transformers 5 "
                    "uses rope_scaling when both are given",
                    Place(parameters.pointer, on="key"),
                    (Related(Place(scaling.pointer, on="key"), "this one is used"),),
                )
