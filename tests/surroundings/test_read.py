from __future__ import annotations

import json
import os
import pickle
import time
from pathlib import Path
from typing import Any

import pytest

from neurarch_schemas.surroundings.folder import CheckpointTensor, Folder
from neurarch_schemas.surroundings.folders_above import FoldersAbove
from neurarch_schemas.surroundings.read import folder_of_texts, read_folder


def safetensors(header: Any, data_bytes: int = 64) -> bytes:
    spelled = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(spelled).to_bytes(8, "little") + spelled + bytes(data_bytes)


def tensor(shape: list[int], dtype: str = "BF16") -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [0, 8]}


def write(folder: Path, files: dict[str, str | bytes]) -> Folder:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_folder(str(folder / "config.json"))


@pytest.fixture(params=["disk", "texts"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """Both ways to a folder must give the same."""
    if request.param == "disk":
        return lambda files: write(tmp_path, files)
    return lambda files: Folder.of_mapping(files)


def test_a_config_alone(make: Any) -> None:
    folder = make({"config.json": "{}"})
    assert folder.listing == {"config.json"}
    assert dict(folder.json_files) == {"config.json": {}}
    assert folder.tokenizer_entries is None
    assert folder.checkpoint is None
    assert dict(folder.requirements) == {}


def test_relatives_are_read_tolerantly_and_other_files_not_at_all(make: Any) -> None:
    folder = make(
        {
            "config.json": '{"a": 1,}',
            "generation_config.json": '\ufeff{"top_k": 5}',
            "added_tokens.json": "<html>",
            "package.json": "{}",
            "tokenizer_config.json": '{"x": ' + "[" * 100_000,
        }
    )
    assert set(folder.json_files) == {
        "config.json",
        "generation_config.json",
        "added_tokens.json",
        "tokenizer_config.json",
    }
    assert folder.json_files["config.json"] == {"a": 1}
    assert folder.json_files["generation_config.json"] == {"top_k": 5}
    assert folder.json_files["added_tokens.json"] is None
    assert folder.json_files.get("package.json") is None


def test_an_index_names_tensors_and_shards_give_their_shapes(make: Any) -> None:
    index = {
        "weight_map": {"a.weight": "model-00001-of-00002.safetensors", "b.weight": "model-00002-of-00002.safetensors"}
    }
    files = {
        "model.safetensors.index.json": json.dumps(index),
        "model-00001-of-00002.safetensors": safetensors({"__metadata__": {"format": "pt"}, "a.weight": tensor([4, 2])}),
    }
    assert make(files).checkpoint == (
        CheckpointTensor("a.weight", (4, 2), "BF16"),
        CheckpointTensor("b.weight", None, None),
    )


def test_one_file_shards_and_doubled_checkpoints(make: Any) -> None:
    files: dict[str, Any] = {
        "consolidated.safetensors": safetensors({"wq": tensor([1])}),
        "model-00001-of-00001.safetensors": safetensors({"q": tensor([])}),
    }
    assert make(files).checkpoint == (CheckpointTensor("q", (), "BF16"),)
    files["model.safetensors"] = safetensors({"one": tensor([3], "F8_E4M3")})
    assert make(files).checkpoint == (CheckpointTensor("one", (3,), "F8_E4M3"),)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"1234",
        (2**63).to_bytes(8, "little") + b"{}",
        (10**9).to_bytes(8, "little") + b"{}",
        (3).to_bytes(8, "little") + b"{}",
        safetensors(b"[1, 2]"),
        safetensors(b"{" * 50_000),
        safetensors({"a": {"dtype": "F32", "shape": [-1]}}),
        safetensors({"a": {"dtype": "F32", "shape": [True]}}),
        safetensors({"a": {"dtype": "F32", "shape": [2**70]}}),
        safetensors({"a": {"dtype": 5, "shape": [1]}}),
        safetensors({"a": {"dtype": "F32", "shape": [1] * 100}}),
        safetensors({"a": 5}),
        b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n",
    ],
)
def test_hostile_headers_are_not_believed(make: Any, data: bytes) -> None:
    assert make({"model.safetensors": data}).checkpoint is None


@pytest.mark.parametrize("index", ["", "{}", "[]", '{"weight_map": 5}', '{"weight_map": {}}', "[" * 100_000])
def test_a_broken_index_gives_no_checkpoint(make: Any, index: str) -> None:
    assert make({"model.safetensors.index.json": index}).checkpoint is None


def test_shards_outside_the_folder_are_not_opened(make: Any) -> None:
    index = {"weight_map": {"a": "../secret.safetensors", "b": "/etc/x.safetensors", "c": 5}}
    assert make({"model.safetensors.index.json": json.dumps(index)}).checkpoint == (
        CheckpointTensor("a", None, None),
        CheckpointTensor("b", None, None),
    )


@pytest.mark.parametrize(
    ("tokenizer", "entries"),
    [
        (
            {"added_tokens": [{"id": 9}, {"id": 4}], "model": {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []}},
            10,
        ),
        ({"model": {"vocab": {"a": 0, '"merges": [': 7}}, "added_tokens": [{"id": 8}]}, 9),
        ({"added_tokens": [], "model": {"type": "Unigram", "vocab": [["a", 0.0], ["b", -1.5], ["c", -2]]}}, 3),
        ({"added_tokens": [], "model": {"type": "WordPiece", "vocab": {"[UNK]": 0, "}": 5}}}, 6),
        ({"added_tokens": [], "model": {"vocab": {}}}, None),
        ({"version": "1.0"}, None),
        ([], None),
        ("", None),
        ('{"model": {"vocab": {"a": 1', None),
        ('{"added_tokens": [{"id": true}], "model": {"vocab": {"a": 3}}}', 4),
    ],
)
def test_the_number_of_token_ids(make: Any, tokenizer: Any, entries: int | None) -> None:
    text = tokenizer if isinstance(tokenizer, str) else json.dumps(tokenizer, indent=2)
    assert make({"tokenizer.json": text}).tokenizer_entries == entries


@pytest.mark.parametrize(
    ("files", "versions"),
    [
        ({"requirements.txt": "torch>=2 # x\ntransformers[torch] == 4.55.0 ; python_version > '3.8'\n-r o.txt\npeft\n"},
         {"torch": ">=2", "transformers": "4.55.0"}),
        ({"requirements-dev.txt": "peft~=0.13.0\nunknown==1\n"}, {"peft": "~=0.13.0"}),
        ({"requirements.txt": "transformers>=4.40, <5"}, {"transformers": ">=4.40,<5"}),
        ({"requirements.txt": "transformers==5.*"}, {"transformers": "==5.*"}),
        ({"pyproject.toml": '[project]\ndependencies = ["transformers>=5,<6", "vllm (==0.9.1)"]\n'
                            '[dependency-groups]\ndev = ["peft==0.15.0", {include-group = "x"}]\n'},
         {"transformers": ">=5,<6", "vllm": "0.9.1", "peft": "0.15.0"}),
        ({"pyproject.toml": '[tool.poetry.dependencies]\npython = "^3.10"\ntransformers = "^4.40"\n'
                            'peft = {version = "~0.9.1"}\ntorch = "*"\nvllm = "0.9.1"\n'},
         {"transformers": ">=4.40,<5", "peft": ">=0.9.1,<0.10", "vllm": "0.9.1"}),
        ({"uv.lock": 'version = 1\n\n[[package]]\nname = "transformers"\nversion = "5.2.0"\n',
          "pyproject.toml": '[project]\ndependencies = ["transformers"]\n'}, {"transformers": "5.2.0"}),
        ({"poetry.lock": '[[package]]\r\nname = "Auto_GPTQ"\r\nversion = "0.7.1"\r\n'}, {"auto-gptq": "0.7.1"}),
        ({"Pipfile.lock": '{"default": {"transformers": {"hashes": ["x"], "version": "==4.44.2"}}}'},
         {"transformers": "4.44.2"}),
        ({"pyproject.toml": "[[[", "requirements.txt": "\xff\x00"}, {}),
    ],
)  # fmt: skip
def test_versions_that_are_stated(make: Any, files: dict[str, str], versions: dict[str, str]) -> None:
    assert dict(make(files).requirements) == versions


def test_versions_are_looked_for_up_to_the_repository_and_no_further(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("peft==0.1\n")
    repository = tmp_path / "repository"
    deep = repository / "models" / "one"
    deep.mkdir(parents=True)
    (repository / "uv.lock").write_text('[[package]]\nname = "transformers"\nversion = "5.2.0"\n')
    assert dict(read_folder(str(deep / "config.json")).requirements) == {}
    (repository / ".git").mkdir()
    folder = read_folder(str(deep / "config.json"))
    assert dict(folder.requirements) == {"transformers": "5.2.0"}
    (deep / "requirements.txt").write_text("transformers==4.40.0\n")
    assert dict(read_folder(str(deep / "config.json")).requirements) == {"transformers": "4.40.0"}


def test_documents_of_one_run_share_what_lies_above_them(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    stated = tmp_path / "requirements.txt"
    stated.write_text("transformers==4.50.0\n")
    above = FoldersAbove()
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    (tmp_path / "two" / "requirements.txt").write_text("peft==0.9.0\n")
    assert dict(read_folder(str(tmp_path / "one" / "config.json"), None, above).requirements) == {
        "transformers": "4.50.0"
    }
    stated.unlink()  # within one run the folders above are looked at once
    assert dict(read_folder(str(tmp_path / "two" / "config.json"), None, above).requirements) == {
        "transformers": "4.50.0",
        "peft": "0.9.0",
    }
    assert dict(read_folder(str(tmp_path / "two" / "config.json")).requirements) == {"peft": "0.9.0"}


def test_an_adapter_finds_its_base_model_on_this_machine(tmp_path: Path) -> None:
    base = {"model_type": "llama"}
    (tmp_path / "llama").mkdir()
    (tmp_path / "llama" / "config.json").write_text(json.dumps(base))
    (tmp_path / "adapter").mkdir()
    path = str(tmp_path / "adapter" / "adapter_config.json")
    adapter: Any = {"peft_type": "LORA", "base_model_name_or_path": "../llama"}
    assert read_folder(path, adapter).json_files["../llama/config.json"] == base
    adapter["base_model_name_or_path"] = str(tmp_path / "llama")
    assert list(read_folder(path, adapter).json_files.values()) == [base]
    adapter["base_model_name_or_path"] = "meta-llama/Llama-3.1-8B"
    assert dict(read_folder(path, adapter).json_files) == {}
    texts = folder_of_texts({"base/config.json": json.dumps(base)}, data=adapter)
    assert texts.json_files["base/config.json"] == base


def test_code_is_read_where_a_config_lies_beside_it() -> None:
    code = Folder.of_mapping({"config.json": "{}", "modeling_x.py": "class X: ...", "notes.txt": ""}).code
    assert dict(code) == {"modeling_x.py": "class X: ..."}
    assert dict(Folder.of_mapping({"modeling_x.py": "class X: ..."}).code) == {}


def test_modules_are_read_in_their_order_and_only_below_the_folder() -> None:
    listed = [{"path": ""}, {"path": "2_Dense"}, {"path": "1_Pooling"}, {"path": "../other"}, {"path": "absent"}, 7]
    files: dict[str, str | bytes] = {
        "modules.json": json.dumps(listed),
        "1_Pooling/config.json": '{"word_embedding_dimension": 8}',
        "2_Dense/config.json": "{}",
    }
    modules = Folder.of_mapping(files).modules
    assert list(modules) == ["2_Dense/config.json", "1_Pooling/config.json"]
    assert modules["1_Pooling/config.json"] == {"word_embedding_dimension": 8}
    assert dict(Folder.of_mapping({"config.json": "{}"}).modules) == {}


def test_the_key_changes_with_the_files_and_only_with_them(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    keys = [write(folder, {"config.json": "{}"}).key]
    assert read_folder(str(folder / "config.json")).key == keys[0]
    steps: list[dict[str, str | bytes]] = [
        {"tokenizer.json": "{}"},
        {"tokenizer.json": "{ }"},
        {"model.safetensors": safetensors({})},
        {"modeling_x.py": ""},
        {"modeling_x.py": "class X: ..."},
        {"requirements.txt": "peft==1"},
    ]
    keys += [write(folder, files).key for files in steps]
    os.utime(folder / "tokenizer.json", ns=(1, 1))
    keys.append(read_folder(str(folder / "config.json")).key)
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("path", ["absent/folder/config.json", "", "config.json\x00", "a" * 5000 + "/config.json"])
def test_folders_that_cannot_be_read(path: str) -> None:
    folder = read_folder(path, {"peft_type": "LORA", "base_model_name_or_path": "\x00" + "b" * 5000})
    assert folder.checkpoint is None
    assert folder.tokenizer_entries is None
    assert isinstance(dict(folder.requirements), dict)
    assert isinstance(folder.key, str)


def test_special_files_and_folders_are_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "tokenizer.json")
    os.mkfifo(tmp_path / "model.safetensors")
    (tmp_path / "generation_config.json").mkdir()
    (tmp_path / "added_tokens.json").symlink_to(tmp_path / "nowhere")
    folder = read_folder(str(tmp_path / "config.json"))
    assert folder.tokenizer_entries is None
    assert folder.checkpoint is None
    assert "generation_config.json" not in folder.json_files
    assert folder.json_files.get("added_tokens.json") is None


def test_names_only_in_the_listing_are_empty_files() -> None:
    folder = Folder.of_mapping({"config.json": "{}"}, frozenset({"model.safetensors", "tokenizer.json"}))
    assert folder.listing == {"config.json", "model.safetensors", "tokenizer.json"}
    assert folder.checkpoint is None
    assert folder.tokenizer_entries is None


def test_a_folder_can_be_sent_to_another_process(make: Any) -> None:
    folder = make(
        {"config.json": "{}", "requirements.txt": "peft==0.1", "tokenizer.json": '{"model": {"vocab": {"a": 4}}}'}
    )
    copied = pickle.loads(pickle.dumps(folder))
    assert (copied.key, copied.listing, copied.tokenizer_entries) == (folder.key, folder.listing, 5)
    assert dict(copied.requirements) == dict(folder.requirements)
    assert dict(copied.json_files) == dict(folder.json_files)


def test_a_config_alone_costs_little(tmp_path: Path) -> None:
    write(tmp_path, {"config.json": "{}"})
    path = str(tmp_path / "config.json")
    best = min(_seconds(path) for _ in range(20))
    assert best < 0.001


def _seconds(path: str) -> float:
    begun = time.process_time()
    assert read_folder(path).key
    return time.process_time() - begun
