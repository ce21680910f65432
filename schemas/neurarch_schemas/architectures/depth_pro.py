"""Depth Pro (arXiv:2410.02073): one vision transformer over patches at several scales, another over the whole image."""

from __future__ import annotations

from math import ceil

from neurarch_schemas.architectures import build_nested
from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import in_part, uniform
from neurarch_schemas.modules.layers import batch_norm, convolution, linear, transposed_convolution
from neurarch_schemas.modules.tree import Module, Stack, named, stack
from neurarch_schemas.modules.vision import sequential

MODEL_TYPES = ("depth_pro",)

MOST_FEATURES = 64
DEPTH_WIDTH = 32


def transformer(config: ModelConfig, name: str) -> Module:
    return in_part(build_nested(config, name), "vision")


def upsample(inputs: int, between: int, outputs: int, doublings: int) -> Module:
    """A projection and transposed convolutions, each doubling the resolution; none has a bias."""
    ups = (
        transposed_convolution(outputs if index else between, outputs, (2, 2), bias=False) for index in range(doublings)
    )
    return Module("Upsample", children=(("layers", stack(convolution(inputs, between, (1, 1), bias=False), *ups)),))


def neck(config: ModelConfig) -> Module:
    """All features to one width."""
    scaled, hooked = config.integers("scaled_images_feature_dims"), config.integers("intermediate_feature_dims")
    if len(scaled) + len(hooked) > MOST_FEATURES:
        raise CannotBuild("that many features are not built", ("scaled_images_feature_dims",))
    width, patch = (
        config.integer("fusion_hidden_size"),
        config.nested_config("patch_model_config").integer("hidden_size"),
    )
    whole = config.nested_config("image_model_config").integer("hidden_size")
    image = Module("Upsample", children=(("layers.0", transposed_convolution(whole, scaled[0], (2, 2))),))
    up: dict[str, Module | Stack | None] = {
        "image_block": image,
        "scaled_images": stack(*(upsample(patch, size, size, 1) for size in scaled)),
        "intermediate": stack(
            *(upsample(patch, size if index else width, size, 2 + index) for index, size in enumerate(hooked))
        ),
    }
    sizes = scaled + hooked
    if sizes[-1] == width:  # the last one is passed on where it has the right width
        sizes = sizes[:-1]
    parts: dict[str, Module | Stack | None] = {
        "feature_upsample": Module("FeatureUpsample", children=named(up)),
        "fuse_image_with_low_res": convolution(2 * scaled[0], scaled[0], (1, 1)),
        "feature_projection.projections": stack(*(convolution(size, width, (3, 3), bias=False) for size in sizes)),
    }
    return Module("Neck", children=named(parts), part="projector")


def backbone(config: ModelConfig) -> Module:
    parts: dict[str, Module | Stack | None] = {
        "encoder.patch_encoder.model": transformer(config, "patch_model_config"),
        "encoder.image_encoder.model": transformer(config, "image_model_config"),
        "neck": neck(config),
    }
    return Module("Model", children=named(parts))


def residual(config: ModelConfig) -> Module:
    width, norms = config.integer("fusion_hidden_size"), config.flag("use_batch_norm_in_fusion_residual")
    given = config.is_set("use_bias_in_fusion_residual")
    bias = config.flag("use_bias_in_fusion_residual") if given else not norms
    parts: dict[str, Module | Stack | None] = {
        "convolution1": convolution(width, width, (3, 3), bias=bias),
        "convolution2": convolution(width, width, (3, 3), bias=bias),
        "batch_norm1": batch_norm(width) if norms else None,
        "batch_norm2": batch_norm(width) if norms else None,
    }
    return Module("PreActivationResidual", children=named(parts), part="convolution")


def fusion(config: ModelConfig, larger: bool) -> Module:
    width = config.integer("fusion_hidden_size")
    parts: dict[str, Module | Stack | None] = {
        "residual_layer1": residual(config),
        "residual_layer2": residual(config),
        "deconv": transposed_convolution(width, width, (2, 2), bias=False) if larger else None,
        "projection": convolution(width, width, (1, 1)),
    }
    return Module("Fusion", children=named(parts))


def depth_head(width: int) -> Module:
    half = width // 2
    steps = (
        convolution(width, half, (3, 3)),
        transposed_convolution(half, half, (2, 2)),
        convolution(half, DEPTH_WIDTH, (3, 3)),
        None,
        convolution(DEPTH_WIDTH, 1, (1, 1)),
    )
    return Module("DepthHead", children=(("layers", sequential(*steps)),), part="head")


def field_of_view(config: ModelConfig) -> Module:
    """A third vision transformer for the focal length; its last kernel covers what is left of the patch grid."""
    width, count = config.integer("fusion_hidden_size"), config.integer("num_fov_head_layers")
    if count > MOST_FEATURES:
        raise CannotBuild(f"a head of {count} layers is not built", ("num_fov_head_layers",))
    image = config.nested_config("image_model_config")
    grid = image.integer("image_size") // image.integer("patch_size")
    steps: list[Module | None] = []
    for index in range(count):
        inputs, outputs = ceil(width / 2 ** (index + 1)), ceil(width / 2 ** (index + 2))
        steps += [convolution(inputs, outputs, (3, 3)), None]
    kernel = int((grid - 1) / 2**count + 1)
    steps.append(convolution(ceil(width / 2 ** (count + 1)), 1, (kernel, kernel)))
    hidden = config.nested_config("fov_model_config").integer("hidden_size")
    parts: dict[str, Module | Stack | None] = {
        "fov_encoder.model": transformer(config, "fov_model_config"),
        "fov_encoder.neck": linear(hidden, width // 2),
        "conv": convolution(width, width // 2, (3, 3)),
        "head.layers": sequential(*steps),
    }
    return Module("FieldOfView", children=named(parts))


def build(config: ModelConfig) -> Module:
    head, model, width = head_name(config.architecture), backbone(config), config.integer("fusion_hidden_size")
    if head == "Model":
        return model
    if head != "ForDepthEstimation":
        raise unknown_head(config.architecture)
    count = len(config.items("intermediate_hook_ids")) + len(config.items("scaled_images_ratios"))
    parts: dict[str, Module | Stack | None] = {
        "depth_pro": model,
        "fusion_stage.intermediate": uniform(fusion(config, larger=True), count - 1),
        "fusion_stage.final": fusion(config, larger=False),
        "head": depth_head(width),
        "fov_model": field_of_view(config) if config.flag("use_fov_model") else None,
    }
    return Module(config.architecture, children=named(parts))
