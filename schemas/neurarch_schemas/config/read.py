"""Written data -> ModelConfig (interim reader: written keys only)."""
from __future__ import annotations
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.config.setting import JSONValue, Setting
def read_config(data: JSONValue, kind: str = "config", pointer: str = "") -> ModelConfig:
    assert isinstance(data, dict)
    settings = {k: Setting(k, v, "written", f"{pointer}/{k}") for k, v in data.items()}
    nested = {k: read_config(v, kind, f"{pointer}/{k}") for k, v in data.items() if isinstance(v, dict) and (k.endswith("_config") or "model_type" in v)}
    architectures = data.get("architectures")
    return ModelConfig(str(data.get("model_type", "")), pointer, settings, nested, str(architectures[0]) if isinstance(architectures, list) and architectures else "Model")
