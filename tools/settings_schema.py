"""Write the JSON Schema of settings files from the models that validate them."""

from __future__ import annotations

import json
from pathlib import Path

from neurarch_lsp.settings.model import SettingsModel

TARGET = Path(__file__).resolve().parents[1] / "docs" / "settings.schema.json"


def rendered() -> str:
    schema = SettingsModel.model_json_schema(by_alias=True)
    document = {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "neurarch-lsp settings"}
    return json.dumps(document, indent=2) + "\n"


if __name__ == "__main__":
    TARGET.write_text(rendered(), encoding="utf-8")
