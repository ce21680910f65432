"""GPT-Neo: learned positions, ``attention_types`` alternates global and windowed layers."""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import language_model
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.layer_pattern import LayerPattern, PatternRun
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.attention import attention, kv_caches
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import layer_norm, position_embedding
from neurarch_schemas.modules.tree import AttentionShape, Module, children

MODEL_TYPES = ("gpt_neo",)


def windows(config: ModelConfig) -> LayerPattern[int | None]:
    """``attention_types`` is a list of (kinds, how often they are repeated)."""
    window = config.integer("window_size")
    runs: list[PatternRun[int | None]] = []
    for item in config.items("attention_types"):
        kinds, times = item if isinstance(item, list) and len(item) == 2 else (None, None)
        if not isinstance(kinds, list) or not isinstance(times, int) or not set(kinds) <= {"global", "local"}:
            raise CannotBuild("attention_types is not a list of (kinds, times)", ("attention_types",))
        runs.append(PatternRun(tuple(window if kind == "local" else None for kind in kinds), times))
    pattern = LayerPattern(tuple(runs))
    if sum(run.length for run in runs) != config.integer("num_layers"):
        keys = ("attention_types", "num_layers")
        raise CannotBuild(f"attention_types describes {len(pattern)} layers, num_layers is another number", keys)
    return pattern


def layer(config: ModelConfig, window: int | None) -> Module:
    hidden, heads = config.integer("hidden_size"), config.integer("num_heads")
    mixer = attention(
        hidden,
        heads,
        names=("q_proj", "k_proj", "v_proj", "out_proj"),
        out_bias=True,
        window=window,
        kind="full" if window is None else "sliding",
        position="learned",
    )
    # The cache keeps every position: the window is a mask only.
    dim = hidden // heads
    mixer = mixer.with_(caches=kv_caches(AttentionShape(heads, heads, dim, dim)))
    return Module(
        "Block",
        children=children(
            ln_1=layer_norm(hidden),
            attn=Module("Attention", children=children(attention=mixer)),
            ln_2=layer_norm(hidden),
            mlp=mlp(hidden, config.integer("intermediate_size", 4 * hidden), names=("c_fc", "c_proj")),
        ),
        width_in=hidden,
        width_out=hidden,
    )


def build(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    return language_model(
        config,
        layers(windows(config), lambda window: layer(config, window)),
        norm=layer_norm(hidden),
        names=("wte", "h", "ln_f"),
        before={"wpe": position_embedding(config.integer("max_position_embeddings"), hidden)},
        prefix="transformer",
        classifier="classifier",
    )
