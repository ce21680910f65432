"""LLaVA 1.5 and 1.6 with the code they were published with: a Llama or Mistral that has a projector inside.

The class reads CLIP from a repository of its own, so that its tensors are the model's only where it was trained along
(``unfreeze_mm_vision_tower``). Confirmed by that class on the backbones of transformers.
"""

from __future__ import annotations

import re

from neurarch_schemas.architectures.composite import projector
from neurarch_schemas.architectures.decoder import decoder_layer, feed_forward, language_model, self_attention
from neurarch_schemas.architectures.phi3_vision import clip_encoder
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import in_part, uniform
from neurarch_schemas.modules.layers import linear
from neurarch_schemas.modules.tree import Module, Stack, Tensor

MODEL_TYPES = ("llava_llama", "llava_mistral")

CLASSES = ("LlavaLlamaForCausalLM", "LlavaMistralForCausalLM")
CLIP = "openai/clip-vit-large-patch14-336"


def image_projector(config: ModelConfig) -> Module:
    kind = config.text("mm_projector_type", "linear")
    features, hidden = config.integer("mm_hidden_size"), config.integer("hidden_size")
    if kind == "linear":
        return in_part(linear(features, hidden), "projector")
    depth = re.fullmatch(r"mlp(\d+)x_gelu", kind)
    if depth is None:
        raise CannotBuild(f"the projector {kind!r} is not known", ("mm_projector_type",))
    maps = {str(2 * index): linear(hidden if index else features, hidden) for index in range(max(int(depth[1]), 1))}
    return projector({**maps})


def image_parts(config: ModelConfig) -> dict[str, Module | Stack | None]:
    if not config.flag("unfreeze_mm_vision_tower", False):
        return {"mm_projector": image_projector(config)}
    if config.text("mm_vision_tower") != CLIP:
        raise CannotBuild(f"only the image encoder {CLIP} is known", ("mm_vision_tower",))
    tower = in_part(Module("VisionTower", children=(("vision_tower", clip_encoder()),)), "vision")
    return {"vision_tower": tower, "mm_projector": image_projector(config)}


def build(config: ModelConfig) -> Module:
    if config.architecture not in CLASSES or config.is_set("mm_resampler_type"):
        raise CannotBuild(f"the class {config.architecture} is not known", ("architectures",))
    if not config.is_set("mm_vision_tower"):
        raise CannotBuild("mm_vision_tower is missing", ("mm_vision_tower",))
    if config.model_type == "llava_mistral":
        for key in ("num_key_value_heads", "sliding_window"):
            if key not in config:
                raise CannotBuild(f"{key} is missing", (key,))
    hidden, window = config.integer("hidden_size"), config.optional_integer("sliding_window")
    block = decoder_layer(hidden, self_attention(config, window), feed_forward(config))
    unpads = "unpad" in config.text("mm_patch_merge_type", "")
    return language_model(
        config,
        uniform(block, config.integer("num_hidden_layers")),
        after=image_parts(config),
        tensors=(Tensor("image_newline", (hidden,)),) if unpads else (),
    )
