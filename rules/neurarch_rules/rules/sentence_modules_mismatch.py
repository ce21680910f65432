from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place, Related
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import geometry
from neurarch_rules.facts.places import place, whole_number

RULE = RuleInfo(
    name="sentence-modules-mismatch",
    severity="error",
    category="correctness",
    summary="A module of a sentence-transformers model expects vectors of another width than it gets",
    when="beside",
)

MODES = (
    "pooling_mode_cls_token",
    "pooling_mode_max_tokens",
    "pooling_mode_mean_tokens",
    "pooling_mode_mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens",
    "pooling_mode_lasttoken",
)
"""Ways to pool; the vectors of all that are on are put side by side."""
KEEP_WIDTH = ("Normalize", "Dropout", "LayerNorm")


def check(context: Context) -> Iterator[Finding]:
    folder, config = context.analysis.folder, context.analysis.config
    listed = folder.json_files.get("modules.json")
    hidden = None if config is None or config.nested or not config.is_native else geometry.hidden_size(config)
    if config is None or hidden is None or not isinstance(listed, list) or not listed:
        return
    if not isinstance(listed[0], dict) or listed[0].get("path"):
        return  # the encoder lies in a folder of its own
    width: int | None = None
    for module in listed[1:]:
        kind, path = (module.get("type"), module.get("path")) if isinstance(module, dict) else (None, None)
        name, file = str(kind).rpartition(".")[2], f"{path}/config.json"
        values = folder.modules.get(file)
        if name in KEEP_WIDTH and str(kind).startswith("sentence_transformers."):
            continue
        if not isinstance(values, dict) or not str(kind).startswith("sentence_transformers."):
            return
        if name == "Pooling":
            stated = whole_number(values.get("word_embedding_dimension"))
            if stated is not None and stated != hidden.value:
                yield Finding(
                    f"hidden_size {hidden.value} makes token vectors of {hidden.value}, but {file} says "
                    f"word_embedding_dimension {stated}: get_sentence_embedding_dimension tells a wrong size",
                    place(config, hidden.key),
                    (Related(Place("/word_embedding_dimension", file=file), f"word_embedding_dimension is {stated}"),),
                    severity="warning",
                )
            modes = sum(values.get(mode) is True for mode in MODES)
            width = hidden.value * modes if modes else None
        elif name == "Dense" and "module_input_name" not in values:
            inputs = whole_number(values.get("in_features"))
            if inputs is not None and width is not None and inputs != width:
                yield Finding(
                    f"vectors of {width} come to the dense layer of {file}, which takes {inputs}: encoding "
                    "any sentence crashes",
                    place(config, hidden.key),
                    (Related(Place("/in_features", file=file), f"in_features is {inputs}"),),
                )
            width = whole_number(values.get("out_features"))
        else:
            return
