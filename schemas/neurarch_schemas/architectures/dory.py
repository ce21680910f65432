"""Dory: a normalized transformer (weights of norm one, no norm weights) whose middle layers run several times.

Every loop over the middle layers keeps keys and values of its own unless ``recurrent_kv_cache_mode`` is "last_loop".
"""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import feed_forward, head_dim, language_model, self_attention
from neurarch_schemas.architectures.language_heads import head_name
from neurarch_schemas.config.layer_pattern import LayerPattern
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.layers import linear
from neurarch_schemas.modules.tree import Module, Tensor, children

MODEL_TYPES = ("dory",)


def layer(config: ModelConfig, window: int | None, loops: int) -> Module:
    """A layer that a forward pass runs ``loops`` times."""
    kept = 1 if config.get("recurrent_kv_cache_mode") == "last_loop" else loops
    hidden, inner = config.integer("hidden_size"), config.integer("intermediate_size")
    width = config.integer("num_attention_heads") * head_dim(config)
    mixer = self_attention(
        config,
        window,
        bias=config.flag("attention_bias"),
        extra={"gate_proj": linear(hidden, width, bias=False)},
    )
    mixer = mixer.with_(
        tensors=(Tensor("sqk", (width,)), Tensor("s_gate", (width,))), caches=mixer.caches * max(kept, 1)
    )
    transform = feed_forward(config, bias=config.flag("mlp_bias")).with_(
        tensors=(Tensor("suv_gate", (inner,)), Tensor("suv_up", (inner,)))
    )
    return Module(
        "DecoderLayer",
        (Tensor("lambda_1", (hidden,)), Tensor("lambda_2", (hidden,))),
        children(self_attn=mixer, mlp=transform),
        width_in=hidden,
        width_out=hidden,
        passes=max(loops, 1),
    )


def loops_of_layers(config: ModelConfig, length: int) -> LayerPattern[int]:
    """How often each layer runs: the middle ones several times."""
    loops = config.integer("n_recurrent_loops")
    first = min(config.integer("n_input_layers"), length)
    middle = min(config.integer("n_recurrent_layers"), length - first)
    rest = LayerPattern.constant(1, length - first - middle)
    return LayerPattern.constant(1, first) + LayerPattern.constant(loops, middle) + rest


def build(config: ModelConfig) -> Module:
    pattern = config.windows().zip(loops_of_layers(config, config.integer("num_hidden_layers")))
    hidden = config.integer("hidden_size")
    norm = Module("L2Norm", part="norm", width_in=hidden, width_out=hidden)
    model = language_model(config, layers(pattern, lambda kind: layer(config, *kind)), norm=norm)
    if head_name(config.architecture) != "ForCausalLM":
        return model
    # Logits have a learned scale, one a token.
    scale = Tensor("logit_scale", (config.integer("vocab_size"),))
    heads = {"lm_head": lambda top: top.with_(tensors=(*top.tensors, scale))}
    return model.with_(
        children=tuple((name, heads[name](child) if name in heads else child) for name, child in model.children)
    )
