"""Kinds of documents for random edits: what stands in them and what is typed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from . import samples
from .test_python_models import GPT

COMMON = ("\n", "\r\n", "\r", "🤖", "混合", "\u2028", "\u000c", "\u0085", "<<<<<<< HEAD\n", "\ufeff", "\x00", "9" * 40)


@dataclass(frozen=True)
class Kind:
    """A kind of document: what is typed into it, and the texts that it is now and then replaced by."""

    name: str
    language: str
    texts: tuple[str, ...]
    pieces: tuple[str, ...]
    is_cell: bool = False
    """Of a notebook."""

    @property
    def is_code(self) -> bool:
        return self.language == "python"

    def uri(self, folder: str) -> str:
        return (
            f"vscode-notebook-cell:/nowhere/{folder}/{self.name}#W0"
            if self.is_cell
            else f"file:///nowhere/{folder}/{self.name}"
        )

    def opening(self, uri: str, text: str) -> tuple[str, dict[str, Any]]:
        """Method and parameters that open a document with this text."""
        item = {"uri": uri, "languageId": self.language, "version": 1, "text": text}
        if not self.is_cell:
            return "textDocument/didOpen", {"textDocument": item}
        book: dict[str, Any] = {
            "uri": notebook(uri),
            "notebookType": "jupyter-notebook",
        }
        book |= {"version": 1, "cells": [{"kind": 2, "document": uri}]}
        return "notebookDocument/didOpen", {"notebookDocument": book, "cellTextDocuments": [item]}

    def changing(self, uri: str, version: int, changes: list[dict[str, Any]]) -> tuple[str, dict[str, Any]]:
        document = {"uri": uri, "version": version}
        if not self.is_cell:
            return "textDocument/didChange", {"textDocument": document, "contentChanges": changes}
        book: dict[str, Any] = {"uri": notebook(uri), "version": version}
        edited = {"cells": {"textContent": [{"document": document, "changes": changes}]}}
        return "notebookDocument/didChange", {"notebookDocument": book, "change": edited}


def notebook(cell: str) -> str:
    return cell.partition("#")[0].replace("vscode-notebook-cell:", "file://")


CONFIG = Kind(
    "config.json",
    "json",
    (samples.text(samples.LLAMA), samples.text(samples.MOE), '{"name": "app"}', "", "{}"),
    (
        "{", "}", "[", "]", ",", ":", '"', "null", "NaN", "-1", "1e999", '"num_key_value_heads": 3,',
        '"model_type": "mixtral",', "// comment\n", "/*", *COMMON,
    ),
)  # fmt: skip
BRACKETS = ("{", "}", "[", "]", ",", ":", '"', "null", "-1", "// comment\n", *COMMON)
ADAPTER = Kind(
    "adapter_config.json",
    "json",
    (
        samples.text(
            {
                "peft_type": "LORA", "base_model_name_or_path": "org/model", "r": 8, "lora_alpha": 16,
                "target_modules": ["q_proj", "v_proj"], "task_type": "CAUSAL_LM", "lora_dropout": 0.05,
            }
        ),
        '{"peft_type": "LORA"}', "{}", "",
    ),
    (*BRACKETS, '"r": 0,', '"target_modules": "all-linear",', '"modules_to_save": ["lm_head"],'),
)  # fmt: skip
GENERATION = Kind(
    "generation_config.json",
    "json",
    (
        samples.text({"bos_token_id": 1, "eos_token_id": [2, 3], "do_sample": True, "temperature": 0.6, "top_p": 0.9}),
        '{"do_sample": false, "temperature": 0.1, "num_beams": 1, "early_stopping": true}', "{}", "",
    ),
    (*BRACKETS, '"top_k": 0,', '"temprature": 1,', '"eos_token_id": -3,'),
)  # fmt: skip
INDEX = Kind(
    "model.safetensors.index.json",
    "json",
    (
        samples.text(
            {
                "metadata": {"total_size": 4096},
                "weight_map": {
                    f"model.layers.{number}.mlp.up_proj.weight": f"model-0000{number % 2 + 1}-of-00002.safetensors"
                    for number in range(6)
                },
            }
        ),
        '{"metadata": {}, "weight_map": {}}', "{}", "",
    ),
    (*BRACKETS, '"lm_head.weight": "model-00003-of-00002.safetensors",', '"total_size": 1e9,'),
)  # fmt: skip
TOML = (
    "[", "]", "=", '"', "'", "#", ",", "true", "-1", 'ignore = ["json-comment"]\n', "[serving]\n", 'gpu = "H100"\n',
    "[[overrides]]\n", "\t", *COMMON,
)  # fmt: skip
SETTINGS = Kind(
    "neurarch-lsp.toml",
    "toml",
    (
        'ignore = ["json-comment"]\n\n[serving]\ncontext = [4096]\nbatch = 8\n',
        'select = ["all"]\n\n[severity]\nkv-cache-context-budget = "info"\n', "unknown = 1\n", "",
    ),
    TOML,
)  # fmt: skip
PROJECT = Kind(
    "pyproject.toml",
    "toml",
    (
        '[project]\nname = "x"\n\n[tool.neurarch-lsp]\nignore = ["json-comment"]\n',
        '[tool.other]\nx = 1\n', "[tool.neurarch-lsp.serving]\nbatch = 0\n", "",
    ),
    (*TOML, "[tool.neurarch-lsp]\n"),
)  # fmt: skip
CODE = Kind(
    "model.py",
    "python",
    (
        GPT,
        "from transformers import LlamaConfig, LlamaForCausalLM\n\n"
        "config = LlamaConfig(hidden_size=96, num_attention_heads=7)\nmodel = LlamaForCausalLM(config)\n",
        "import os\n\nprint(os.name)\n",
        "",
    ),
    (
        "(", ")", "[", ":", "    ", "\t", "#", '"""', "'", "\\", "self.extra = nn.Linear(8, 8)\n",
        "import torch.nn as nn\n", "class Other(nn.Module):\n    pass\n", "n_layer = 7\n", "lambda",
        "for x in range(10**9):\n", "-1", *COMMON,
    ),
)  # fmt: skip
CELL = Kind(
    "train.ipynb", "python", CODE.texts, (*CODE.pieces, "%matplotlib inline\n", "!pip install torch\n"), is_cell=True
)
OTHERS = (ADAPTER, GENERATION, INDEX, SETTINGS, PROJECT, CELL)
