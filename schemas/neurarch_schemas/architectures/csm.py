"""CSM: a Llama backbone over summed codebook embeddings, a depth decoder for the further codebooks, an audio codec.

Both decoders share one table of audio tokens when ``tie_codebooks_embeddings`` is set: the depth decoder's, which takes
the place (and the name) of the backbone's.
"""

from __future__ import annotations

from neurarch_schemas.architectures import build_nested
from neurarch_schemas.architectures.decoder import decoder_layer, feed_forward, self_attention
from neurarch_schemas.architectures.language_heads import unknown_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers, lm_head
from neurarch_schemas.modules.layers import embedding, linear, rms_norm, token_embedding
from neurarch_schemas.modules.tree import Module, Stack, Tensor, children

MODEL_TYPES = ("csm", "csm_depth_decoder_model")


def blocks(config: ModelConfig, cached: bool = True) -> Stack:
    hidden = config.integer("hidden_size")

    def layer(window: int | None) -> Module:
        mixer = self_attention(config, window, bias=config.flag("attention_bias"), cached=cached)
        return decoder_layer(hidden, mixer, feed_forward(config, bias=config.flag("mlp_bias")))

    return layers(config.windows(), layer)


def depth_model(config: ModelConfig, tied_to: str | None = None, within: bool = False) -> Module:
    hidden, outer = config.integer("hidden_size"), config.integer("backbone_hidden_size")
    rows = config.integer("num_codebooks") * config.integer("vocab_size")
    return Module(
        "DepthDecoderModel",
        children=children(
            embed_tokens=embedding(rows, outer, lookup=True, tied_to=tied_to),
            # Within CSM the cache is emptied for every frame, so it does not grow with the text.
            layers=blocks(config, cached=not within),
            norm=rms_norm(hidden),
            inputs_embeds_projector=linear(outer, hidden, bias=False),
        ),
        width_out=hidden,
    )


def depth_decoder(config: ModelConfig, tied_to: str | None = None, within: bool = False) -> Module:
    """With one head for each codebook but the first; one of them works on each token."""
    hidden, rows, books = (config.integer(key) for key in ("hidden_size", "vocab_size", "num_codebooks"))
    if not books:
        raise CannotBuild("num_codebooks is zero", ("num_codebooks",))
    heads = Module(
        "CodebooksHead",
        (Tensor("weight", (books - 1, hidden, rows)),),
        part="head",
        multiply_accumulates=hidden * rows,
    )
    return Module("DepthDecoder", children=children(model=depth_model(config, tied_to, within), codebooks_head=heads))


def backbone(config: ModelConfig, depth: ModelConfig | None = None) -> Module:
    """``depth`` is the config whose table of audio tokens replaces the backbone's own."""
    hidden = config.integer("hidden_size")
    width = hidden if depth is None else depth.integer("backbone_hidden_size")
    owner = config if depth is None else depth
    tokens = token_embedding(owner.integer("num_codebooks") * owner.integer("vocab_size"), width)
    return Module(
        "BackboneModel",
        children=children(
            embed_tokens=Module("Embeddings", children=children(embed_audio_tokens=tokens)),
            layers=blocks(config),
            norm=rms_norm(hidden),
        ),
        width_out=hidden,
    )


def build(config: ModelConfig) -> Module:
    architecture = config.architecture
    if config.model_type == "csm_depth_decoder_model":
        if architecture.endswith("ForCausalLM"):
            return depth_decoder(config)
        if architecture.endswith("Model"):
            return depth_model(config)
    elif architecture.endswith("Model"):
        return backbone(config)
    elif architecture.endswith("ForConditionalGeneration"):
        hidden = config.integer("hidden_size")
        depth, tied = config.nested_config("depth_decoder_config"), config.flag("tie_codebooks_embeddings", True)
        shared = "backbone_model.embed_tokens.embed_audio_tokens.weight" if tied else None
        return Module(
            architecture,
            children=children(
                lm_head=lm_head(hidden, config.integer("vocab_size")),
                embed_text_tokens=token_embedding(config.integer("text_vocab_size"), hidden),
                backbone_model=backbone(config, depth if tied else None),
                depth_decoder=depth_decoder(depth, shared, within=True),
                codec_model=build_nested(config, "codec_config"),
            ),
        )
    raise unknown_head(architecture)
