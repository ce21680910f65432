from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.fixes import remove, replace_value
from neurarch_rules.facts.places import configs, place, pointer, written
from neurarch_rules.facts.sources import config_type
from neurarch_schemas.config.model_config import ModelConfig

RULE = RuleInfo(
    name="leftover-runtime-flag",
    severity="info",
    category="hygiene",
    summary="A switch left over from training or debugging, which every user of the file inherits",
    aliases=("use-cache-off",),
    needs=("false", "true"),
)

SWITCHED_ON = {
    "output_attentions": "every forward pass returns all attention matrices, and only eager attention can",
    "output_hidden_states": "every forward pass keeps the hidden states of all layers",
    "torchscript": "the model returns tuples and unties its head",
    "gradient_checkpointing": "a training switch that newer transformers refuses or ignores here",
}


def check(context: Context) -> Iterator[Finding]:
    for config in configs(context):
        data = written(context.analysis, config)
        if data.get("use_cache") is False and _generates(config):
            where = pointer(config, "use_cache")
            yield Finding(
                "use_cache is false, as training with gradient checkpointing leaves it: every new token recomputes "
                "the whole "
                "prefix",
                place(config, "use_cache"),
                fixes=replace_value(context.analysis, where, True, "use_cache = true"),
            )
        for name, effect in SWITCHED_ON.items():
            if data.get(name) is True:
                where = pointer(config, name)
                yield Finding(
                    f"{name} is true: {effect}",
                    place(config, name),
                    fixes=remove(context.analysis, where, f"remove {name}"),
                )
        if data.get("return_dict") is False:
            yield Finding("return_dict is false: the model returns bare tuples", Place(pointer(config, "return_dict")))


def _generates(config: ModelConfig) -> bool:
    """The file describes a decoder that generates text."""
    record = config_type(config)
    if record is not None and "use_cache" not in record.properties:
        return False
    names = ("ForCausalLM", "LMHeadModel", "ForConditionalGeneration", "ForSeq2SeqLM")
    return config.architecture.endswith(names) or (not config.architecture and bool(config.pointer))
