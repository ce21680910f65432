"""EmbeddingGemma 2 (text): a bidirectional encoder with per-layer inputs projected from the token embeddings.

``per_layer_config`` gives layers with full attention other head sizes; where a file does not have one, they come from
``global_head_dim`` and ``num_global_key_value_heads``.
"""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import SANDWICH_NORM, decoder_layer, feed_forward
from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.layer_pattern import LayerPattern
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.config.overrides import Overrides, is_written, per_layer_overrides
from neurarch_schemas.documents.json_value import JSONScalar
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.attention import attention
from neurarch_schemas.modules.layers import linear, rms_norm, token_embedding
from neurarch_schemas.modules.tree import Module, Tensor, children

MODEL_TYPES = ("embedding_gemma2_text",)
READS_PER_LAYER_CONFIG = True

_GLOBAL_HEAD_DIM = 512
_GLOBAL_KV_HEADS = 1


def layer_types(config: ModelConfig) -> LayerPattern[JSONScalar]:
    """The last layer always has full attention."""
    pattern = config.layers("layer_types")
    return pattern.with_item(pattern.length - 1, "full_attention")


def overrides(config: ModelConfig) -> LayerPattern[Overrides]:
    """``per_layer_config``, or what the class makes of the keys for layers with full attention."""
    if is_written(config, "per_layer_config"):
        return per_layer_overrides(config, ("head_dim", "num_key_value_heads"), config.integer("num_hidden_layers"))
    wide: Overrides = (
        ("head_dim", config.integer("global_head_dim", _GLOBAL_HEAD_DIM)),
        ("num_key_value_heads", config.integer("num_global_key_value_heads", _GLOBAL_KV_HEADS)),
    )
    return layer_types(config).map(lambda kind: wide if kind == "full_attention" else ())


def head_sizes(config: ModelConfig) -> LayerPattern[tuple[int, int]]:
    """(head size, KV heads) of each layer."""
    dim, kv_heads = config.integer("head_dim"), config.integer("num_key_value_heads")
    return overrides(config).map(
        lambda changes: (own(changes, "head_dim", dim), own(changes, "num_key_value_heads", kv_heads))
    )


def own(changes: Overrides, key: str, usual: int) -> int:
    """The value a layer has instead of the usual one."""
    value = dict(changes).get(key)
    return usual if value is None else value


def layer(config: ModelConfig, window: int | None, size: tuple[int, int]) -> Module:
    hidden, inputs = config.integer("hidden_size"), config.integer("hidden_size_per_layer_input")
    dim, kv_heads = size
    mixer = attention(
        hidden,
        config.integer("num_attention_heads"),
        kv_heads,
        dim,
        bias=config.flag("attention_bias"),
        extra={"q_norm": rms_norm(dim), "k_norm": rms_norm(dim)},
        window=window,
        kind="encoder",
        qk_norm=True,
        cached=False,
    )
    block = decoder_layer(hidden, mixer, feed_forward(config), norms=SANDWICH_NORM)
    inputs_block = Module(
        "PerLayerInput",
        children=children(
            per_layer_input_gate=linear(hidden, inputs, bias=False),
            per_layer_projection=linear(inputs, hidden, bias=False),
            post_per_layer_input_norm=rms_norm(hidden),
        ),
    )
    return block.with_(
        tensors=(Tensor("layer_scalar", (1,), "buffer"),), children=(*block.children, ("ple_block", inputs_block))
    )


def build(config: ModelConfig) -> Module:
    if head_name(config.architecture) != "Model":
        raise unknown_head(config.architecture)
    hidden, inputs = config.integer("hidden_size"), config.integer("hidden_size_per_layer_input")
    per_layer = Module(
        "PerLayerInputs",
        children=children(
            per_layer_model_projection=linear(hidden, config.integer("num_hidden_layers") * inputs, bias=False),
            per_layer_projection_norm=rms_norm(inputs),
        ),
        part="embedding",
    )
    width = config.optional_integer("sliding_window")
    windows = layer_types(config).map(lambda kind: width if kind == "sliding_attention" else None)
    pattern = windows.zip(head_sizes(config))
    output = config.integer("embedding_dim")
    return Module(
        "Model",
        children=children(
            embed_tokens=token_embedding(config.integer("vocab_size"), hidden),
            layers=layers(pattern, lambda kind: layer(config, *kind)),
            norm=rms_norm(hidden),
            ple=per_layer,
            embedding_projection=linear(hidden, output, bias=False, part="head"),
        ),
        width_out=output,
    )
