"""UVDoc (arXiv:2302.02887): a convolutional network that predicts where each point of a page is to be moved."""

from __future__ import annotations

from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.documents.json_value import JSONValue
from neurarch_schemas.modules.convolution_stages import convolution_norm
from neurarch_schemas.modules.layers import convolution
from neurarch_schemas.modules.tree import Module, Stack, Tensor, named, stack

MODEL_TYPES = ("uvdoc",)

BRIDGE_KERNEL = 3


def lists(value: JSONValue, name: str, *, length: int) -> list[list[int]]:
    """A list of lists of at least ``length`` numbers (a flag counts as one)."""
    if isinstance(value, list):
        items = [
            [int(part) for part in item if isinstance(part, int) and part >= 0]
            for item in value
            if isinstance(item, list)
        ]
        if len(items) == len(value) and all(len(item) >= length for item in items):
            return items
    raise CannotBuild(f"{name} must be a list of lists of {length} numbers", (name,))


def residual(inputs: int, outputs: int, kernel: int, down: bool) -> Module:
    parts: dict[str, Module | Stack | None] = {
        "conv_down": convolution_norm(inputs, outputs, kernel, bias=True) if down else None,
        "conv_start": convolution_norm(inputs, outputs, kernel, bias=True),
        "conv_final": convolution_norm(outputs, outputs, kernel, bias=True),
    }
    return Module("ResidualBlock", children=named(parts), part="convolution")


def backbone(config: ModelConfig) -> tuple[Module, int]:
    """A residual network and a bridge of dilated convolutions; also the number of branches in the bridge."""
    kernel = config.integer("kernel_size")
    head = lists(config.get("resnet_head"), "resnet_head", length=2)
    stages = [
        stack(*(residual(row[0], row[1], kernel, bool(row[3])) for row in lists(stage, "resnet_configs", length=4)))
        for stage in config.items("resnet_configs")
    ]
    branches = [
        stack(*(convolution_norm(row[0], row[0], BRIDGE_KERNEL) for row in lists(branch, "stage_configs", length=2)))
        for branch in config.items("stage_configs")
    ]
    parts: dict[str, Module | Stack | None] = {
        "resnet.resnet_head": stack(*(convolution_norm(row[0], row[1], kernel) for row in head)),
        "resnet.resnet_down": stack(*(Module("Stage", children=(("layers", layers),)) for layers in stages)),
        "bridge.bridge": stack(*(Module("Branch", children=(("blocks", blocks),)) for blocks in branches)),
    }
    return Module("Backbone", children=named(parts)), len(branches)


def build(config: ModelConfig) -> Module:
    if head_name(config.architecture) != "Model":
        raise unknown_head(config.architecture)
    features, branches = backbone(config.nested_config("backbone_config"))
    kernel, connector = config.integer("kernel_size"), config.integers("bridge_connector")
    points = lists(config.get("out_point_positions2D"), "out_point_positions2D", length=2)
    down = convolution_norm(points[0][0], points[0][1], kernel)
    if config.get("hidden_act") == "prelu":  # one learned slope
        slope = Module("PReLU", (Tensor("weight", (1,)),))
        down = down.with_(children=(*down.children, ("activation", slope)))
    top: dict[str, Module | Stack | None] = {
        "bridge_connector": convolution_norm(connector[0] * branches, connector[1], 1),
        "out_point_positions2D.conv_down": down,
        "out_point_positions2D.conv_up": convolution(points[1][0], points[1][1], (kernel, kernel)),
    }
    return Module(
        "Model", children=(("backbone", features), ("head", Module("Head", children=named(top), part="head")))
    )
