"""The stages a backbone gives out: what ``BackboneConfigMixin.verify_out_features_out_indices`` raises about."""

from __future__ import annotations

from collections.abc import Iterator

from neurarch_schemas.config.check_types import show
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.config.refusals.refusal import Refusal
from neurarch_schemas.config.setting import Setting
from neurarch_schemas.documents.json_value import JSONValue

FEATURES, INDICES = "out_features", "out_indices"


def refused_stages(config: ModelConfig) -> Iterator[Refusal]:
    names = config.get("stage_names")
    if not isinstance(names, list) or not _are_of_the_class(names):
        return
    features, indices = _written(config, FEATURES), _written(config, INDICES)
    for key, value, kind in ((FEATURES, features, str), (INDICES, indices, int)):
        if value is not None and not (isinstance(value, list) and all(type(item) is kind for item in value)):
            yield Refusal(f"{key} must be a list of stages, not {show(value)}", config.pointer, (key,))
            return
    named = features if isinstance(features, list) else None
    counted = [_stage(names, at) for at in indices] if isinstance(indices, list) else None
    for key, stages in ((FEATURES, named), (INDICES, counted)):
        if stages is None:
            continue
        if any(stage not in names for stage in stages):
            yield Refusal(
                f"{key} names a stage beyond the {len(names)} there are",
                config.pointer,
                (key,),
                "feature-layer-out-of-range",
            )
        elif stages != [stage for stage in names if stage in stages]:
            yield Refusal(f"{key} must name each stage once, in order", config.pointer, (key,))
    if named is not None and counted is not None and named != counted:
        yield Refusal("out_features and out_indices name different stages", config.pointer, (FEATURES, INDICES))


def _are_of_the_class(names: list[JSONValue]) -> bool:
    """Classes check against names of their own, which a file may write over later on."""
    numbered = names[1:] if names[:1] == ["stem"] else names
    return bool(names) and numbered == [f"stage{at}" for at in range(1, len(numbered) + 1)]


def _written(config: ModelConfig, key: str) -> JSONValue:
    setting: Setting | None = config.overridden.get(key) or config.setting(key)
    return setting.value if setting is not None and setting.origin == "written" else None


def _stage(names: list[JSONValue], index: JSONValue) -> JSONValue:
    """Counted from the end where it is negative; null where there is none."""
    at = index if isinstance(index, int) else len(names)
    at = at % len(names) if at < 0 and names else at
    return names[at] if 0 <= at < len(names) else None
