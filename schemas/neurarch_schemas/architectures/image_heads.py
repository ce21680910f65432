"""The classification heads that transformers puts on an image backbone."""

from __future__ import annotations

from neurarch_schemas.architectures.language_heads import head_name, label_count, unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.layers import linear
from neurarch_schemas.modules.tree import Module, named


def classifier(config: ModelConfig, width: int) -> Module | None:
    """A linear map to the labels; nothing where there are none."""
    labels = label_count(config)
    return linear(width, labels, part="head") if labels else None


def with_image_classifier(
    config: ModelConfig, backbone: Module, width: int, *, prefix: str = "", name: str = "classifier"
) -> Module:
    """The class named by ``config.architecture``: the backbone alone, or with a classifier of ``width`` features.

    ``prefix`` is the backbone's attribute name (default: the model type), ``name`` the classifier's.
    """
    head = head_name(config.architecture)
    if head == "Model":
        return backbone
    if head != "ForImageClassification":
        raise unknown_head(config.architecture)
    parts = {prefix or config.model_type: backbone, name: classifier(config, width)}
    return Module(config.architecture, children=named(parts))
