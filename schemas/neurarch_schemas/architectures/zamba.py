"""Zamba and Zamba 2: Mamba layers, and hybrid layers that put a shared transformer block in front of one.

The shared block reads the hidden state beside the embedding (twice the width). transformers builds it anew in every
hybrid layer and shares its tensors only where ``tie_word_embeddings`` is set; checkpoints always share them.
"""

from __future__ import annotations

from collections.abc import Callable

from neurarch_schemas.architectures.language_heads import head_name, with_language_head
from neurarch_schemas.architectures.mamba import time_step_rank
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.layer_pattern import LayerPattern
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.config.periods import every
from neurarch_schemas.modules.assembly import layers, tied_copy
from neurarch_schemas.modules.attention import attention
from neurarch_schemas.modules.feed_forward import fused_gated_mlp, gated_mlp
from neurarch_schemas.modules.layers import linear, rms_norm, token_embedding
from neurarch_schemas.modules.state_space import causal_convolution, mamba2_mixer, state_caches
from neurarch_schemas.modules.tree import Module, Stack, Tensor, children, named

MODEL_TYPES = ("zamba", "zamba2")

_MOST_LAYERS = 100_000


def zamba_mixer(config: ModelConfig) -> Module:
    """Mamba 1 whose time step, B and C are computed head by head."""
    hidden, state, kernel = (
        config.integer("hidden_size"),
        config.integer("mamba_d_state"),
        config.integer("mamba_d_conv"),
    )
    inner, heads = config.integer("mamba_expand") * hidden, config.integer("n_mamba_heads")
    rank, bias = time_step_rank(config, "mamba_dt_rank"), config.flag("mamba_proj_bias")
    dim = inner // heads
    return Module(
        "MambaMixer",
        (
            Tensor("x_proj_weight", (heads, rank + 2 * state, dim)),
            Tensor("dt_proj_weight", (heads, dim, rank)),
            Tensor("dt_proj_bias", (heads, dim)),
            Tensor("A_log", (heads, dim, state)),
            Tensor("D", (heads, dim)),
        ),
        children(
            conv1d=causal_convolution(inner, kernel, bias=config.flag("mamba_conv_bias")),
            in_proj=linear(hidden, 2 * inner, bias),
            out_proj=linear(inner, hidden, bias),
        ),
        part="state space",
        caches=state_caches(inner, kernel, heads * dim * state),
        multiply_accumulates=heads * dim * (2 * rank + 4 * state),
        width_in=hidden,
        width_out=hidden,
    )


def zamba2_mixer(config: ModelConfig) -> Module:
    """The convolution has a bias whatever ``use_conv_bias`` says."""
    hidden, heads = config.integer("hidden_size"), config.integer("n_mamba_heads")
    inner = int(config.number("mamba_expand") * hidden)
    return mamba2_mixer(
        hidden,
        inner,
        heads,
        config.integer("mamba_headdim", inner // heads),
        config.integer("mamba_ngroups"),
        config.integer("mamba_d_state"),
        config.integer("mamba_d_conv"),
        bias=config.flag("add_bias_linear"),
        conv_bias=True,
    )


def sequential(*modules: Module) -> Module:
    return Module("Sequential", children=named({str(index): module for index, module in enumerate(modules)}))


def adapters(config: ModelConfig, block: int, hybrids: int, inputs: int, outputs: int) -> Stack:
    """One low-rank adapter for each use of a shared block; uses of the other blocks leave their place empty."""
    rank = config.integer("adapter_rank")
    adapter = sequential(linear(inputs, rank, bias=False), linear(rank, outputs, bias=False))
    places = every(config.integer("num_mem_blocks"), block, hybrids, True, False)
    return layers(places, lambda used: adapter if used else Module("Identity"))


def shared_block(config: ModelConfig, block: int, hybrids: int) -> Module:
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    width = config.integer("attention_hidden_size", 0) or 2 * hidden
    inner = config.integer("intermediate_size", 0) or 4 * hidden
    zamba2 = config.model_type == "zamba2"
    adapted: dict[str, Module | Stack | None] = {}
    if zamba2 and config.flag("use_shared_attention_adapter"):
        names = ("linear_q_adapter_list", "linear_k_adapter_list", "linear_v_adapter_list")
        adapted = dict.fromkeys(names, adapters(config, block, hybrids, width, width))
    mixer = attention(
        width,
        heads,
        config.optional_integer("num_key_value_heads"),
        config.integer("attention_head_dim", 0) or 2 * hidden // heads,
        out_width=hidden,
        position="rope" if zamba2 and config.flag("use_mem_rope") else "none",
        extra=adapted,
    )
    if zamba2:
        mlp = fused_gated_mlp(hidden, inner, config.flag("add_bias_linear"))
        mlp = mlp.with_(
            children=(
                *mlp.children,
                ("gate_up_proj_adapter_list", adapters(config, block, hybrids, hidden, 2 * inner)),
            )
        )
    else:
        mlp = gated_mlp(hidden, inner)
    return Module(
        "SharedTransformer",
        children=children(
            self_attn=mixer, feed_forward=mlp, input_layernorm=rms_norm(width), pre_ff_layernorm=rms_norm(hidden)
        ),
    )


def kinds(config: ModelConfig) -> LayerPattern[int]:
    """For each layer the number of hybrid layers before it if it is one itself, else -1."""
    pattern = config.layers("layers_block_type")
    if len(pattern) > _MOST_LAYERS:
        raise CannotBuild(f"{len(pattern)} layers are too many to follow which of them share a block")
    numbers, found = [], 0
    for kind in pattern:
        numbers.append(found if kind == "hybrid" else -1)
        found += kind == "hybrid"
    return LayerPattern.of(numbers)


def hybrid_builder(config: ModelConfig, pattern: LayerPattern[int], mamba: Module) -> Callable[[int], Module]:
    hidden, zamba2 = config.integer("hidden_size"), config.model_type == "zamba2"
    name = "shared_transformer" if zamba2 else "shared_transf"
    blocks = config.integer("num_mem_blocks") if zamba2 else 1
    positions = [index for index, number in enumerate(pattern) if number >= 0]
    prefix = "" if head_name(config.architecture) == "Model" else "model."
    built = {block: shared_block(config, block, len(positions)) for block in range(min(blocks, len(positions)))}
    tied = config.flag("tie_word_embeddings")

    def build_layer(number: int) -> Module:
        if number < 0:
            return mamba
        block = built[number % blocks]
        if tied and number >= blocks:
            block = tied_copy(block, f"{prefix}layers.{positions[number % blocks]}.{name}")
        parts: dict[str, Module | Stack | None] = {
            name: block,
            "linear": linear(hidden, hidden, bias=False),
            "mamba_decoder": mamba,
        }
        return Module("HybridLayer", children=named(parts))

    return build_layer


def build(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    mixer = zamba2_mixer(config) if config.model_type == "zamba2" else zamba_mixer(config)
    mamba = Module("MambaLayer", children=children(mamba=mixer, input_layernorm=rms_norm(hidden)))
    pattern = kinds(config)
    backbone = Module(
        "Model",
        children=children(
            embed_tokens=token_embedding(config.integer("vocab_size"), hidden),
            layers=layers(pattern, hybrid_builder(config, pattern, mamba)),
            final_layernorm=rms_norm(hidden),
        ),
    )
    return with_language_head(config, backbone, hidden=hidden)
