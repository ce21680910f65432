"""InternLM 2, from the code that came with it: Llama with one query-key-value matrix and names of its own.

Totals equal the published ones of the 7B and 20B models.
"""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import decoder_layer, language_model
from neurarch_schemas.architectures.language_heads import head_name
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.attention import fused_attention
from neurarch_schemas.modules.feed_forward import gated_mlp
from neurarch_schemas.modules.layers import linear
from neurarch_schemas.modules.tree import Module, children
from neurarch_schemas.record import replace

MODEL_TYPES = ("internlm2",)

_CONFIRMED = ("ForCausalLM", "Model", "ForRewardModel")


def build(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    mixer = fused_attention(
        hidden,
        config.integer("num_attention_heads"),
        config.optional_integer("num_key_value_heads"),
        bias=config.flag("bias", True),
        names=("wqkv", "wo"),
    )
    block = decoder_layer(
        hidden,
        mixer,
        gated_mlp(hidden, config.integer("intermediate_size"), names=("w1", "w3", "w2")),
        norms=("attention_norm", "ffn_norm"),
        names=("attention", "feed_forward"),
    )
    stack = uniform(block, config.integer("num_hidden_layers"))
    names = ("tok_embeddings", "layers", "norm")
    if head_name(config.architecture) not in _CONFIRMED:
        reason = f"no published total confirms a reading of the class {config.architecture}"
        raise CannotBuild(reason, ("architectures",), Module("Layers", children=(("layers", stack),)))
    if config.architecture.endswith("ForRewardModel"):
        backbone = language_model(replace(config, architecture="InternLM2Model"), stack, names=names)
        score = linear(hidden, 1, bias=False, part="head")
        return Module(config.architecture, children=children(model=backbone, v_head=score))
    return language_model(config, stack, names=names, output="output")
