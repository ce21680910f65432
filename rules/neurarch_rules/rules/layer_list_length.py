from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Fix, Severity
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import geometry
from neurarch_rules.facts.fixes import combined
from neurarch_rules.facts.layers import mtp_layers
from neurarch_rules.facts.places import as_written, configs, is_written, place, pointer, related, written
from neurarch_rules.facts.words import counted
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.documents.json_edits import insert_element, truncate
from neurarch_schemas.documents.json_value import JSONValue

RULE = RuleInfo(
    name="layer-list-length",
    severity="error",
    category="correctness",
    summary="A per-layer list does not have one entry per layer",
    needs=("[", "hybrid_override_pattern", "zamba2"),
)

PER_LAYER = (
    "layer_types",
    "mlp_layer_types",
    "indexer_types",
    "attn_type_list",
    "layers_block_type",
    "no_rope_layers",
    "hybrid_layer_pattern",
    "moe_layer_freq",
    "sparse_attention_freq",
    "attention_layers",
    "attention_chunk_layers",
    "swiglu_limits",
    "block_configs",
    "attention_window",
    "activation_sparsity_pattern",
    "num_attention_heads_per_layer",
    "intermediate_size",
)


def check(context: Context) -> Iterator[Finding]:
    for config in configs(context):
        depth = geometry.layers(config)
        if depth is None or depth.value <= 0:
            continue
        for name in PER_LAYER:
            setting = as_written(config, name)
            if setting is None or setting.pointer is None or not isinstance(setting.value, list) or not setting.value:
                continue
            if len(setting.value) != depth.value and not _is_as_long_as_written(config, depth, setting.value):
                yield _finding(context, config, depth, name, setting.value)
        yield from _nearly_per_layer(context, config, depth)
        yield from _by_default(config, depth)
        yield from _repeated(config, depth)
        yield from _pattern(config, depth)


def _repeated(config: ModelConfig, depth: geometry.Named) -> Iterator[Finding]:
    """GPT-Neo writes the kinds of attention as pairs of a short list and how often it is repeated."""
    setting = as_written(config, "attention_types")
    if not config.is_native or setting is None or setting.pointer is None or not isinstance(setting.value, list):
        return
    total = 0
    for pair in setting.value:
        if not (isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], list) and isinstance(pair[1], int)):
            return
        total += len(pair[0]) * pair[1]
    if total != depth.value:
        yield Finding(
            f"attention_types come to {counted(total, 'layer')}, but {depth.key} is {depth.value}: transformers "
            "refuses the file",
            place(config, "attention_types"),
            (related(config, depth.key),),
        )


def _by_default(config: ModelConfig, depth: geometry.Named) -> Iterator[Finding]:
    """A class whose list is a constant of one size: another number of layers needs a list of its own."""
    setting = config.setting("layer_types")
    if not config.is_native or setting is None or setting.pointer is not None or not isinstance(setting.value, list):
        return
    if not setting.value or len(setting.value) == depth.value or not is_written(config, depth.key):
        return
    yield Finding(
        f"{depth.key} is {depth.value}, but {setting.name} is not given and has {len(setting.value)} entries by "
        f"default: transformers refuses the file; write the {depth.value} layers out",
        place(config, depth.key),
        (related(config, setting.name, f"{setting.name} has {len(setting.value)} entries by default"),),
    )


def _is_as_long_as_written(config: ModelConfig, depth: geometry.Named, values: list[JSONValue]) -> bool:
    """Some classes take both keys in another unit (sublayers) and convert them together."""
    setting = as_written(config, depth.key)
    return setting is not None and setting.pointer is not None and setting.value == len(values)


MANY = 8
SUGGESTS_LAYERS = ("layer", "block", "types", "ratios", "pattern", "freq")


def _nearly_per_layer(context: Context, config: ModelConfig, depth: geometry.Named) -> Iterator[Finding]:
    """A list this module does not know whose name and length say that it has an entry per layer, but for one."""
    for name, value in written(context.analysis, config).items():
        if not isinstance(value, list) or name in PER_LAYER or depth.value < MANY:
            continue
        difference = len(value) - depth.value
        if difference not in (-1, 1) or difference == mtp_layers(config):
            continue
        if not any(word in name for word in SUGGESTS_LAYERS) or _is_list_of_indices(value):
            continue
        yield Finding(
            f"{name} has {counted(len(value), 'entry', 'entries')} for {counted(depth.value, 'layer')}: one too "
            f"{'few' if difference < 0 else 'many'}?",
            place(config, name),
            (related(config, depth.key),),
            severity="info",
        )


def _is_list_of_indices(values: list[JSONValue]) -> bool:
    """Rising whole numbers name layers, they do not describe them one by one."""
    numbers = [value for value in values if isinstance(value, int) and not isinstance(value, bool)]
    return len(numbers) == len(values) and all(left < right for left, right in pairwise(numbers))


def _finding(
    context: Context, config: ModelConfig, depth: geometry.Named, name: str, values: list[JSONValue]
) -> Finding:
    extra = len(values) - depth.value
    mtp = mtp_layers(config)
    others = [related(config, depth.key)]
    severity: Severity | None = None if config.is_native else "warning"
    message = f"{name} has {counted(len(values), 'entry', 'entries')} for {counted(depth.value, 'layer')}"
    if extra > 0 and extra == mtp:
        severity = "warning"
        message += (
            f": the last {extra} belong to the {counted(mtp, 'multi-token-prediction layer')}, which transformers 5 "
            "refuses "
            "or crops; engines that draft with them need all entries"
        )
        others.append(
            next(
                related(config, key)
                for key in ("num_nextn_predict_layers", "num_mtp_layers", "num_mtp_modules", "mtp_num_hidden_layers")
                if config.is_set(key)
            )
        )
        return Finding(
            message,
            place(config, name),
            tuple(others),
            _trim(context, config, name, depth.value),
            severity=severity,
        )
    if extra > 0:
        message += f": {extra} too many, so the two keys describe different models"
        fixes = _trim(context, config, name, depth.value)
    else:
        message += f": {counted(-extra, 'entry is', 'entries are')} missing, building layer {len(values)} fails"
        fixes = _extend(context, config, name, values, depth.value)
    return Finding(message, place(config, name), tuple(others), fixes, severity=severity)


def _trim(context: Context, config: ModelConfig, name: str, length: int) -> tuple[Fix, ...]:
    edits = truncate(context.analysis.document, pointer(config, name), length)
    return combined(f"keep the first {length} entries", "unsafe", edits)


def _extend(context: Context, config: ModelConfig, name: str, values: list[JSONValue], length: int) -> tuple[Fix, ...]:
    """Repeat the list's own period; without one, its last entry."""
    missing = length - len(values)
    if missing > 64:
        return ()
    period = next(
        (
            size
            for size in range(1, len(values) // 2 + 1)
            if all(values[at] == values[at % size] for at in range(len(values)))
        ),
        None,
    )
    added = [values[(len(values) + at) % period] if period else values[-1] for at in range(missing)]
    where = pointer(config, name)
    document = context.analysis.document
    edits = [insert_element(document, where, len(values), value) for value in added]
    how = f"its period of {period}" if period and period > 1 else "its last entry"
    from neurarch_schemas.documents.json_edits import merged

    return combined(f"repeat {how} up to {length} entries", "unsafe", merged([edit for part in edits for edit in part]))


def _pattern(config: ModelConfig, depth: geometry.Named) -> Iterator[Finding]:
    """A string with one letter per layer."""
    setting = as_written(config, "hybrid_override_pattern")
    if setting is None or setting.pointer is None or not isinstance(setting.value, str):
        return
    letters = setting.value.replace("|", "")
    if letters and len(letters) != depth.value and any(key.pointer for key in (config.setting(depth.key),) if key):
        yield Finding(
            f"hybrid_override_pattern has {len(letters)} letters for {counted(depth.value, 'layer')}",
            place(config, "hybrid_override_pattern"),
            (related(config, depth.key),),
            severity="warning",
        )
