from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place, Related
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.adapter import base_file
from neurarch_rules.facts.geometry import layers
from neurarch_rules.facts.places import number, whole_number
from neurarch_rules.facts.words import quoted
from neurarch_schemas.config.read import read_config

RULE = RuleInfo(
    name="lora-value-out-of-range",
    severity="error",
    category="correctness",
    summary="A LoRA setting that peft refuses or that makes the adapter do nothing",
    reads=("adapter_config",),
)

TASKS = ("SEQ_CLS", "SEQ_2_SEQ_LM", "CAUSAL_LM", "TOKEN_CLS", "QUESTION_ANS", "FEATURE_EXTRACTION")


def check(context: Context) -> Iterator[Finding]:
    data = context.analysis.document.data
    if not isinstance(data, dict) or data.get("peft_type", "LORA") != "LORA":
        return
    rank = whole_number(data.get("r"))
    if rank is not None and rank <= 0:
        yield Finding(f"r is {rank}: the rank of the update must be at least 1", Place("/r"))
    alpha = number(data.get("lora_alpha"))
    if alpha is not None and alpha == 0:
        yield Finding("lora_alpha is 0: the update is scaled to nothing", Place("/lora_alpha"), severity="warning")
    dropout = number(data.get("lora_dropout"))
    if dropout is not None and not 0 <= dropout < 1:
        yield Finding(f"lora_dropout {dropout:g} is a probability below 1", Place("/lora_dropout"))
    bias = data.get("bias")
    if isinstance(bias, str) and bias not in ("none", "all", "lora_only"):
        yield Finding(f'bias is "none", "all" or "lora_only", not {quoted(bias)}', Place("/bias"))
    yield from _layers(context, data.get("layers_to_transform"))
    task = data.get("task_type")
    if isinstance(task, str) and task not in TASKS:
        yield Finding(f"peft has no task_type {quoted(task)}; it has {', '.join(TASKS)}", Place("/task_type"))


def _layers(context: Context, value: object) -> Iterator[Finding]:
    """Layer numbers beyond the base model's last layer adapt nothing."""
    base = base_file(context.analysis)
    numbers = [
        number for item in (value if isinstance(value, list) else [value]) if (number := whole_number(item)) is not None
    ]
    if base is None or not numbers:
        return
    depth = layers(read_config(base[1]))
    if depth is not None and max(numbers) >= depth.value:
        yield Finding(
            f"layers_to_transform names layer {max(numbers)}, but the base model has layers 0 to {depth.value - 1}",
            Place("/layers_to_transform"),
            (Related(Place("", file=base[0]), f"{depth.key} is {depth.value}"),),
        )
