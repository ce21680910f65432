"""Code beside a config.json where transformers is not installed: our stand-in for the package serves."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from neurarch_schemas.config.read import read_config
from neurarch_schemas.interpreter import Interpretation
from neurarch_schemas.modules.tree import rows, walk
from neurarch_schemas.remote_code import interpret_remote
from neurarch_schemas.surroundings.read import read_folder

CONFIGURATION = """
from transformers.configuration_utils import PretrainedConfig
from transformers.utils import logging

logger = logging.get_logger(__name__)


class FabledConfig(PretrainedConfig):
    model_type = "fabled"
    keys_to_ignore_at_inference = ["past_key_values"]
    attribute_map = {"hidden_size": "width", "num_hidden_layers": "depth"}

    def __init__(self, vocab_size=50, width=8, depth=2, heads=2, kv_heads=None, inner=None, act="silu",
                 tie_word_embeddings=False, rope_scaling=None, **kwargs):
        self.vocab_size = vocab_size
        self.width = width
        self.depth = depth
        self.heads = heads
        self.kv_heads = heads if kv_heads is None else kv_heads
        self.inner = 4 * width if inner is None else inner
        self.act = act
        self.rope_scaling = rope_scaling
        if rope_scaling is not None:
            logger.warning_once("scaled")
        super().__init__(tie_word_embeddings=tie_word_embeddings, **kwargs)
"""

MODELING = """
import math
from dataclasses import dataclass
from typing import Optional, Tuple, Union

import torch
from torch import nn
from transformers.activations import ACT2FN
from transformers.cache_utils import Cache, DynamicCache
from transformers.generation import GenerationMixin
from transformers.modeling_attn_mask_utils import _prepare_4d_causal_attention_mask
from transformers.modeling_outputs import BaseModelOutputWithPast, CausalLMOutputWithPast
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS, dynamic_rope_update
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS, PreTrainedModel
from transformers.pytorch_utils import ALL_LAYERNORM_LAYERS, Conv1D
from transformers.utils import (
    ModelOutput, add_start_docstrings, add_start_docstrings_to_model_forward, is_flash_attn_2_available, logging,
)

from .configuration_fabled import FabledConfig

if is_flash_attn_2_available():
    from flash_attn import flash_attn_func

logger = logging.get_logger(__name__)
_DOC = "FabledConfig"


@dataclass
class FabledOutput(ModelOutput):
    logits: Optional[torch.FloatTensor] = None


class FabledNorm(nn.Module):
    def __init__(self, size, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))


ALL_LAYERNORM_LAYERS.append(FabledNorm)


class FabledRotary(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.rope_init_fn = ROPE_INIT_FUNCTIONS["default"]
        inv_freq, self.scale = self.rope_init_fn(config, None)
        self.register_buffer("inv_freq", inv_freq, persistent=True)

    @torch.no_grad()
    @dynamic_rope_update
    def forward(self, x, position_ids):
        return x


class FabledAttention(nn.Module):
    def __init__(self, config: FabledConfig, layer_idx: Optional[int] = None):
        super().__init__()
        if layer_idx is None:
            logger.warning_once("no layer_idx")
        size = config.hidden_size // config.num_attention_heads
        self.q_proj = nn.Linear(config.hidden_size, config.num_attention_heads * size, bias=True)
        self.k_proj = nn.Linear(config.hidden_size, config.kv_heads * size, bias=True)
        self.v_proj = nn.Linear(config.hidden_size, config.kv_heads * size, bias=True)
        self.o_proj = Conv1D(config.hidden_size, config.num_attention_heads * size)


class FabledFlashAttention(FabledAttention):
    pass


ATTENTION = {"eager": FabledAttention, "sdpa": FabledAttention, "flash_attention_2": FabledFlashAttention}


class FabledLayer(nn.Module):
    def __init__(self, config, layer_idx):
        super().__init__()
        self.attn = ATTENTION[config._attn_implementation](config, layer_idx)
        self.up = nn.Linear(config.width, config.inner, bias=False)
        self.act = ACT2FN[config.act]
        self.down = nn.Linear(config.inner, config.width, bias=False)
        self.norm = FabledNorm(config.width)


@add_start_docstrings("The bare model.", _DOC)
class FabledPreTrainedModel(PreTrainedModel):
    config_class = FabledConfig
    base_model_prefix = "model"
    supports_gradient_checkpointing = True
    _no_split_modules = ["FabledLayer"]

    def _init_weights(self, module):
        if isinstance(module, nn.Linear):
            module.weight.data.normal_(mean=0.0, std=self.config.initializer_range)


class FabledModel(FabledPreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.padding_idx = config.pad_token_id
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size, self.padding_idx)
        self.layers = nn.ModuleList([FabledLayer(config, i) for i in range(config.num_hidden_layers)])
        self.norm = FabledNorm(config.hidden_size)
        self.rotary = FabledRotary(config)
        self.post_init()

    def get_input_embeddings(self):
        return self.embed_tokens

    @add_start_docstrings_to_model_forward("text")
    def forward(self, input_ids=None) -> Union[Tuple, BaseModelOutputWithPast]:
        return DynamicCache()


class FabledForCausalLM(FabledPreTrainedModel, GenerationMixin):
    _tied_weights_keys = ["lm_head.weight"]

    def __init__(self, config):
        super().__init__(config)
        self.model = FabledModel(config)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        self.post_init()

    def get_input_embeddings(self):
        return self.model.embed_tokens

    def get_output_embeddings(self):
        return self.lm_head


class FabledForSequenceClassification(FabledPreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.model = FabledModel(config)
        self.score = nn.Linear(config.hidden_size, config.num_labels, bias=False)
        self.post_init()
"""

CONFIG: dict[str, object] = {
    "model_type": "fabled",
    "architectures": ["FabledForCausalLM"],
    "auto_map": {
        "AutoConfig": "configuration_fabled.FabledConfig",
        "AutoModelForCausalLM": "modeling_fabled.FabledForCausalLM",
        "AutoModelForSequenceClassification": "modeling_fabled.FabledForSequenceClassification",
    },
    "vocab_size": 100,
    "width": 16,
    "num_hidden_layers": 3,
    "heads": 4,
    "kv_heads": 2,
    "num_attention_heads": 4,
    "torch_dtype": "bfloat16",
}


def interpret(
    folder: Path,
    changes: Mapping[str, object] | None = None,
    modeling: str = MODELING,
    configuration: str = CONFIGURATION,
) -> Interpretation:
    (folder / "configuration_fabled.py").write_text(configuration, encoding="utf-8")
    (folder / "modeling_fabled.py").write_text(modeling, encoding="utf-8")
    path = folder / "config.json"
    data = {key: value for key, value in {**CONFIG, **(changes or {})}.items() if value is not None}
    path.write_text(json.dumps(data), encoding="utf-8")
    found = interpret_remote(read_config(data), data, read_folder(str(path)), ())  # type: ignore[arg-type]  # values of JSON
    assert found is not None
    return found


def scalars(result: Interpretation) -> int:
    assert result.exact, result.reason
    assert result.tree is not None
    return sum(row.scalars for row in rows(result.tree) if row.kind == "parameter")


def tied(result: Interpretation) -> dict[str, str]:
    assert result.tree is not None
    return {
        tensor.name: tensor.tied_to for visit in walk(result.tree) for tensor in visit.module.tensors if tensor.tied_to
    }


LAYER = (16 * 16 + 16) + 2 * (16 * 8 + 8) + (16 * 16 + 16) + 2 * 16 * 64 + 16
"""q, k and v, o, up and down, norm."""


def test_a_causal_model(tmp_path: Path) -> None:
    result = interpret(tmp_path)
    assert scalars(result) == 100 * 16 + 3 * LAYER + 16 + 16 * 100
    assert result.tree is not None
    assert {row.name: row.shape for row in rows(result.tree) if row.kind == "buffer"} == {"model.rotary.inv_freq": (2,)}
    assert tied(result) == {}


def test_attribute_map_reads_both_names(tmp_path: Path) -> None:
    assert scalars(interpret(tmp_path, {"width": None, "hidden_size": 16, "inner": 64})) == scalars(interpret(tmp_path))


def test_a_list_of_tied_keys_ties_the_head_where_the_config_says_so(tmp_path: Path) -> None:
    """As transformers 4 builds it; 5.24 raises, so that the count says which it is."""
    result = interpret(tmp_path, {"tie_word_embeddings": True})
    assert tied(result) == {"weight": "model.embed_tokens.weight"}
    assert not result.exact
    assert result.reason is not None
    assert "has a list as _tied_weights_keys: transformers 4 ties its head, 5 does not or fails" in result.reason


def test_before_release_5_the_head_is_tied_unless_told_otherwise(tmp_path: Path) -> None:
    configuration = CONFIGURATION.replace("tie_word_embeddings=False, ", "").replace(
        "tie_word_embeddings=tie_word_embeddings, ", ""
    )
    assert tied(interpret(tmp_path, configuration=configuration)) == {"weight": "model.embed_tokens.weight"}


@pytest.mark.parametrize("explicit", [True, False])
def test_a_mapping_of_tied_keys(tmp_path: Path, explicit: bool) -> None:
    modeling = MODELING.replace('["lm_head.weight"]', '{"lm_head.weight": "model.embed_tokens.weight"}')
    result = interpret(tmp_path, {"tie_word_embeddings": explicit}, modeling)
    assert result.exact
    assert bool(tied(result)) is explicit


def test_without_tied_keys_the_release_decides(tmp_path: Path) -> None:
    modeling = MODELING.replace('_tied_weights_keys = ["lm_head.weight"]', "pass")
    assert interpret(tmp_path, {"tie_word_embeddings": False}, modeling).exact
    result = interpret(tmp_path, {"tie_word_embeddings": True}, modeling)
    assert not result.exact
    assert "_tied_weights_keys" in str(result.reason)


def test_labels_of_a_classifier(tmp_path: Path) -> None:
    changes = {"architectures": ["FabledForSequenceClassification"], "num_labels": 5}
    assert scalars(interpret(tmp_path, changes)) == 100 * 16 + 3 * LAYER + 16 + 16 * 5
    named = {"architectures": ["FabledForSequenceClassification"], "id2label": {"0": "a", "1": "b", "2": "c"}}
    assert scalars(interpret(tmp_path, named)) == 100 * 16 + 3 * LAYER + 16 + 16 * 3


def test_an_unknown_base_class_is_named(tmp_path: Path) -> None:
    modeling = MODELING.replace("import math", "from transformers import LlamaForCausalLM").replace(
        "class FabledForCausalLM(FabledPreTrainedModel, GenerationMixin)", "class FabledForCausalLM(LlamaForCausalLM)"
    )
    result = interpret(tmp_path, modeling=modeling)
    assert not result.exact
    assert "LlamaForCausalLM" in str(result.reason)
    assert "not installed" in str(result.reason)


def test_an_activation_nobody_knows_is_a_failure(tmp_path: Path) -> None:
    result = interpret(tmp_path, {"act": "nonsense"})
    assert result.tree is None
    assert "nonsense" in str(result.reason)


def test_a_prelu_has_a_parameter(tmp_path: Path) -> None:
    assert scalars(interpret(tmp_path, {"act": "prelu"})) == scalars(interpret(tmp_path)) + 3


def test_no_code_beside_the_config(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    folder = read_folder(str(tmp_path / "config.json"))
    assert interpret_remote(read_config(dict(CONFIG)), dict(CONFIG), folder, ()) is None  # type: ignore[arg-type]  # values of JSON
    elsewhere: dict[str, object] = {**CONFIG, "auto_map": {"AutoConfig": "org/repo--m.C", "AutoModel": "org/repo--m.M"}}
    assert interpret_remote(read_config(elsewhere), elsewhere, folder, ()) is None  # type: ignore[arg-type]  # values of JSON
