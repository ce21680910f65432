"""DiffusionGemma: Gemma 4 twice over the same weights, to read the prompt and to fill in a block of tokens.

The decoder reads the encoder's cache and writes none. Full layers never have a value projection, every layer has
experts.
"""

from __future__ import annotations

from neurarch_schemas.architectures import with_settings
from neurarch_schemas.architectures.composite import projector, tower
from neurarch_schemas.architectures.gemma4 import layer, layer_types, overrides
from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers, lm_head, tied_copy, tied_stack
from neurarch_schemas.modules.feed_forward import gated_mlp
from neurarch_schemas.modules.layers import embedding, linear, rms_norm, token_embedding
from neurarch_schemas.modules.tree import Module, Stack, Tensor, children

MODEL_TYPES = ("diffusion_gemma",)
READS_PER_LAYER_CONFIG = True


def blocks(text: ModelConfig, *, cached: bool) -> Stack:
    def block(kind: tuple[object, object]) -> Module:
        built = layer(text, *kind, shared=False)  # type: ignore[arg-type]  # a layer type and its overrides
        if cached:
            return built
        without = tuple(
            (name, child.with_(caches=()) if isinstance(child, Module) and name == "self_attn" else child)
            for name, child in built.children
        )
        return built.with_(children=without)

    return layers(layer_types(text).zip(overrides(text)), block)


def is_shared(tensor: Tensor) -> bool:
    """Biases and the layers' output scales (buffers) are not among the tied names."""
    return tensor.kind == "parameter" and tensor.name != "bias"


def build(config: ModelConfig) -> Module:
    text = with_settings(config.nested_config("text_config"), attention_k_eq_v=True, enable_moe_block=True)
    hidden, vocabulary = text.integer("hidden_size"), text.integer("vocab_size")
    tied, head = config.flag("tie_word_embeddings"), head_name(config.architecture)
    if head not in ("Model", "ForBlockDiffusion"):
        raise unknown_head(config.architecture)
    original = "encoder.language_model" if head == "Model" else "model.encoder.language_model"
    shared = f"{original}.embed_tokens.weight" if tied else None
    features = config.nested_config("vision_config").integer("hidden_size")
    reader = children(
        embed_tokens=token_embedding(vocabulary, hidden), layers=blocks(text, cached=True), norm=rms_norm(hidden)
    )
    encoder = Module(
        "Encoder",
        children=children(
            language_model=Module("Model", children=reader),
            vision_tower=tower(config),
            embed_vision=projector({"embedding_projection": linear(features, hidden, bias=False)}),
        ),
    )
    stack, norm = blocks(text, cached=False), rms_norm(hidden)
    if tied:
        stack = tied_stack(stack, f"{original}.layers", shares=is_shared)
        norm = tied_copy(norm, f"{original}.norm")
    conditioning = gated_mlp(hidden, text.integer("intermediate_size"))
    decoder = Module(
        "Decoder",
        children=children(
            embed_tokens=embedding(vocabulary, hidden, lookup=True, tied_to=shared),
            layers=stack,
            norm=norm,
            self_conditioning=conditioning.with_(children=(("pre_norm", rms_norm(hidden)), *conditioning.children)),
        ),
    )
    model = Module("Model", children=children(encoder=encoder, decoder=decoder))
    if head == "Model":
        return model
    return Module(
        config.architecture, children=children(model=model, lm_head=lm_head(hidden, vocabulary, tied_to=shared))
    )
