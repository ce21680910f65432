"""Rules look at derived values: under another family's name the same fault is found."""

from __future__ import annotations

import json

import pytest

from neurarch_rules.engine.analyse import analyse_text
from neurarch_rules.engine.options import Options
from neurarch_rules.engine.run import run

DENSE = {
    "llama": "LlamaForCausalLM",
    "mistral": "MistralForCausalLM",
    "qwen2": "Qwen2ForCausalLM",
    "qwen3": "Qwen3ForCausalLM",
    "olmo2": "Olmo2ForCausalLM",
    "granite": "GraniteForCausalLM",
}
MIXTURES = {"mixtral": "MixtralForCausalLM", "qwen3_moe": "Qwen3MoeForCausalLM", "olmoe": "OlmoeForCausalLM"}
SIZES = {
    "vocab_size": 32000,
    "hidden_size": 4096,
    "intermediate_size": 11008,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "max_position_embeddings": 8192,
}
FAULTS: list[tuple[str, dict[str, object], dict[str, str]]] = [
    ("kv-heads-indivisible", {"num_key_value_heads": 6}, DENSE),
    ("full-mha-serving-cost", {"num_key_value_heads": 32}, DENSE),
    # Mistral's own default is a window of 4,096 tokens, which bounds its cache.
    ("kv-cache-context-budget", {"num_key_value_heads": 32}, {k: v for k, v in DENSE.items() if k != "mistral"}),
    ("deep-attention-default-init", {"num_hidden_layers": 60}, {k: v for k, v in DENSE.items() if k != "granite"}),
    ("token-id-out-of-range", {"eos_token_id": 32000}, DENSE),
    ("misspelled-key", {"attention_dropuot": 0.1}, DENSE),
    ("unknown-activation", {"hidden_act": "quad"}, DENSE),
    ("wrong-type", {"hidden_size": "4096"}, DENSE),
    ("value-out-of-range", {"vocab_size": 0}, DENSE),
    ("rope-missing-field", {"rope_scaling": {"rope_type": "linear"}}, DENSE),
    ("rope-original-length-missing", {"rope_scaling": {"rope_type": "yarn", "factor": 2.0}}, DENSE),
    ("unknown-dtype", {"dtype": "torch.float16"}, DENSE),
    ("quant-contradiction", {"quantization_config": {"load_in_4bit": True, "load_in_8bit": True}}, DENSE),
    ("experts-per-token-out-of-range", {"num_experts_per_tok": 200}, MIXTURES),
    ("moe-no-aux-loss", {"output_router_logits": False, "router_aux_loss_coef": 0.01}, MIXTURES),
]


@pytest.mark.parametrize(("rule", "fault", "families"), FAULTS, ids=[fault[0] for fault in FAULTS])
def test_the_family_s_name_does_not_matter(rule: str, fault: dict[str, object], families: dict[str, str]) -> None:
    places = set()
    for model_type, architecture in families.items():
        config = {"model_type": model_type, "architectures": [architecture], **SIZES, **fault}
        analysis = analyse_text("config.json", json.dumps(config))
        assert analysis is not None
        found = [item for item in run(analysis, Options()).findings if item.rule == rule]
        assert len(found) == 1, f"{model_type}: {len(found)} findings"
        places.add((found[0].place.pointer, found[0].severity))
    assert len(places) == 1
