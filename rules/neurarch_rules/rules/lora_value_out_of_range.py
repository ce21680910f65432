from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.places import number, whole_number
from neurarch_rules.facts.words import quoted

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
    task = data.get("task_type")
    if isinstance(task, str) and task not in TASKS:
        yield Finding(f"peft has no task_type {quoted(task)}; it has {', '.join(TASKS)}", Place("/task_type"))
