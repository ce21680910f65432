"""GIT: a BERT decoder that reads the patches of a CLIP encoder as a prefix."""

from __future__ import annotations

from neurarch_schemas.architectures.clip_vision import vision_transformer
from neurarch_schemas.architectures.language_heads import with_language_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import in_part, uniform
from neurarch_schemas.modules.encoder import bert_embeddings, bert_layer
from neurarch_schemas.modules.layers import layer_norm, linear
from neurarch_schemas.modules.tree import Module, Stack, Tensor, children, stack
from neurarch_schemas.modules.vision import sequential

MODEL_TYPES = ("git", "git_vision_model")


def vision_model(config: ModelConfig) -> Module:
    return Module("VisionModel", children=children(vision_model=vision_transformer(config)))


def frame_embeddings(config: ModelConfig, features: int) -> Stack | None:
    """One learned vector for each frame, where a number of frames is given: a list of parameters."""
    frames = config.optional_integer("num_image_with_embedding")
    if frames is None:
        return None
    # A list of parameters has no name behind the index.
    return stack(Module("Parameter", (Tensor("", (1, 1, features)),)), times=frames)


def build(config: ModelConfig) -> Module:
    if config.model_type == "git_vision_model":
        return vision_model(config)
    hidden, vision = config.integer("hidden_size"), config.nested_config("vision_config")
    features = vision.integer("hidden_size")
    layer = bert_layer(hidden, config.integer("num_attention_heads"), config.integer("intermediate_size"), decoder=True)
    backbone = Module(
        "Model",
        children=children(
            embeddings=bert_embeddings(
                config.integer("vocab_size"), hidden, positions=config.integer("max_position_embeddings"), types=None
            ),
            image_encoder=in_part(vision_model(vision), "vision"),
            encoder=Module("Encoder", children=children(layer=uniform(layer, config.integer("num_hidden_layers")))),
            visual_projection=Module(
                "Projection",
                children=children(visual_projection=sequential(linear(features, hidden), layer_norm(hidden))),
                part="projector",
            ),
            img_temporal_embedding=frame_embeddings(config, features),
        ),
    )
    return with_language_head(
        config,
        backbone,
        hidden=hidden,
        prefix="git",
        embedding="embeddings.word_embeddings.weight",
        output="output",
        head_bias=True,
    )
