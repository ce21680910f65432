"""Typical mistakes in published files, drawn anew in each run: what share of each kind is noticed."""

from __future__ import annotations

import copy
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from neurarch_rules.engine.analyse import analyse_text
from neurarch_rules.engine.options import Options
from neurarch_rules.engine.run import run
from neurarch_rules.facts import published
from tests.rules import corpus

pytestmark = pytest.mark.skipif(not corpus.SHARED.exists(), reason="the corpus is not beside the repository")

LEAST_SHARE = 0.8
LETTERS = "abcdefghijklmnopqrstuvwxyz"
SIZES = ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "vocab_size")
PER_LAYER = (
    "layer_types",
    "mlp_layer_types",
    "layers_block_type",
    "attn_type_list",
    "moe_layer_freq",
    "no_rope_layers",
)
Data = dict[str, Any]
Mistake = Callable[[Data, random.Random], Iterator[Data]]


def changed(data: Data, change: Callable[[Data], None]) -> Data:
    result = copy.deepcopy(data)
    change(result)
    return result


def typo(data: Data, draw: random.Random) -> Iterator[Data]:
    """Two letters swapped, one left out or one too many in the name of a key the type knows."""
    keys = [key for key in data if len(key) >= 8 and not key.startswith("_") and key not in ("model_type", "auto_map")]
    if not keys:
        return
    key = draw.choice(keys)
    at = draw.randrange(1, len(key) - 1)
    wrong = draw.choice(
        (
            key[:at] + key[at + 1] + key[at] + key[at + 2 :],
            key[:at] + key[at + 1 :],
            key[:at] + draw.choice(LETTERS) + key[at:],
        )
    )
    if wrong not in data:
        yield {wrong if name == key else name: value for name, value in data.items()}


def deleted_size(data: Data, draw: random.Random) -> Iterator[Data]:
    keys = [key for key in SIZES if key in data]
    if len(keys) >= 3 and "transformers_version" in data:
        key = draw.choice(keys)
        yield changed(data, lambda result: result.pop(key))


def deleted_attention_size(data: Data, draw: random.Random) -> Iterator[Data]:
    """Of a text model in a composite any size; only where the class builds something else without it."""
    text = data.get("text_config")
    places: list[tuple[str | None, str]] = [(None, key) for key in ("num_key_value_heads", "head_dim") if key in data]
    if isinstance(text, dict):
        places += [("text_config", key) for key in (*SIZES, "num_key_value_heads", "head_dim") if key in text]
    draw.shuffle(places)
    for owner, key in places:
        wrong = copy.deepcopy(data)
        (wrong if owner is None else wrong[owner]).pop(key)
        if total(wrong) not in (None, total(data)):
            yield wrong
            return


def total(data: Data) -> int | None:
    analysis = analyse_text("config.json", json.dumps(data))
    return None if analysis is None or analysis.parameters is None else analysis.parameters.total


def list_off_by_one(data: Data, draw: random.Random) -> Iterator[Data]:
    keys = [key for key in PER_LAYER if isinstance(data.get(key), list) and len(data[key]) > 1]
    if keys:
        key = draw.choice(keys)
        yield changed(data, lambda result: result[key].pop())


def kv_heads_that_do_not_divide(data: Data, draw: random.Random) -> Iterator[Data]:
    heads, kv_heads = data.get("num_attention_heads"), data.get("num_key_value_heads")
    if isinstance(heads, int) and isinstance(kv_heads, int) and "kv_lora_rank" not in data:
        wrong = [count for count in range(2, heads) if heads % count]
        if wrong:
            count = draw.choice(wrong)
            yield changed(data, lambda result: result.update(num_key_value_heads=count))


def kv_heads_halved(data: Data, draw: random.Random) -> Iterator[Data]:
    """A sound model, but not the published one any more."""
    owners = [owner for owner in (None, "text_config", "language_config", "llm_config") if has_groups(data, owner)]
    if owners:
        owner = draw.choice(owners)

        def halve(result: Data) -> None:
            config = result if owner is None else result[owner]
            config["num_key_value_heads"] //= 2

        yield changed(data, halve)


def has_groups(data: Data, owner: str | None) -> bool:
    config = data if owner is None else data.get(owner)
    count = config.get("num_key_value_heads") if isinstance(config, dict) else None
    return isinstance(count, int) and count > 1


def one_level_up(data: Data, draw: random.Random) -> Iterator[Data]:
    text = data.get("text_config")
    own = [key for key in (*SIZES, "rms_norm_eps", "head_dim", "hidden_act") if isinstance(text, dict) and key in text]
    own = [key for key in own if key not in data]
    if own:
        key = draw.choice(own)
        yield changed(data, lambda result: result.update({key: result["text_config"].pop(key)}))


def into_the_rope_block(data: Data, draw: random.Random) -> Iterator[Data]:
    keys = [key for key in (*SIZES, "use_cache", "tie_word_embeddings") if key in data]
    if isinstance(data.get("rope_scaling"), dict) and keys:
        key = draw.choice(keys)
        yield changed(data, lambda result: result["rope_scaling"].update({key: result.pop(key)}))


def number_as_text(data: Data, draw: random.Random) -> Iterator[Data]:
    keys = [key for key in SIZES if isinstance(data.get(key), int)]
    if keys:
        key = draw.choice(keys)
        yield changed(data, lambda result: result.update({key: str(result[key])}))


def token_beyond_the_vocabulary(data: Data, draw: random.Random) -> Iterator[Data]:
    keys = [key for key in ("eos_token_id", "bos_token_id", "pad_token_id") if isinstance(data.get(key), int)]
    if keys and isinstance(data.get("vocab_size"), int):
        key = draw.choice(keys)
        yield changed(data, lambda result: result.update({key: result["vocab_size"] + 7}))


MISTAKES: tuple[Mistake, ...] = (
    typo,
    deleted_size,
    deleted_attention_size,
    list_off_by_one,
    kv_heads_that_do_not_divide,
    kv_heads_halved,
    one_level_up,
    into_the_rope_block,
    number_as_text,
    token_beyond_the_vocabulary,
)


def findings(name: str, data: Data) -> set[tuple[str, str | None]]:
    analysis = analyse_text(name, json.dumps(data, indent=2))
    if analysis is None:
        return set()
    return {(item.rule, item.place.pointer) for item in run(analysis, Options()).findings if item.severity != "hint"}


def test_most_mistakes_of_each_kind_are_noticed() -> None:
    seed = random.randrange(10**9)
    draw = random.Random(seed)
    tried: Counter[str] = Counter()
    noticed: Counter[str] = Counter()
    missed: dict[str, list[str]] = {}
    for name, real, text in corpus.published():
        data = json.loads(text) if len(text) < 100_000 and real == "config.json" else None
        if not isinstance(data, dict) or "model_type" not in data:
            continue
        analysis = analyse_text(real, text)
        if analysis is None or analysis.config is None or not analysis.config.is_native:
            continue
        before = findings(real, data)
        for mistake in MISTAKES:
            for wrong in mistake(data, draw):
                tried[mistake.__name__] += 1
                if findings(real, wrong) - before:
                    noticed[mistake.__name__] += 1
                else:
                    missed.setdefault(mistake.__name__, []).append(name)
    shares = {kind: round(noticed[kind] / tried[kind], 2) for kind in tried}
    print(seed, shares)
    assert {kind: share for kind, share in shares.items() if share < LEAST_SHARE} == {}, (seed, shares, missed)
    assert set(tried) == {mistake.__name__ for mistake in MISTAKES}


def test_most_halved_kv_heads_are_noticed_without_having_seen_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """As above with a table of published models from which all is left out that only these very files told."""
    told_elsewhere = tuple(line for line in published._lines() if not line.endswith("\tconfig.json"))
    monkeypatch.setattr(published, "_lines", lambda: told_elsewhere)
    published.with_layers.cache_clear()
    draw, tried, missed = random.Random(0), 0, []
    for name, real, text in corpus.published():
        data = json.loads(text) if len(text) < 100_000 and real == "config.json" else None
        if not isinstance(data, dict) or "model_type" not in data:
            continue
        for wrong in kv_heads_halved(data, draw):
            tried += 1
            if not findings(real, wrong) - findings(real, data):
                missed.append(name)
    published.with_layers.cache_clear()
    print(f"{tried - len(missed)} of {tried}")
    assert len(missed) <= (1 - LEAST_SHARE) * tried, missed
