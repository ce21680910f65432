"""The quick type check agrees with validating the catalogue's schemas, on real and on damaged configs."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import pytest
from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend
from referencing import Registry, Resource
from tests.config.support import REAL_CONFIGS, lines

from neurarch_schemas.catalogue.load import config_type, read_data, schema
from neurarch_schemas.config.check_types import accepts, check_types, describe
from neurarch_schemas.config.read import read_config
from neurarch_schemas.config.resolve import escape

BASE = Resource.from_contents(read_data("_base.json"))
WRONG: tuple[Any, ...] = ("text", 3, -1.5, 2.0, True, None, [], ["a"], [1, 2], {}, {"a": 1}, [None], [[1]])


def fraction(_: Any, wanted: bool, value: Any, __: Any) -> Iterator[ValidationError]:
    """The keyword of ours: a whole number is no value of a key declared as a fraction."""
    if wanted and type(value) is int:
        yield ValidationError(f"{value} is a whole number")


PYTHON = Draft202012Validator.TYPE_CHECKER.redefine("integer", lambda _, value: type(value) is int)
STRICT = extend(Draft202012Validator, {"x-fraction": fraction}, type_checker=PYTHON)


@cache
def validator(name: str) -> Any:
    return STRICT(schema(name) or {}, registry=Registry().with_resource("_base.json", BASE))


def schema_problems(name: str, data: Mapping[str, Any], pointer: str = "") -> Iterator[str]:
    """Pointers of the keys a schema validator rejects, nested configs by the schema of their own type."""
    record = config_type(name)
    if record is None:
        return
    wrong = {error.absolute_path[0] for error in validator(name).iter_errors(data)}
    wrong = {key for key in wrong if record.checks(str(key))}
    yield from (f"{pointer}/{escape(str(key))}" for key in wrong)
    for key, value in data.items():
        nested = record.nested.get(record.synonyms.get(key, key))
        if nested is not None and isinstance(value, dict):
            named = value.get("model_type") if nested.any_type else None
            kind = named if isinstance(named, str) else nested.record or nested.model_type
            yield from schema_problems(kind, value, f"{pointer}/{escape(key)}")


def test_agrees_with_jsonschema_on_damaged_configs() -> None:
    rng = random.Random(0)
    damaged = 0
    for number, (model_type, written, _) in enumerate(lines("resolutions.jsonl.xz")):
        if number % 6 or not written:
            continue
        data = {"model_type": model_type, **json.loads(json.dumps(written))}
        place = data
        for _ in range(3):
            below = [value for value in place.values() if isinstance(value, dict)]
            if below and rng.random() < 0.3:
                place = rng.choice(below)
        if place:
            place[rng.choice(list(place))] = rng.choice(WRONG)
        if not isinstance(data["model_type"], str):
            continue
        found = {problem.pointer for problem in check_types(data)}
        assert found == set(schema_problems(model_type, data)), data
        damaged += bool(found)
    assert damaged > 300


def test_written_configs_that_transformers_accepts_pass() -> None:
    for model_type, written, _ in lines("resolutions.jsonl.xz"):
        assert check_types({"model_type": model_type, **written}) == (), (model_type, written)


@pytest.mark.skipif(not REAL_CONFIGS.is_dir(), reason="published configs are not part of the repository")
def test_published_configs() -> None:
    for path in sorted(REAL_CONFIGS.glob("*.json")):
        data = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(data.get("model_type"), str):
            problems = check_types(data)
            assert {problem.pointer for problem in problems} == set(schema_problems(data["model_type"], data)), (
                path.name
            )
            assert all(" is null, " in problem.message for problem in problems), path.name  # taken before 5.0


def test_messages() -> None:
    (problem,) = check_types({"model_type": "llama", "hidden_size": "4096"})
    assert problem.pointer == "/hidden_size"
    assert problem.message == 'hidden_size is "4096", expected an integer'
    (nested,) = check_types({"model_type": "gemma3", "text_config": {"num_hidden_layers": [1]}})
    assert nested.pointer == "/text_config/num_hidden_layers"
    assert check_types({"model_type": "gpt2", "hidden_size": "a"}) == ()  # a synonym, which transformers lets pass
    (bounded,) = check_types({"model_type": "llama", "initializer_range": 2.0})
    assert bounded.message == "initializer_range is 2.0, expected a number with a decimal point from 0 to 1"
    assert describe({"type": ["integer", "array", "null"], "items": {"type": "integer"}}) == (
        "an integer or a list of integers or null"
    )
    assert describe({"enum": ["cls", "mean"]}) == '"cls" or "mean"'


def test_infinity_as_transformers_writes_it() -> None:
    written = {"model_type": "mamba2", "time_step_limit": [0.0, {"__float__": "Infinity"}]}
    assert check_types(written) == ()
    assert read_config(written).get("time_step_limit") == [0.0, float("inf")]


def test_integers_and_floats() -> None:
    assert accepts({"type": "number"}, 1)
    assert not accepts({"type": "integer"}, 2.0)
    assert not accepts({"type": "integer"}, True)
    assert not accepts({"type": "number"}, False)
    assert not accepts({"enum": [1]}, True)


@pytest.mark.parametrize(
    ("model_type", "key", "value", "refused"),
    [
        ("bert", "return_dict", "yes", False),
        ("bert", "is_encoder_decoder", 1, False),
        ("t5", "is_encoder_decoder", 1, True),
        ("llama", "chunk_size_feed_forward", "a", False),
        ("llama", "transformers_version", 5, False),
        ("llama", "name_or_path", 3, False),
        ("bert", "problem_type", "multi_label", False),
        ("bert", "num_labels", "3", True),
        ("bert", "num_labels", True, False),
        ("llama", "initializer_range", 1, True),
        ("llama", "initializer_range", 1.0, False),
        ("llama", "attention_dropout", 1, False),
        ("mamba2", "time_step_limit", [0, 1], True),
    ],
)
def test_as_transformers_loads(model_type: str, key: str, value: Any, refused: bool) -> None:
    """What ``AutoConfig.from_pretrained`` of transformers 5.24 does with one written key."""
    assert bool(check_types({"model_type": model_type, key: value})) is refused
