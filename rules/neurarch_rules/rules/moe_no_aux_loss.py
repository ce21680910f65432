from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Fix
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import experts
from neurarch_rules.facts.fixes import set_value
from neurarch_rules.facts.places import as_written, configs, is_written, number, place, related, shown_name
from neurarch_rules.facts.sources import readers
from neurarch_schemas.config.model_config import ModelConfig

RULE = RuleInfo(
    name="moe-no-aux-loss",
    severity="info",
    category="training",
    summary="Nothing balances the experts while training, or the coefficient that should is never used",
    about="file",
)

FLAG = "output_router_logits"
DEFAULT_COEFFICIENT = 0.01
"""As in Switch Transformers (Fedus et al. 2021, section 2.2) and Mixtral's training code."""


def check(context: Context) -> Iterator[Finding]:
    for config in configs(context):
        mixture = experts.total(config)
        if mixture is None or _has_no_experts(context):
            continue
        written = [
            name
            for name in experts.COEFFICIENTS
            if is_written(config, name) and number(_value(config, name)) is not None
        ]
        used = [name for name in written if number(_value(config, name))]
        if used:
            yield from _unused_coefficients(context, config, used)
        elif config.is_native:
            yield from _unbalanced(context, config, mixture.key, mixture.value)


def _has_no_experts(context: Context) -> bool:
    """The tensors are known and none of them is routed: all layers are dense."""
    found = context.analysis.visits
    return bool(found) and not any(visit.module.routing for visit in found)


def _value(config: ModelConfig, name: str) -> object:
    setting = as_written(config, name)
    return None if setting is None else setting.value


def _unused_coefficients(context: Context, config: ModelConfig, names: list[str]) -> Iterator[Finding]:
    is_on = config.get(FLAG) is True
    bias = experts.balanced_by_bias(config) or _bias_buffer(context)
    for name in names:
        setting = as_written(config, name)
        shown = shown_name(setting.pointer or name) if setting else name
        reading = readers(config, name)
        if reading is None:
            continue
        if not reading:
            message = (
                f"{shown} {_value(config, name)} has no effect: no transformers class of {config.model_type} "
                "computes a "
                "load-balancing loss, so nothing penalises unequal experts when this model is fine-tuned"
            )
            fixes: tuple[Fix, ...] = ()
        elif not is_on:
            message = (
                f"{shown} {_value(config, name)} is not used while {FLAG} is "
                f"{'false' if config.get(FLAG) is False else 'not true'}: transformers adds the load-balancing loss "
                "only "
                "with it, so fine-tuning lets a few experts take all tokens"
            )
            fixes = _switch_on(context, config)
        else:
            continue
        if bias:
            message += f"; the routing bias ({bias}) does not help, transformers never updates it while training"
        yield Finding(message, place(config, name), (related(config, FLAG),), fixes)


def _unbalanced(context: Context, config: ModelConfig, key: str, count: int) -> Iterator[Finding]:
    if experts.balanced_by_bias(config) or _bias_buffer(context):
        return
    readable = [name for name in experts.COEFFICIENTS if readers(config, name)]
    effective = [name for name in readable if number(config.get(name))]
    if effective and config.get(FLAG) is True:
        return
    if effective:
        name = effective[0]
        message = (
            f"nothing balances the {count} experts: {name} is {config.get(name)} by default, but transformers adds "
            "that "
            f"loss only when {FLAG} is true"
        )
        yield Finding(message, place(config, FLAG), (related(config, key),), _switch_on(context, config))
    elif readable:
        name = readable[0]
        message = f"nothing balances the {count} experts: {name} is {config.get(name)}"
        fixes = set_value(
            context.analysis, config.pointer, name, DEFAULT_COEFFICIENT, f"{name} = {DEFAULT_COEFFICIENT}", "unsafe"
        )
        yield Finding(message, place(config, name), (related(config, key),), fixes)
    else:
        message = (
            f"nothing balances the {count} experts: no transformers class of {config.model_type} has a load-balancing "
            "loss, so fine-tuning needs one in the training code"
        )
        yield Finding(message, place(config, key))


def _switch_on(context: Context, config: ModelConfig) -> tuple[Fix, ...]:
    return set_value(
        context.analysis, config.pointer, FLAG, True, f"{FLAG} = true (adds the loss while training)", "unsafe"
    )


def _bias_buffer(context: Context) -> str | None:
    """A routing bias among the tensors of the model."""
    for visit in context.analysis.visits:
        for tensor in visit.module.tensors:
            if "e_score_correction_bias" in tensor.name or "expert_bias" in tensor.name:
                return tensor.name.rpartition(".")[2]
    return None
