"""Tables that rules read: every model type in them exists, has the key, and keeps to them by default."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import neurarch_rules.facts
from neurarch_rules.facts.allowed import guess, requirement
from neurarch_rules.facts.data import facts
from neurarch_schemas.catalogue.load import config_type, index

FOLDER = Path(neurarch_rules.facts.__file__).parent


def known(model_type: str) -> set[str]:
    record = config_type(model_type)
    assert record is not None, f"transformers has no model type {model_type}"
    return {*record.known_names, *record.attributes}


def typed_keys() -> Iterator[tuple[str, str]]:
    """(model type, key) of every entry that names both."""
    for key, entries in facts("choices")["keys"].items():
        named = [entry for entry in entries if entry["types"] != "*" and not entry.get("unread")]
        yield from ((name, key) for entry in named for name in entry["types"])
    for pair in facts("paired_sizes")["pairs"]:
        yield from ((name, key) for name in pair["types"] for key in (pair["left"], pair["right"]))
    for pair in facts("divisible")["pairs"]:
        yield from ((name, key) for name in pair["types"] for key in (pair["value"], pair["by"]))
    for group in facts("parallel_lists")["groups"]:
        keys = [*group["lists"], *([group["count"]] if "count" in group else [])]
        yield from ((name, key) for name in group.get("types", ()) for key in keys)
    for name in facts("preprocessing")["image_size"]:
        yield name, "image_size"


@pytest.mark.parametrize(("model_type", "key"), sorted(set(typed_keys())))
def test_a_named_type_has_the_key(model_type: str, key: str) -> None:
    if key == "image_size" and config_type(model_type).nested:  # type: ignore[union-attr]  # composites hold it inside
        return
    assert key in known(model_type)


@pytest.mark.parametrize(
    ("model_type", "key"),
    [
        (name, key)
        for key, entries in facts("choices")["keys"].items()
        for entry in entries
        if entry.get("unread")
        for name in entry["types"]
    ],
)
def test_a_key_called_unread_is_none_of_the_class(model_type: str, key: str) -> None:
    assert key not in known(model_type)


@pytest.mark.parametrize("pair", facts("tower_widths")["pairs"], ids=lambda pair: pair["types"][0])
def test_towers_exist(pair: Mapping[str, Any]) -> None:
    for name in pair["types"]:
        for path in (pair["left"], pair["right"]):
            inner = name
            for key in path[:-1]:
                record = config_type(inner)
                assert record is not None
                assert key in record.nested, f"{inner} has no {key}"
                inner = record.nested[key].record or record.nested[key].model_type
            assert path[-1] in known(inner)


def test_defaults_are_among_the_choices() -> None:
    for key, entries in facts("choices")["keys"].items():
        for entry in entries:
            for name in entry["types"] if entry["types"] != "*" else index()["types"]:
                record = config_type(name)
                value = None if record is None else record.resolved.get(key)
                if isinstance(value, str) or entry.get("any"):
                    assert requirement(value, entry) is None, f"{name}: {key}"


def test_requirements() -> None:
    assert requirement(None, {"one_of": [1]}) is None
    assert requirement(True, {"one_of": [1]}) == "1"
    assert requirement(6, {"type": ["float"]}) == "a number with a decimal point"
    assert requirement("pissa_niter_4", {"one_of": ["pissa"], "prefixes": ["pissa_niter_"]}) is None
    assert requirement("128x128", {"sizes": 2}) is None
    assert requirement([128, 0], {"sizes": 2}) == "a list of 2 positive whole numbers"
    assert requirement(1.0, {"above": 0, "below": 1}) == "above 0 and below 1"
    assert guess("pack_quantized", {"one_of": ["dense", "pack-quantized"]}) == "pack-quantized"
    assert guess(3, {"one_of": ["dense"]}) is None


TORCH = "torch_layers"
"""The arguments of torch's layers, by the layer's name alone."""


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.json") if path.stem != TORCH))
def test_every_table_names_its_source(name: str) -> None:
    assert facts(name)["source"]
