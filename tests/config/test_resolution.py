"""Configs in which a few keys are written, resolved by transformers and by us (tools/record_resolutions.py)."""

from __future__ import annotations

from collections import Counter

from tests.config.support import differences, lines

from neurarch_schemas.catalogue.load import config_type, index
from neurarch_schemas.config.derived import files
from neurarch_schemas.config.read import read_config

# transformers cannot construct these without a package (timm) or an argument of their own.
NOT_RECORDED = {"gemma4_assistant", "nougat", "timm_wrapper", "gemma3n_vision"}
# Values that are long constants of the class (vocabulary and detector defaults) and no part of any architecture.
CONSTANTS = {("esm", "vocab_list"), ("layoutxlm", "detectron2_config_args"), ("layoutlmv2", "detectron2_config_args")}


def test_every_recorded_config_resolves_as_in_transformers() -> None:
    wrong: list[str] = []
    count = 0
    for model_type, written, changed in lines("resolutions.jsonl.xz"):
        record = config_type(model_type)
        assert record is not None
        config = read_config({"model_type": model_type, **written})
        count += 1
        wrong += [
            f"{model_type} {difference[:300]} from {written}"
            for difference in differences(config, record, written, changed)
            if (model_type, difference.split(":")[0]) not in CONSTANTS
        ]
    assert count > 10_000
    assert wrong == []


def test_every_model_type_is_recorded() -> None:
    recorded = Counter(model_type for model_type, _, _ in lines("resolutions.jsonl.xz"))
    assert set(index()["types"]) - set(recorded) == NOT_RECORDED
    assert min(recorded.values()) >= 8


def test_the_index_of_derivations_is_complete() -> None:
    missing = set()
    for model_type in index()["types"]:
        record = config_type(model_type)
        assert record is not None
        if record.derived_by is not None and record.derived_by not in files():
            missing.add(record.derived_by)
    assert missing == UNCOVERED


# They fill in the settings of an object detector that transformers does not build itself.
UNCOVERED = {"LayoutLMv2Config", "LayoutXLMConfig"}
