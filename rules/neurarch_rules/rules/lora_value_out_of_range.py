from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place, Related
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.adapter import base_file
from neurarch_rules.facts.allowed import guess, requirement
from neurarch_rules.facts.data import facts
from neurarch_rules.facts.fixes import replace_value
from neurarch_rules.facts.geometry import Named, layers
from neurarch_rules.facts.places import number, whole_number
from neurarch_rules.facts.words import listed, quoted
from neurarch_schemas.config.read import read_config
from neurarch_schemas.documents.json_value import JSONValue
from neurarch_schemas.documents.pointer import join_pointer

RULE = RuleInfo(
    name="lora-value-out-of-range",
    severity="error",
    category="correctness",
    summary="An adapter setting that peft refuses or that makes the adapter do nothing",
    reads=("adapter_config",),
)

PROMPTS = ("PREFIX_TUNING", "PROMPT_TUNING", "P_TUNING", "MULTITASK_PROMPT_TUNING")


def check(context: Context) -> Iterator[Finding]:
    data = context.analysis.document.data
    if not isinstance(data, dict):
        return
    yield from _values(context, data, facts("adapter")["values"])
    kind = data.get("peft_type")
    if isinstance(kind, str):
        yield from _kind(context, kind)
    elif kind is None and {"r", "lora_alpha", "target_modules"} & data.keys():
        yield Finding("there is no peft_type: peft refuses the file", Place("/peft_type"))
    yield from _other_kinds(data, kind)
    if (kind or "LORA") != "LORA":
        return
    yield from _values(context, data, facts("adapter")["lora_values"])
    for name in ("r", "lora_alpha"):
        if name in data and data[name] is None:
            yield Finding(f"{name} is null: the scaling lora_alpha / r cannot be computed", Place(f"/{name}"))
    if isinstance(data.get("modules_to_save"), str):
        yield Finding(
            "modules_to_save must be a list: peft goes through the letters of a name and trains every module that "
            "ends with one of them",
            Place("/modules_to_save"),
            severity="warning",
        )
    alpha = number(data.get("lora_alpha"))
    if alpha is not None and alpha == 0:
        yield Finding("lora_alpha is 0: the update is scaled to nothing", Place("/lora_alpha"), severity="warning")
    yield from _ranks(data.get("rank_pattern"))
    yield from _together(data)
    base = base_file(context.analysis)
    depth = None if base is None else layers(read_config(base[1]))
    if base is not None and depth is not None:
        yield from _layers(data.get("layers_to_transform"), base[0], depth)
        yield from _replication(data.get("layer_replication"), base[0], depth)
    if base is not None:
        yield from _tokens(data.get("trainable_token_indices"), *base)


def _values(
    context: Context, data: Mapping[str, JSONValue], table: Mapping[str, Mapping[str, Any]]
) -> Iterator[Finding]:
    for name, allowed in table.items():
        value = data.get(name)
        must = requirement(value, allowed)
        if must is None:
            continue
        meant, pointer = guess(value, allowed), join_pointer("", name)
        yield Finding(
            f"{name} must be {must}, not {quoted(value)}: peft refuses it",
            Place(pointer),
            fixes=replace_value(context.analysis, pointer, meant, f'{name} = "{meant}"', "unsafe") if meant else (),
        )


def _kind(context: Context, kind: str) -> Iterator[Finding]:
    known = facts("adapter")["types"]
    if kind in known:
        return
    meant = guess(kind, {"one_of": known})
    yield Finding(
        f"peft 0.21 has no peft_type {quoted(kind)}" + (f": did you mean {quoted(meant)}?" if meant else ""),
        Place("/peft_type"),
        fixes=replace_value(context.analysis, "/peft_type", meant, f'peft_type = "{meant}"', "unsafe") if meant else (),
        severity=None if meant else "warning",
    )


def _other_kinds(data: Mapping[str, JSONValue], kind: JSONValue) -> Iterator[Finding]:
    if kind in PROMPTS and data.get("num_virtual_tokens") is None:
        yield Finding(f"{kind} needs num_virtual_tokens, how long the learned prompt is", Place("/num_virtual_tokens"))
    inner, outer = data.get("feedforward_modules"), data.get("target_modules")
    if kind == "IA3" and isinstance(inner, list) and isinstance(outer, list):
        beyond = [name for name in inner if name not in outer]
        if beyond:
            yield Finding(
                f"feedforward_modules names {listed(beyond)}, which target_modules does not: peft refuses the file",
                Place("/feedforward_modules"),
                (Related(Place("/target_modules"), "the modules that are adapted"),),
            )


def _ranks(pattern: JSONValue) -> Iterator[Finding]:
    for name, value in pattern.items() if isinstance(pattern, dict) else ():
        rank = whole_number(value)
        if rank is None or rank < 1:
            yield Finding(
                f"the rank of {name} is {quoted(value)}: it must be a whole number, at least 1",
                Place(join_pointer("/rank_pattern", name)),
            )


def _together(data: Mapping[str, JSONValue]) -> Iterator[Finding]:
    """Settings that peft takes only with another one, or never with it."""
    chosen = data.get("layers_to_transform")
    if isinstance(data.get("target_modules"), str) and chosen is not None:
        yield Finding(
            "layers_to_transform works with a list of target_modules, not with one pattern: peft refuses the two "
            "together; choose the layers in the pattern",
            Place("/layers_to_transform"),
            (Related(Place("/target_modules"), "one pattern"),),
        )
    if data.get("layers_pattern") and chosen is None:
        yield Finding(
            "layers_pattern says how the list of layers is called and needs layers_to_transform: peft refuses it alone",
            Place("/layers_pattern"),
        )
    if data.get("use_dora") is True and data.get("megatron_config"):
        yield Finding(
            "DoRA does not work with megatron layers: peft refuses the two together",
            Place("/use_dora"),
            (Related(Place("/megatron_config"), "megatron layers"),),
        )


def _layers(value: JSONValue, file: str, depth: Named) -> Iterator[Finding]:
    """Layer numbers beyond the base model's last layer adapt nothing."""
    numbers = [
        number for item in (value if isinstance(value, list) else [value]) if (number := whole_number(item)) is not None
    ]
    beyond = [number for number in numbers if number >= depth.value]
    if beyond:
        yield Finding(
            f"layers_to_transform names layer {max(beyond)}, but the base model has layers 0 to {depth.value - 1}: "
            + ("nothing is adapted and peft refuses" if beyond == numbers else "that entry does nothing"),
            Place("/layers_to_transform"),
            (Related(Place("", file=file), f"{depth.key} is {depth.value}"),),
            severity=None if beyond == numbers else "warning",
        )


def _replication(value: JSONValue, file: str, depth: Named) -> Iterator[Finding]:
    for at, span in enumerate(value if isinstance(value, list) else ()):
        ends = [whole_number(item) for item in span] if isinstance(span, list) else []
        if len(ends) == 2 and ends[1] is not None and ends[1] > depth.value:
            yield Finding(
                f"layer_replication copies layers up to {ends[1] - 1}, but the base model has layers 0 to "
                f"{depth.value - 1}",
                Place(f"/layer_replication/{at}"),
                (Related(Place("", file=file), f"{depth.key} is {depth.value}"),),
            )


def _tokens(value: JSONValue, file: str, base: Mapping[str, JSONValue]) -> Iterator[Finding]:
    """Token ids are a list, or a list for each embedding."""
    text = base.get("text_config")
    rows = whole_number(base.get("vocab_size") or (text.get("vocab_size") if isinstance(text, dict) else None))
    lists = list(value.values()) if isinstance(value, dict) else [value]
    ids = [
        number
        for part in lists
        if isinstance(part, list)
        for item in part
        if (number := whole_number(item)) is not None
    ]
    if rows is not None and ids and max(ids) >= rows > 0:
        yield Finding(
            f"trainable_token_indices names token {max(ids):,}, but the embedding of the base has {rows:,} rows",
            Place("/trainable_token_indices"),
            (Related(Place("/vocab_size", file=file), f"vocab_size is {rows:,}"),),
        )
