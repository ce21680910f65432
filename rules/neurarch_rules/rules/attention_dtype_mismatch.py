from __future__ import annotations

from collections.abc import Iterator, Mapping

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place, Related
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.data import facts
from neurarch_rules.facts.places import configs, written
from neurarch_rules.facts.spelling import closest
from neurarch_rules.facts.words import listed, quoted
from neurarch_schemas.documents.pointer import join_pointer

RULE = RuleInfo(
    name="attention-dtype-mismatch",
    severity="warning",
    category="correctness",
    summary="An attention implementation that does not exist, the class lacks or cannot compute in this dtype",
    needs=("attn_implementation",),
)

KEYS = ("_attn_implementation", "attn_implementation")
FUSED = ("sdpa", "flex_attention", "flash_attention_2", "flash_attention_3", "flash_attention_4")
HALF_ONLY = ("flash_attention_2", "flash_attention_3", "flash_attention_4")


def check(context: Context) -> Iterator[Finding]:
    root = context.analysis.document.data
    for config in configs(context):
        data = written(context.analysis, config)
        for key in KEYS:
            value = data.get(key)
            if not isinstance(value, str) or not value:
                continue
            place = Place(join_pointer(config.pointer, key))
            if value in FUSED and config.is_native and data.get("output_attentions") is True:
                yield Finding(
                    f"{value} never makes the attention matrices that output_attentions asks for: transformers 5 "
                    'refuses the file; write "eager", or output_attentions false',
                    place,
                    (Related(Place(join_pointer(config.pointer, "output_attentions")), "output_attentions is true"),),
                )
            if value in FUSED and not config.pointer and config.is_native and "auto_map" not in data:
                yield from _refused(place, value, config.architecture)
            if value in HALF_ONLY:
                yield from _dtype(data, config.pointer, place, value)
            elif "/" not in value and "|" not in value and isinstance(root, dict) and config.is_native:
                yield from _unknown(place, value)


def _refused(place: Place, value: str, architecture: str) -> Iterator[Finding]:
    kind = "flash_attention_2" if value in HALF_ONLY else value
    if architecture in facts("attention_support")["without"][kind]:
        yield Finding(
            f'{architecture} has no code for {value}: transformers refuses to build it; "eager" always works',
            place,
            severity="error",
        )


def _dtype(data: Mapping[str, object], pointer: str, place: Place, value: str) -> Iterator[Finding]:
    for key in ("dtype", "torch_dtype"):
        if data.get(key) in ("float32", "float64"):
            yield Finding(
                f"{value} computes only in float16 and bfloat16, but {key} is {quoted(data[key])}: the first forward "
                "pass "
                'fails or casts; write "bfloat16" or attention "sdpa"',
                place,
                (Related(Place(join_pointer(pointer, key)), f"{key} is {quoted(data[key])}"),),
            )
            return


def _unknown(place: Place, value: str) -> Iterator[Finding]:
    from neurarch_schemas.catalogue.load import enumerations

    known = [str(name) for name in enumerations()["attention_implementations"]]
    guess = None if value in known else closest(value, known)
    if value not in known:
        yield Finding(
            f"transformers has no attention implementation {quoted(value)}"
            + (f": did you mean {quoted(guess)}?" if guess else f"; it has {listed(known)}"),
            place,
        )
