"""TimesFM 1, 2 and 2.5: decoders over patches of a time series; residual feed-forward blocks in front and behind."""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import SANDWICH_NORM, decoder_layer, self_attention
from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.attention import attention
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import embedding, layer_norm, linear
from neurarch_schemas.modules.tree import Module, Tensor, children

MODEL_TYPES = ("timesfm", "timesfm2_5")


def residual_block(inputs: int, inner: int, outputs: int, bias: bool = True) -> Module:
    return Module(
        "ResidualBlock",
        children=children(
            input_layer=linear(inputs, inner, bias),
            output_layer=linear(inner, outputs, bias),
            residual_layer=linear(inputs, outputs, bias),
        ),
        part="feed-forward",
    )


def layer(config: ModelConfig) -> Module:
    hidden, inner, dim = (config.integer(key) for key in ("hidden_size", "intermediate_size", "head_dim"))
    # Queries are scaled by a learned factor for each dimension of a head.
    scaling = (Tensor("scaling", (dim,)),)
    if config.model_type == "timesfm2_5":
        mixer = self_attention(config, bias=config.flag("attention_bias"), qk_norm="head", cached=False)
        transform = mlp(hidden, inner, config.flag("use_bias"))
        return decoder_layer(hidden, mixer.with_(tensors=scaling), transform, norms=SANDWICH_NORM)
    position = "sinusoidal" if config.flag("use_positional_embedding") else "none"
    mixer = attention(
        hidden, config.integer("num_attention_heads"), head_dim=dim, bias=True, position=position, cached=False
    )
    transform = mlp(hidden, inner, names=("gate_proj", "down_proj"))
    transform = transform.with_(children=(*transform.children, ("layer_norm", layer_norm(hidden))))
    return decoder_layer(hidden, mixer.with_(tensors=scaling), transform, norms=("input_layernorm",))


def backbone(config: ModelConfig) -> Module:
    hidden, first = config.integer("hidden_size"), config.model_type == "timesfm"
    inner = config.integer("intermediate_size") if first else hidden
    positions = None
    if first and config.flag("use_positional_embedding"):
        positions = Module(
            "PositionalEmbedding", (Tensor("inv_timescales", (hidden // 2,), "buffer"),), part="position"
        )
    return Module(
        "Model",
        children=children(
            # A patch is read with its padding mask beside it.
            input_ff_layer=residual_block(2 * config.integer("patch_length"), inner, hidden),
            freq_emb=embedding(config.integer("freq_size"), hidden) if first else None,
            layers=uniform(layer(config), config.integer("num_hidden_layers")),
            position_emb=positions,
        ),
        width_out=hidden,
    )


def build(config: ModelConfig) -> Module:
    hidden, model = config.integer("hidden_size"), backbone(config)
    if config.architecture.endswith("ModelForPrediction"):
        outputs = 1 + len(config.items("quantiles"))
        horizon = config.integer("horizon_length")
        if config.model_type == "timesfm":
            inner = config.integer("intermediate_size")
            head = residual_block(hidden, inner, horizon * outputs).with_(part="head")
            return Module(config.architecture, children=children(decoder=model, horizon_ff_layer=head))
        # The heads never have biases: the class looks at use_bias only after it has built them.
        length = config.integer("output_quantile_len")
        return Module(
            config.architecture,
            children=children(
                model=model,
                output_projection_point=residual_block(hidden, hidden, horizon * outputs, bias=False).with_(
                    part="head"
                ),
                output_projection_quantiles=residual_block(hidden, hidden, length * outputs, bias=False).with_(
                    part="head"
                ),
            ),
        )
    if head_name(config.architecture) != "Model":
        raise unknown_head(config.architecture)
    return model
