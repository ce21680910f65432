"""NLLB-MoE (arXiv:2207.04672): an encoder-decoder in which every n-th layer has experts, two for each token."""

from __future__ import annotations

from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.layer_pattern import LayerPattern
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.encoder import encoder_attention
from neurarch_schemas.modules.experts import named_experts
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import embedding, layer_norm, linear
from neurarch_schemas.modules.tree import Module, Stack, Tensor, named

MODEL_TYPES = ("nllb-moe",)

LONGEST_STEP = 1024


def feed_forward(config: ModelConfig, inner: int, sparse: bool) -> Module:
    hidden = config.integer("d_model")
    if not sparse:
        return mlp(hidden, inner)
    tensors = (
        Tensor("fc1.weight", (inner, hidden)),
        Tensor("fc1.bias", (inner,)),
        Tensor("fc2.weight", (hidden, inner)),
        Tensor("fc2.bias", (hidden,)),
    )
    experts = config.integer("num_experts")
    router = linear(hidden, experts, bias=config.flag("router_bias"), part="router")
    pool = named_experts(Module("MLP", tensors), experts, 2, multiply_accumulates=2 * hidden * inner)
    return Module("SparseMLP", children=named({"router.classifier": router, "experts": pool}))


def layer(config: ModelConfig, side: str, sparse: bool) -> Module:
    hidden, heads, inner = (
        config.integer("d_model"),
        config.integer(f"{side}_attention_heads"),
        config.integer(f"{side}_ffn_dim"),
    )
    decoder = side == "decoder"
    own = encoder_attention(hidden, heads, role="decoder" if decoder else "encoder", position="sinusoidal")
    children: dict[str, Module | Stack | None] = {"self_attn": own, "self_attn_layer_norm": layer_norm(hidden)}
    if decoder:
        length = config.integer("max_position_embeddings")
        children["cross_attention"] = encoder_attention(hidden, heads, role="cross", source_length=length)
        children["cross_attention_layer_norm"] = layer_norm(hidden)
    children["ffn"] = feed_forward(config, inner, sparse)
    children["ff_layer_norm"] = layer_norm(hidden)
    return Module("DecoderLayer" if decoder else "EncoderLayer", children=named(children))


def side(config: ModelConfig, name: str, tied_to: str | None) -> Module:
    """Layers n - 1, 2n - 1, ... have experts, with n the sparse step (0: none)."""
    hidden, count, step = (
        config.integer("d_model"),
        config.integer(f"{name}_layers"),
        config.integer(f"{name}_sparse_step"),
    )
    pattern = LayerPattern.constant(False, count)
    if 0 < step <= count:
        if step > LONGEST_STEP:
            raise CannotBuild(f"a sparse step of {step} is not known", (f"{name}_sparse_step",))
        pattern = LayerPattern.periodic((*(False,) * (step - 1), True), count)
    return Module(
        name.capitalize(),
        children=named(
            {
                "embed_tokens": embedding(config.integer("vocab_size"), hidden, lookup=True, tied_to=tied_to),
                "layers": layers(pattern, lambda sparse: layer(config, name, sparse)),
                "layer_norm": layer_norm(hidden),
            }
        ),
    )


def build(config: ModelConfig) -> Module:
    head, hidden, vocabulary = head_name(config.architecture), config.integer("d_model"), config.integer("vocab_size")
    if head not in ("Model", "ForConditionalGeneration"):
        raise unknown_head(config.architecture)
    prefix = "" if head == "Model" else "model."
    tied = f"{prefix}shared.weight" if config.flag("tie_word_embeddings") else None
    parts: dict[str, Module | Stack | None] = {
        "shared": embedding(vocabulary, hidden, lookup=True),
        "encoder": side(config, "encoder", tied),
        "decoder": side(config, "decoder", tied),
    }
    model = Module("Model", children=named(parts))
    if head == "Model":
        return model
    output = linear(hidden, vocabulary, bias=False, tied_to=tied, part="head")
    return Module(config.architecture, children=named({"model": model, "lm_head": output}))
