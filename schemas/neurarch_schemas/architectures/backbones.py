"""Image networks as backbones of detectors and segmenters: feature maps of chosen stages (AutoBackbone)."""

from __future__ import annotations

from neurarch_schemas.architectures import build_nested
from neurarch_schemas.architectures.image_heads import chosen_stages, stage_norms
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import in_part
from neurarch_schemas.modules.detection import frozen
from neurarch_schemas.modules.layers import layer_norm
from neurarch_schemas.modules.tree import Module, Stack, named, stack

MODEL_TYPES = ()

STAGED = ("resnet", "rt_detr_resnet", "hgnet_v2")
"""Stem and stages, whose widths are ``embedding_size`` and ``hidden_sizes``."""


def maskformer_swin(model: Module, norms: Stack) -> Module:
    return in_part(Module("Backbone", children=(("model", model), ("hidden_states_norms", norms))), "vision")


def backbone(
    config: ModelConfig, name: str = "backbone_config", *, freeze: bool = False
) -> tuple[Module, tuple[int, ...]]:
    """The network of a nested config and the widths of the feature maps it gives.

    ``freeze`` fixes its batch norms. Raises CannotBuild for types that are not known as backbones.
    """
    nested = config.nested_config(name)
    kind = nested.model_type
    if kind in STAGED:
        widths = (nested.integer("embedding_size"), *nested.integers("hidden_sizes"))
        built = build_nested(config, name, "Model" if kind == "resnet" else "Backbone")
        indices = chosen_stages(nested, len(widths) - 1)
    elif kind in ("swin", "maskformer-swin"):
        depths = nested.counts("depths")
        first = nested.integer("embed_dim")
        widths = (first, *(first << index for index in range(len(depths))))
        indices = chosen_stages(nested, len(depths))
        built = build_nested(config, name, "Model")
        if kind == "maskformer-swin":
            listed = stack(*(layer_norm(widths[index]) for index in indices))
            return maskformer_swin(built, listed), tuple(widths[index] for index in indices)
        built = Module("Backbone", children=named({"swin": built, **stage_norms(nested, widths)}))
    else:
        raise CannotBuild(f"a backbone of type {kind!r} is not known", (name,))
    built = in_part(frozen(built) if freeze else built, "vision")
    return built, tuple(widths[index] for index in indices)
