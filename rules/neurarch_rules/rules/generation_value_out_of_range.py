from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place, Related
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.allowed import requirement
from neurarch_rules.facts.data import facts
from neurarch_rules.facts.places import number, whole_number
from neurarch_rules.facts.words import listed, quoted
from neurarch_schemas.documents.json_value import JSONValue

RULE = RuleInfo(
    name="generation-value-out-of-range",
    severity="error",
    category="correctness",
    summary="A generation setting that generate refuses",
    reads=("generation_config",),
)


CACHES = (
    "static",
    "offloaded_static",
    "sliding_window",
    "hybrid",
    "hybrid_chunked",
    "offloaded_hybrid",
    "offloaded_hybrid_chunked",
    "dynamic",
    "dynamic_full",
    "offloaded",
    "quantized",
    "paged",
    "mamba",
)
"""Names that transformers 4.45 to 5.24 know."""


def check(context: Context) -> Iterator[Finding]:
    data = context.analysis.document.data
    if isinstance(data, dict):
        yield from _types(data)
        yield from _numbers(data)
        yield from _sequences(data)
        yield from _lengths(data)
        yield from _banned(data)
        yield from _biased(data.get("sequence_bias"))


def _types(data: dict[str, JSONValue]) -> Iterator[Finding]:
    for name, allowed in facts("generation")["values"].items():
        value = data.get(name)
        must = requirement(value, allowed)
        if must is not None and not (isinstance(value, float) and value.is_integer() and "integer" in allowed["type"]):
            yield Finding(f"{name} must be {must}, not {quoted(value)}: generate fails with it", Place(f"/{name}"))
    ends = data.get("eos_token_id")
    if isinstance(ends, list) and any(whole_number(item) is None for item in ends):
        yield Finding(f"eos_token_id must be a list of token ids, not {quoted(ends)}", Place("/eos_token_id"))
    if data.get("bad_words_ids") == []:
        yield Finding("bad_words_ids is empty: generate refuses a list without words", Place("/bad_words_ids"))
    mark = data.get("watermarking_config")
    ratio = number(mark.get("greenlist_ratio")) if isinstance(mark, dict) else None
    if ratio is not None and not 0 <= ratio <= 1:
        yield Finding(
            f"greenlist_ratio {ratio:g} is a share of the vocabulary and must lie between 0 and 1: transformers "
            "refuses the file",
            Place("/watermarking_config/greenlist_ratio"),
        )


def _numbers(data: dict[str, JSONValue]) -> Iterator[Finding]:
    sampling = data.get("do_sample") is True
    temperature = number(data.get("temperature"))
    if sampling and temperature is not None and temperature <= 0:
        yield Finding(
            f"temperature {temperature:g} with do_sample: it must be above 0; greedy decoding is do_sample false",
            Place("/temperature"),
            (Related(Place("/do_sample"), "do_sample is true"),),
        )
    for name in ("top_p", "min_p", "typical_p"):
        value = number(data.get(name))
        low_is_fine = name == "min_p"
        if value is not None and (value > 1 or value < 0 or (value == 0 and not low_is_fine and sampling)):
            yield Finding(f"{name} {value:g} is a probability and must lie between 0 and 1", Place(f"/{name}"))
    top_k = data.get("top_k")
    if number(top_k) is not None and sampling and (whole_number(top_k) is None or (whole_number(top_k) or 0) < 0):
        yield Finding(f"top_k {quoted(top_k)} must be a whole number above 0 (0 switches it off)", Place("/top_k"))
    for name in ("repetition_penalty", "encoder_repetition_penalty"):
        penalty = number(data.get(name))
        if penalty is not None and penalty <= 0:
            yield Finding(f"{name} {penalty:g} must be above 0 (1 changes nothing)", Place(f"/{name}"))
    new = whole_number(data.get("max_new_tokens"))
    if new is not None and new <= 0:
        yield Finding(f"max_new_tokens {new} leaves nothing to generate", Place("/max_new_tokens"))
    cache = data.get("cache_implementation")
    if isinstance(cache, str) and cache not in CACHES:
        yield Finding(f"there is no cache_implementation {quoted(cache)}", Place("/cache_implementation"))
    stopping = data.get("early_stopping")
    if stopping is not None and stopping not in (True, False, "never"):
        yield Finding(f'early_stopping is true, false or "never", not {quoted(stopping)}', Place("/early_stopping"))


def _sequences(data: dict[str, JSONValue]) -> Iterator[Finding]:
    wanted, beams = whole_number(data.get("num_return_sequences")), whole_number(data.get("num_beams")) or 1
    if wanted is None or wanted <= 1:
        return
    if beams == 1 and data.get("do_sample") is not True:
        yield Finding(
            f"{wanted} sequences from greedy decoding, which has only one: sample or use {wanted} beams",
            Place("/num_return_sequences"),
            (Related(Place("/do_sample"), "do_sample is not true"),),
        )
    elif beams > 1 and wanted > beams:
        yield Finding(
            f"{wanted} sequences from {beams} beams: num_return_sequences may be at most num_beams",
            Place("/num_return_sequences"),
            (Related(Place("/num_beams"), f"num_beams is {beams}"),),
        )


def _lengths(data: dict[str, JSONValue]) -> Iterator[Finding]:
    for low, high in (("min_length", "max_length"), ("min_new_tokens", "max_new_tokens")):
        least, most = whole_number(data.get(low)), whole_number(data.get(high))
        if least is not None and most is not None and least > most > 0:
            yield Finding(
                f"{low} {least} is above {high} {most}: the end token is suppressed until the text is cut",
                Place(f"/{low}"),
                (Related(Place(f"/{high}"), f"{high} is {most}"),),
                severity="warning",
            )
    groups, beams = whole_number(data.get("num_beam_groups")), whole_number(data.get("num_beams"))
    if groups is not None and groups > 1 and beams is not None and beams % groups:
        yield Finding(
            f"{beams} beams cannot be split into {groups} groups",
            Place("/num_beam_groups"),
            (Related(Place("/num_beams"), f"num_beams is {beams}"),),
        )


def _banned(data: dict[str, JSONValue]) -> Iterator[Finding]:
    """Tokens that may never be generated, and those that have to be."""
    words = data.get("bad_words_ids")
    for at, word in enumerate(words if isinstance(words, list) else []):
        if not isinstance(word, list) or any(
            (whole_number(item) or 0) < 0 or whole_number(item) is None for item in word
        ):
            yield Finding(
                f"bad_words_ids lists words, each a list of token ids, not {quoted(word)}: generate refuses it",
                Place(f"/bad_words_ids/{at}"),
            )
            break
    never = _tokens(data.get("suppress_tokens"))
    for name in ("forced_bos_token_id", "forced_eos_token_id", "eos_token_id"):
        tokens = _tokens(data.get(name))
        if not tokens or not tokens <= never:
            continue
        forced = name != "eos_token_id"
        yield Finding(
            f"{name} {listed(sorted(tokens))} is suppressed, and "
            + ("forced: no token is left, generate refuses the file" if forced else "so no text ever ends by itself"),
            Place(f"/{name}"),
            (Related(Place("/suppress_tokens"), "suppressed here"),),
            severity="error" if forced else "warning",
        )


def _biased(entries: JSONValue) -> Iterator[Finding]:
    """JSON has no tuples for keys, so pairs of a word and its bias in a list are the one way to write them."""
    if entries is None:
        return
    if not isinstance(entries, list) or not entries:
        yield Finding(
            f"sequence_bias must be a list of pairs [[token ids], bias], not {quoted(entries)}: generate refuses it",
            Place("/sequence_bias"),
        )
        return
    for at, entry in enumerate(entries):
        word, bias = entry[:2] if isinstance(entry, list) and len(entry) > 1 else (None, None)
        tokens = [whole_number(item) for item in word] if isinstance(word, list) else [None]
        if not isinstance(bias, float) or any(token is None or token < 0 for token in tokens):
            yield Finding(
                f"sequence_bias lists pairs of a word and a number with a decimal point, as in [[5, 6], -2.0], not "
                f"{quoted(entry)}: generate refuses it",
                Place(f"/sequence_bias/{at}"),
            )
            break


def _tokens(value: JSONValue) -> set[int]:
    items = value if isinstance(value, list) else [value]
    return {token for item in items if (token := whole_number(item)) is not None}
