"""What transformers puts on an image backbone: classification heads, and norms of the stages that a detector reads."""

from __future__ import annotations

from neurarch_schemas.architectures.language_heads import head_name, label_count, unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.layers import layer_norm, linear
from neurarch_schemas.modules.tree import Module, named


def classifier(config: ModelConfig, width: int) -> Module | None:
    """A linear map to the labels; nothing where there are none."""
    labels = label_count(config)
    return linear(width, labels, part="head") if labels else None


def chosen_stages(config: ModelConfig, stages: int) -> tuple[int, ...]:
    """Indices of the stages whose feature maps are read, the stem being 0; they may be written from the end."""
    return tuple(range(stages + 1)[value] for value in config.items("out_indices") if isinstance(value, int))


def stage_norms(config: ModelConfig, widths: tuple[int, ...]) -> dict[str, Module]:
    """A layer norm for every feature map that is read; ``widths`` are those of the stem and of each stage."""
    chosen = sorted(chosen_stages(config, len(widths) - 1))
    return {f"hidden_states_norms.{f'stage{at}' if at else 'stem'}": layer_norm(widths[at]) for at in chosen}


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
