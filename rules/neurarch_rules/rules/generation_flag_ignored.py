from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place, Related
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.fixes import set_value
from neurarch_rules.facts.places import whole_number
from neurarch_rules.facts.words import quoted
from neurarch_schemas.documents.json_value import JSONValue

RULE = RuleInfo(
    name="generation-flag-ignored",
    severity="warning",
    category="correctness",
    summary="A generation flag that the chosen decoding mode never reads",
    reads=("generation_config",),
    aliases=("generation-contradiction",),
)

SAMPLING: dict[str, tuple[JSONValue, ...]] = {
    "temperature": (1.0,),
    "top_p": (1.0,),
    "top_k": (50,),
    "min_p": (),
    "top_h": (),
    "typical_p": (1.0,),
    "epsilon_cutoff": (0.0,),
    "eta_cutoff": (0.0,),
}
"""Flags of sampling with the values that change nothing."""
BEAM: dict[str, tuple[JSONValue, ...]] = {
    "early_stopping": (False,),
    "length_penalty": (1.0,),
    "diversity_penalty": (0.0,),
    "num_beam_groups": (1,),
}
EXTRA_OUTPUT = ("output_attentions", "output_hidden_states", "output_scores", "output_logits")


def check(context: Context) -> Iterator[Finding]:
    data = context.analysis.document.data
    if not isinstance(data, dict):
        return
    if data.get("do_sample") is not True:
        for name in _set(data, SAMPLING):
            yield Finding(
                f"{name} {quoted(data[name])} is ignored: do_sample is not true, so decoding is greedy; "
                "save_pretrained refuses "
                "such a file",
                Place(f"/{name}"),
                (Related(Place("/do_sample"), _state(data, "do_sample")),),
                set_value(context.analysis, "", "do_sample", True, "do_sample = true", "unsafe"),
            )
    beams = data.get("num_beams")
    if beams is None or beams == 1:
        for name in _set(data, BEAM):
            yield Finding(
                f"{name} {quoted(data[name])} is ignored: it belongs to beam search, and num_beams is "
                f"{'not given' if beams is None else 1}; save_pretrained refuses such a file",
                Place(f"/{name}"),
                (Related(Place("/num_beams"), _state(data, "num_beams")),),
            )
    if data.get("return_dict_in_generate") is not True:
        for name in EXTRA_OUTPUT:
            if data.get(name) is True:
                yield Finding(
                    f"{name} is ignored: return_dict_in_generate is not true",
                    Place(f"/{name}"),
                    (Related(Place("/return_dict_in_generate"), _state(data, "return_dict_in_generate")),),
                )
    if data.get("use_cache") is False:
        for name in ("cache_implementation", "cache_config"):
            if data.get(name) is not None:
                yield Finding(
                    f"{name} {quoted(data[name])} is ignored: use_cache is false",
                    Place(f"/{name}"),
                    (Related(Place("/use_cache"), "use_cache is false"),),
                )
    length, new = whole_number(data.get("max_length")), whole_number(data.get("max_new_tokens"))
    if length is not None and new is not None:
        yield Finding(
            f"max_length {length} is ignored: max_new_tokens {new} takes precedence",
            Place("/max_length"),
            (Related(Place("/max_new_tokens"), f"max_new_tokens is {new}"),),
            severity="info",
        )


def _set(data: dict[str, JSONValue], flags: dict[str, tuple[JSONValue, ...]]) -> list[str]:
    return [name for name, neutral in flags.items() if data.get(name) is not None and data[name] not in neutral]


def _state(data: dict[str, JSONValue], name: str) -> str:
    return f"{name} is {quoted(data[name])}" if name in data else f"{name} is not given"
