"""xLSTM 7B: blocks of matrix LSTM and a gated MLP. The output head is never tied: its class has no tied weights."""

from __future__ import annotations

from neurarch_schemas.architectures.language_heads import with_language_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.layers import layer_norm, linear, rms_norm, token_embedding
from neurarch_schemas.modules.linear_attention import linear_attention
from neurarch_schemas.modules.tree import Cache, Module, Stack, children, named

MODEL_TYPES = ("xlstm",)


def round_up(value: float, multiple: int) -> int:
    return int((value + multiple - 1) // multiple * multiple)


def fused_weights(config: ModelConfig) -> bool:
    mode = config.text("weight_mode", "single")
    if mode not in ("single", "fused"):
        raise CannotBuild(f"weight_mode {mode!r} is neither single nor fused", ("weight_mode",))
    return mode == "fused"


def matrix_lstm(config: ModelConfig) -> Module:
    hidden, heads, bias = config.integer("hidden_size"), config.integer("num_heads"), config.flag("use_bias")
    v_dim, qk_dim = int(hidden * config.number("v_dim_factor")), int(hidden * config.number("qk_dim_factor"))
    norm_width = v_dim // heads * heads
    projections: dict[str, Module | Stack | None]
    if fused_weights(config):
        projections = {
            "qkv_opreact": linear(hidden, 2 * qk_dim + 2 * v_dim, bias),
            "ifgate_preact": linear(hidden, 2 * heads),
        }
    else:
        projections = {
            "q": linear(hidden, qk_dim, bias),
            "k": linear(hidden, qk_dim, bias),
            "v": linear(hidden, v_dim, bias),
            "ogate_preact": linear(hidden, v_dim, bias),
            "igate_preact": linear(hidden, heads),
            "fgate_preact": linear(hidden, heads),
        }
    # The cache rounds both widths up to a multiple of 64.
    key_dim = round_up(hidden * config.number("qk_dim_factor"), 64) // heads
    value_dim = round_up(hidden * config.number("v_dim_factor"), 64) // heads
    return linear_attention(
        (),
        {
            **projections,
            "multihead_norm": layer_norm(norm_width, bias=bias),
            "out_proj": linear(v_dim, hidden, bias),
        },
        hidden=hidden,
        key_heads=heads,
        value_heads=heads,
        key_dim=qk_dim // heads,
        value_dim=v_dim // heads,
        caches=(Cache("recurrent", constant=heads * (key_dim * value_dim + key_dim + 1)),),
        type="MatrixLSTM",
    )


def feed_forward(config: ModelConfig) -> Module:
    hidden, bias = config.integer("hidden_size"), config.flag("use_bias")
    inner = round_up(hidden * config.number("ffn_proj_factor"), config.integer("ffn_round_up_to_multiple_of"))
    up: dict[str, Module | Stack | None]
    if fused_weights(config):
        up = {"proj_up_gate_z": linear(hidden, 2 * inner, bias)}
    else:
        up = {"proj_up_gate": linear(hidden, inner, bias), "proj_up": linear(hidden, inner, bias)}
    return Module(
        "GatedMLP",
        children=named({**up, "proj_down": linear(inner, hidden, bias)}),
        part="feed-forward",
        width_in=hidden,
        width_out=hidden,
    )


def build(config: ModelConfig) -> Module:
    hidden, bias = config.integer("hidden_size"), config.flag("use_bias")
    # An RMSNorm that has a bias where the model has biases.
    norm = layer_norm(hidden, bias=bias).with_(type="RMSNorm")
    block = Module(
        "Block",
        children=children(norm_mlstm=norm, mlstm_layer=matrix_lstm(config), norm_ffn=norm, ffn=feed_forward(config)),
    )
    width = config.integer("embedding_dim", hidden)
    backbone = Module(
        "Model",
        children=children(
            embeddings=token_embedding(config.integer("vocab_size"), width),
            blocks=uniform(block, config.integer("num_blocks", config.integer("num_hidden_layers"))),
            out_norm=rms_norm(hidden),
        ),
    )
    return with_language_head(config, backbone, hidden=hidden, prefix="backbone", tied=False)
