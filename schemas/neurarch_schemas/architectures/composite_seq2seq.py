"""Encoder-decoders of any two models (text, vision, speech to text), and the dual encoder of vision and text."""

from __future__ import annotations

from neurarch_schemas.architectures import build_nested
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import in_part
from neurarch_schemas.modules.layers import linear
from neurarch_schemas.modules.tree import Module, Part, Stack, Tensor, named

MODEL_TYPES = ("encoder-decoder", "vision-encoder-decoder", "speech-encoder-decoder", "vision-text-dual-encoder")

TOWERS: dict[str, Part] = {"vision-encoder-decoder": "vision", "speech-encoder-decoder": "audio"}

CAUSAL_CLASSES = {
    "bert": "BertLMHeadModel",
    "bert-generation": "BertGenerationDecoder",
    "gpt2": "GPT2LMHeadModel",
    "xlm": "XLMWithLMHeadModel",
    "xlnet": "XLNetLMHeadModel",
}
"""What AutoModelForCausalLM builds, where it is not called ForCausalLM."""


def width(config: ModelConfig) -> int:
    for name in ("hidden_size", "d_model", "n_embd", "dim", "emb_dim"):
        if config.is_set(name):
            return config.integer(name)
    raise CannotBuild(f"the width of {config.model_type} is not known", ("hidden_size",))


def dual_encoder(config: ModelConfig) -> Module:
    """Two encoders, projected into one space (LiT, arXiv:2111.07991). A CLIP checkpoint gives its vision model."""
    text, vision = config.nested_config("text_config"), config.nested_config("vision_config")
    size = config.integer("projection_dim")
    parts: dict[str, Module | Stack | None] = {
        "vision_model": in_part(build_nested(config, "vision_config"), "vision"),
        "text_model": build_nested(config, "text_config"),
        "visual_projection": linear(width(vision), size, bias=False, part="projector"),
        "text_projection": linear(width(text), size, bias=False, part="projector"),
    }
    return Module("Model", (Tensor("logit_scale", ()),), named(parts))


def build(config: ModelConfig) -> Module:
    """The encoder's output is projected where the decoder is of another width and does not say it takes that one."""
    kind = config.model_type
    if kind == "vision-text-dual-encoder":
        return dual_encoder(config)
    encoder_config, decoder_config = config.nested_config("encoder"), config.nested_config("decoder")
    encoder = build_nested(config, "encoder")
    if kind in TOWERS:
        encoder = in_part(encoder, TOWERS[kind])
    family = decoder_config.model_type
    decoder = build_nested(config, "decoder", architecture=CAUSAL_CLASSES.get(family, f"{family}ForCausalLM"))
    source, target = width(encoder_config), width(decoder_config)
    # Speech encoders may declare another width for their output; the projection is built from their hidden size.
    declared = encoder_config.integer("output_hidden_size", source) if kind == "speech-encoder-decoder" else source
    projects = declared != target and not decoder_config.is_set("cross_attention_hidden_size")
    parts: dict[str, Module | Stack | None] = {
        "encoder": encoder,
        "decoder": decoder,
        "enc_to_dec_proj": linear(source, target, part="projector") if projects else None,
    }
    return Module(config.architecture, children=named(parts))
