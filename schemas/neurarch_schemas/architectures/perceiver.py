"""Perceiver IO (arXiv:2107.14795): latents that read the inputs, work among themselves and are queried."""

from __future__ import annotations

from neurarch_schemas.architectures.language_heads import head_name, label_count, unknown_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import in_part, uniform
from neurarch_schemas.modules.attention import width_problem
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import (
    batch_norm,
    convolution,
    layer_norm,
    linear,
    position_embedding,
    token_embedding,
)
from neurarch_schemas.modules.tree import AttentionShape, Module, Stack, Tensor, named

MODEL_TYPES = ("perceiver",)

# Fixed in the masked language model's decoder.
DECODER_HEADS = 8
DECODER_KEY_WIDTH = 8 * 32


def layer(
    config: ModelConfig,
    width: int,
    *,
    heads: int,
    widening: int,
    source: int | None = None,
    keys: int | None = None,
    values: int | None = None,
) -> Module:
    """Attention of a stream of ``width`` to itself, or to one of width ``source``, and a feed-forward.

    ``keys`` defaults to the width of one of the two streams (which one is a setting), ``values`` to ``keys``.
    """
    cross = source is not None
    inputs = width if source is None else source
    if keys is None:
        choice = config.text("cross_attention_shape_for_attention")
        if cross and choice not in ("q", "kv"):
            raise CannotBuild(f"{choice!r} is not a stream", ("cross_attention_shape_for_attention",))
        keys = inputs if cross and choice == "kv" else width
    values = keys if values is None else values
    shape = AttentionShape(
        heads, heads, keys // heads, values // heads, "cross" if cross else "encoder", causal=False, position="none"
    )
    outputs = width if cross else values
    parts: dict[str, Module | Stack | None] = {
        "self.layernorm1": layer_norm(width),
        "self.layernorm2": layer_norm(inputs) if cross else None,
        "self.query": linear(width, keys),
        "self.key": linear(inputs, keys),
        "self.value": linear(inputs, values),
        "output.dense": linear(values, outputs),
    }
    attention = Module(
        "Attention",
        children=named(parts),
        part="attention",
        attention=shape,
        width_in=width,
        width_out=outputs,
        problems=width_problem(outputs, width),
    )
    children = {
        "attention": attention,
        "layernorm": layer_norm(width),
        "mlp": mlp(width, widening * width, names=("dense1", "dense2")),
    }
    return Module("Layer", children=named(children))


def encoder(config: ModelConfig, source: int) -> Module:
    """The self-attention layers are one block, used ``num_blocks`` times."""
    width = config.integer("d_latents")
    keys, values = config.optional_integer("qk_channels"), config.optional_integer("v_channels")
    reading = layer(
        config,
        width,
        heads=config.integer("num_cross_attention_heads"),
        widening=config.integer("cross_attention_widening_factor"),
        source=source,
        keys=keys,
        values=values,
    )
    working = layer(
        config,
        width,
        heads=config.integer("num_self_attention_heads"),
        widening=config.integer("self_attention_widening_factor"),
        keys=keys,
        values=values,
    )
    count = config.integer("num_self_attends_per_block")
    return Module("Encoder", children=(("cross_attention", reading), ("self_attends", uniform(working, count))))


def decoder(
    config: ModelConfig,
    queries: int,
    width: int,
    *,
    heads: int,
    keys: int | None,
    values: int | None,
    outputs: int | None,
) -> Module:
    """``queries`` learned ones of ``width``; ``outputs`` is the width of a last projection, where there is one."""
    table = Module("Positions", (Tensor("position_embeddings", (queries, width)),), part="position")
    reading = layer(
        config, width, heads=heads, widening=1, source=config.integer("d_latents"), keys=keys, values=values
    )
    parts: dict[str, Module | Stack | None] = {
        "output_position_encodings": table,
        "decoding_cross_attention": reading,
        "final_layer": linear(width, outputs, part="head") if outputs is not None else None,
    }
    return Module("Decoder", children=named(parts))


def text_inputs(config: ModelConfig) -> Module:
    width = config.integer("d_model")
    parts: dict[str, Module | Stack | None] = {
        "embeddings": token_embedding(config.integer("vocab_size"), width),
        "position_embeddings": position_embedding(config.integer("max_position_embeddings"), width),
    }
    return Module("TextInputs", children=named(parts))


def model(config: ModelConfig, inputs: Module | None, source: int, decoding: Module | None) -> Module:
    latents = Tensor("latents", (config.integer("num_latents"), config.integer("d_latents")))
    parts: dict[str, Module | Stack | None] = {
        "input_preprocessor": inputs,
        "embeddings": Module("Latents", (latents,), part="embedding"),
        "encoder": encoder(config, source),
        "decoder": decoding,
    }
    return Module("Model", children=named(parts))


def classification(config: ModelConfig) -> Module:
    width = config.integer("d_latents")
    inner = decoder(config, 1, width, heads=1, keys=None, values=None, outputs=label_count(config))
    return Module("ClassificationDecoder", children=(("decoder", inner),))


def image_inputs(config: ModelConfig, kind: str) -> tuple[Module | None, int]:
    """What the three image classifiers put before the encoder, and its width.

    Fourier positions have a sine and a cosine for each of 64 bands and two axes, and the position itself.
    """
    fourier = 2 * (2 * 64 + 1)
    if kind == "Fourier":
        return None, 3 + fourier
    if kind == "Learned":
        side = config.integer("image_size")
        table = Module("Positions", (Tensor("position_embeddings", (side * side, 256)),), part="position")
        parts: dict[str, Module | Stack | None] = {
            "convnet_1x1": convolution(3, 256, (1, 1)),
            "position_embeddings": table,
            "positions_projection": linear(256, 256),
        }
        return in_part(Module("ImageInputs", children=named(parts)), "vision"), 512
    parts = {"convnet.conv": convolution(3, 64, (7, 7), bias=False), "convnet.batchnorm": batch_norm(64)}
    return in_part(Module("ImageInputs", children=named(parts)), "vision"), 64 + fourier


def build(config: ModelConfig) -> Module:
    head, width = head_name(config.architecture), config.integer("d_model")
    if head == "Model":
        return model(config, None, width, None)
    if head == "ForMaskedLM":
        queries = config.integer("max_position_embeddings")
        decoding = decoder(
            config, queries, width, heads=DECODER_HEADS, keys=DECODER_KEY_WIDTH, values=width, outputs=None
        )
        # The logits are products with the token table.
        bias = Module("EmbeddingDecoder", (Tensor("bias", (config.integer("vocab_size"),)),), part="head")
        whole = model(config, text_inputs(config), width, decoding)
        return Module(config.architecture, children=(("perceiver", whole), ("embedding_decoder", bias)))
    if head == "ForSequenceClassification":
        inputs: Module | None = text_inputs(config)
    elif head.startswith("ForImageClassification") and head.endswith(("Learned", "Fourier", "ConvProcessing")):
        inputs, width = image_inputs(config, head.removeprefix("ForImageClassification"))
    else:
        raise unknown_head(config.architecture)
    whole = model(config, inputs, width, classification(config))
    return Module(config.architecture, children=(("perceiver", whole),))
