"""Every class that transformers maps to a model type of ours: exactly the recorded tensors, but for a few refused."""

from __future__ import annotations

from typing import Any

import pytest

from neurarch_schemas import architectures
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.read import read_config

from .conftest import expected_tensors, recorded, tensors

REFUSED = (
    "data2vec-vision-Data2VecVisionForSemanticSegmentation",
    "lxmert-LxmertForPreTraining",
    "lxmert-LxmertForQuestionAnswering",
    "sam3_video-Sam3TrackerModel",  # an image model given the config of a video model
    "tipsv2-Tipsv2VisionBackbone",
    "tipsv2_vision_model-Tipsv2VisionBackbone",
)

RECORDS = [record for record in recorded("heads") if record["model_type"] in architectures.families()]


def label(record: dict[str, Any]) -> str:
    return f"{record['model_type']}-{record['architecture']}"


@pytest.mark.parametrize("record", [one for one in RECORDS if label(one) not in REFUSED], ids=label)
def test_tensors(record: dict[str, Any]) -> None:
    assert tensors(architectures.build(read_config(record["config"]))) == expected_tensors(record)


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    record = next(one for one in RECORDS if label(one) == name)
    with pytest.raises(CannotBuild, match="is not known"):
        architectures.build(read_config(record["config"]))
