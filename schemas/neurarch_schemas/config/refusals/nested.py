"""Parts of a config that do not say of what type they are, where transformers 5.24 looks nowhere else for it."""

from __future__ import annotations

from collections.abc import Iterator

from neurarch_schemas.catalogue.load import config_type
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.config.refusals.refusal import Refusal


def unnamed_parts(config: ModelConfig) -> Iterator[Refusal]:
    record = config_type(config.model_type)
    for key, kind in record.nested.items() if record is not None else ():
        setting = config.setting(key)
        written = setting.value if setting is not None and setting.origin == "written" else None
        if kind.is_named and isinstance(written, dict) and written and "model_type" not in written:
            yield Refusal(f"{key} names no model_type", config.pointer, (key,))
