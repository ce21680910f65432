"""Settings files: found, validated, merged, and described by a published schema."""

from __future__ import annotations

import importlib.util
import json
import tomllib
from pathlib import Path

import jsonschema
import pytest

from neurarch_lsp.settings import globs
from neurarch_lsp.settings.resolve import Resolver, SettingsError
from neurarch_rules.engine.options import Options, options_from

ROOT = Path(__file__).resolve().parents[2]
EVERYTHING = """
select = ["correctness"]
extend-select = ["hygiene"]
ignore = ["remote-code"]
exclude = ["third_party"]
transformers-version = "5.2"

[severity]
kv-cache-context-budget = "error"
training = "off"

[[ignores]]
file = "old/**"
rules = ["heads-indivisible", "rope-legacy-key"]
pointer = "/num_attention_heads"
reason = "kept as published"

[serving]
context = 32768
batch = 4
kv-cache-gb = 8.5
kv-cache-dtype = "float8_e4m3fn"
tensor-parallel = 2
gpu = "H100-80GB"
usd-per-hour = 2.5
cache-levels-kib = [32, 64, 128]

[limits]
deep-attention-layers = 60
full-mha-kib-per-token = 128
"""


def published_schema() -> dict[str, object]:
    schema: dict[str, object] = json.loads((ROOT / "docs/settings.schema.json").read_text(encoding="utf-8"))
    return schema


def test_published_schema_is_true() -> None:
    spec = importlib.util.spec_from_file_location("settings_schema", ROOT / "tools/settings_schema.py")
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert tool.TARGET.read_text(encoding="utf-8") == tool.rendered(), "run tools/settings_schema.py"
    jsonschema.Draft202012Validator.check_schema(published_schema())


@pytest.mark.parametrize(
    ("text", "is_valid"),
    [
        (EVERYTHING, True),
        ("", True),
        ("serving.context = 0", False),
        ('serving.context = "8192"', False),
        ("serving.cache-levels-kib = [64, 192]", False),
        ("serving.usd-per-hour = 0", False),
        ("nonsense = 1", False),
        ('severity.remote-code = "loud"', False),
        ('[[ignores]]\nfile = "a"\nreason = "x"\nrulez = []', False),
    ],
)
def test_schema_and_validation_agree(text: str, is_valid: bool, tmp_path: Path) -> None:
    data = tomllib.loads(text)
    assert jsonschema.Draft202012Validator(published_schema()).is_valid(data) is is_valid
    path = tmp_path / "neurarch-lsp.toml"
    path.write_text(text)
    resolver = Resolver(config=str(path))
    if is_valid:
        resolver.options_for(str(tmp_path / "config.json"))
    else:
        with pytest.raises(SettingsError):
            resolver.options_for(str(tmp_path / "config.json"))


def test_every_setting_reaches_the_options() -> None:
    options = options_from(tomllib.loads(EVERYTHING))
    assert options.select == ("correctness",)
    assert options.extend_select == ("hygiene",)
    assert options.ignore == ("remote-code",)
    assert options.severity == {"kv-cache-context-budget": "error", "training": "off"}
    assert options.ignores[0].rules == ("heads-indivisible", "rope-legacy-key")
    assert options.ignores[0].pointer == "/num_attention_heads"
    assert (options.serving.context, options.serving.batch, options.serving.kv_cache_gb) == (32768, 4, 8.5)
    assert options.serving.tensor_parallel == 2
    assert (options.serving.usd_per_hour, options.serving.cache_levels_kib) == (2.5, (32, 64, 128))
    assert options.limits.deep_attention_layers == 60
    assert options.limits.full_mha_kib_per_token == 128
    assert options.transformers_version == "5.2"


def test_stronger_settings_win(tmp_path: Path) -> None:
    (tmp_path / "neurarch-lsp.toml").write_text('select = ["hygiene"]\n[serving]\ncontext = 100\nbatch = 2\n')
    editor = {"serving": {"context": 200}}
    command_line = {"select": ["training"]}
    options = Resolver(overrides=(editor, command_line)).options_for(str(tmp_path / "config.json"))
    assert options.select == ("training",)
    assert (options.serving.context, options.serving.batch) == (200, 2)


def test_the_nearest_file_wins_and_other_projects_do_not_count(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "neurarch-lsp.toml").write_text('ignore = ["hygiene"]')
    (tmp_path / "a" / "pyproject.toml").write_text("[project]\nname = 'x'\n[tool.other]\n")
    resolver = Resolver()
    assert resolver.options_for(str(inner / "config.json")).ignore == ("hygiene",)
    (inner / "pyproject.toml").write_text('[tool.neurarch-lsp]\nignore = ["training"]')
    assert Resolver().options_for(str(inner / "config.json")).ignore == ("training",)


def test_without_a_file_the_defaults_hold(tmp_path: Path) -> None:
    assert Resolver().options_for(str(tmp_path / "config.json")) == Options()


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("config.json", "a/b/config.json", True),
        ("*.json", "a/b/config.json", True),
        ("a/*.json", "a/config.json", True),
        ("a/*.json", "a/b/config.json", False),
        ("a/**/config.json", "a/b/c/config.json", True),
        ("a/**/config.json", "a/config.json", True),
        ("a", "a/b/config.json", True),
        ("./a/config.json", "a/config.json", True),
        ("/config.json", "a/config.json", False),
        ("model-?/config.json", "model-1/config.json", True),
        ("model-[!1]/config.json", "model-1/config.json", False),
        ("a.json", "abjson", False),
    ],
)
def test_globs(pattern: str, path: str, expected: bool) -> None:
    assert globs.matches(pattern, path) is expected


@pytest.mark.parametrize(
    ("gpu", "is_known"),
    [("H100-80GB", True), ("NVIDIA L40S", True), ("H1000", False), ("unheard of, 48 GB", True)],
)
def test_a_gpu_whose_memory_nobody_knows_is_refused(tmp_path: Path, gpu: str, is_known: bool) -> None:
    (tmp_path / "neurarch-lsp.toml").write_text(f'[serving]\ngpu = "{gpu}"\n', encoding="utf-8")
    resolver = Resolver()
    if is_known:
        assert resolver.options_for(str(tmp_path / "config.json")).serving.gpu == gpu
    else:
        with pytest.raises(SettingsError, match="H100-80GB"):
            resolver.options_for(str(tmp_path / "config.json"))


def test_cache_levels_must_rise(tmp_path: Path) -> None:
    path = tmp_path / "neurarch-lsp.toml"
    path.write_text("serving.cache-levels-kib = [64, 32, 512]")
    with pytest.raises(SettingsError, match="must rise"):
        Resolver(config=str(path)).options_for(str(tmp_path / "config.json"))
