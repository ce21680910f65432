"""Depth Anything (arXiv:2401.10891): DINOv2 features, DPT's neck and three convolutions to a depth."""

from __future__ import annotations

from neurarch_schemas.architectures import build_nested
from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import in_part
from neurarch_schemas.modules.dense_prediction import neck
from neurarch_schemas.modules.layers import convolution
from neurarch_schemas.modules.tree import Module, named

MODEL_TYPES = ("depth_anything",)


def build(config: ModelConfig) -> Module:
    if head_name(config.architecture) != "ForDepthEstimation":
        raise unknown_head(config.architecture)
    features = config.nested_config("backbone_config")
    if not features.model_type.startswith("dinov"):
        raise CannotBuild(f"a backbone of type {features.model_type!r} is not known", ("backbone_config",))
    width, narrow = config.integer("fusion_hidden_size"), config.integer("head_hidden_size")
    head = {
        "conv1": convolution(width, width // 2, (3, 3)),
        "conv2": convolution(width // 2, narrow, (3, 3)),
        "conv3": convolution(narrow, 1, (1, 1)),
    }
    parts = {
        "backbone": in_part(build_nested(config, "backbone_config", "Backbone"), "vision"),
        "neck": neck(config, config.integer("reassemble_hidden_size")),
        "head": Module("DepthHead", children=named({**head}), part="head"),
    }
    return Module(config.architecture, children=named({**parts}))
