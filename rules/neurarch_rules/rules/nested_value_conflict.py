from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place, Related
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.fixes import remove
from neurarch_rules.facts.places import configs, written
from neurarch_rules.facts.sources import reads
from neurarch_rules.facts.words import quoted
from neurarch_schemas.config.language_model import LANGUAGE_CONFIGS
from neurarch_schemas.documents.pointer import join_pointer

RULE = RuleInfo(
    name="nested-value-conflict",
    severity="warning",
    category="correctness",
    summary="A size stands outside and inside the text model's config with two values; only the inner one is read",
    needs=LANGUAGE_CONFIGS,
)

SIZES = (
    "hidden_size",
    "intermediate_size",
    "num_hidden_layers",
    "num_attention_heads",
    "num_key_value_heads",
    "head_dim",
    "vocab_size",
    "max_position_embeddings",
    "num_experts",
    "num_experts_per_tok",
)


def check(context: Context) -> Iterator[Finding]:
    for config in configs(context):
        if not config.is_native:
            continue
        outer = written(context.analysis, config)
        for key in LANGUAGE_CONFIGS:
            nested = config.nested.get(key)
            if nested is None or nested.pointer == config.pointer:
                continue
            inner = written(context.analysis, nested)
            for name in SIZES:
                if name not in outer or name not in inner or outer[name] == inner[name] or reads(config, name):
                    continue
                pointer = join_pointer(config.pointer, name)
                yield Finding(
                    f"{name} is {quoted(outer[name])} here and {quoted(inner[name])} in {key}: the text model is built "
                    "from the inner value, engines that read the outer one build another model",
                    Place(pointer),
                    (Related(Place(join_pointer(nested.pointer, name)), f"{name} is {quoted(inner[name])}"),),
                    remove(context.analysis, pointer, f"remove the outer {name}", "unsafe"),
                )
