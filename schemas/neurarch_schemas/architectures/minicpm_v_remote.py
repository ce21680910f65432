"""MiniCPM-V 2.5, 2.6, 4.0 and 4.5 with the code that came with them: SigLIP, a resampler, Llama or Qwen.

The config is that of the language model with a vision config inside. The total of MiniCPM-V 2.6 equals the published
8,099,175,152.
"""

from __future__ import annotations

from neurarch_schemas import architectures
from neurarch_schemas.architectures.clip_vision import vision_transformer
from neurarch_schemas.architectures.composite import projector
from neurarch_schemas.architectures.remote_vision_language import below
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import in_part
from neurarch_schemas.modules.layers import layer_norm, linear
from neurarch_schemas.modules.tree import Module, Tensor, children
from neurarch_schemas.modules.vision import torch_attention
from neurarch_schemas.record import replace

MODEL_TYPES = ("minicpmv",)

_LANGUAGE_MODELS = {2.5: "llama", 2.6: "qwen2", 4.0: "llama", 4.5: "qwen3"}
_CLASSES = {"llama": "LlamaForCausalLM", "qwen2": "Qwen2ForCausalLM", "qwen3": "Qwen3ForCausalLM"}


def resampler(queries: int, width: int, features: int) -> Module:
    """As many learned queries as tokens come out attend to the patches of an image."""
    heads = width // 128
    return projector(
        {
            "kv_proj": linear(features, width, bias=False),
            "attn": torch_attention(width, heads),
            "ln_q": layer_norm(width),
            "ln_kv": layer_norm(width),
            "ln_post": layer_norm(width),
        },
        tensors=(Tensor("query", (queries, width)), Tensor("proj", (width, width))),
    )


def encoder(config: ModelConfig, shorter: bool) -> Module:
    """SigLIP without its pooling head, ``shorter`` by the last layer."""
    length = config.integer("num_hidden_layers") - shorter
    changes = {"num_hidden_layers": length, "vision_use_head": False, "num_channels": 3}
    return in_part(vision_transformer(architectures.with_settings(config, **changes)), "vision")


def build(config: ModelConfig) -> Module:
    kind = _LANGUAGE_MODELS.get(config.number("version", 0.0))
    if kind is None or config.architecture != "MiniCPMV":
        raise CannotBuild("this version of MiniCPM-V is not known", ("version",))
    vision, hidden = config.nested_config("vision_config"), config.integer("hidden_size")
    if vision.model_type != "siglip_vision_model":
        vision = replace(vision, model_type="siglip_vision_model")
    model = architectures.build(replace(config, model_type=kind, architecture=_CLASSES[kind]))
    return Module(
        config.architecture,
        children=children(
            llm=below(model, "llm"),
            vpm=encoder(vision, config.flag("drop_vision_last_layer", True)),
            resampler=resampler(config.integer("query_num"), hidden, vision.integer("hidden_size")),
        ),
    )
