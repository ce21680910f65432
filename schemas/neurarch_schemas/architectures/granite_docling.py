"""Granite Docling: a SigLIP encoder with a coarse and a fine connector, whose features also enter deeper layers."""

from __future__ import annotations

from neurarch_schemas.architectures.clip_vision import vision_transformer
from neurarch_schemas.architectures.composite import text_model, tower, with_output_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.layers import layer_norm, linear
from neurarch_schemas.modules.tree import Module, Stack, children

MODEL_TYPES = ("granite_docling", "granite_docling_vision")

_DEFAULT_DEEPSTACK = 3


def connector_path(config: ModelConfig, factor: int) -> Module:
    """Joins ``factor`` squared patches; one more merger for each layer that feeds the language model."""
    outputs, joined = config.integer("out_hidden_size"), config.integer("hidden_size") * factor * factor
    merger = Module(
        "DeepStackMerger",
        children=children(
            layer_norm=layer_norm(joined), linear_1=linear(joined, outputs), linear_2=linear(outputs, outputs)
        ),
    )
    given = config.is_set("deepstack_visual_indexes")
    count = len(config.items("deepstack_visual_indexes")) if given else _DEFAULT_DEEPSTACK
    return Module(
        "ConnectorPath",
        children=children(projection=linear(joined, outputs, bias=False), deepstack_mergers=uniform(merger, count)),
    )


def vision_model(config: ModelConfig) -> Module:
    hidden, outputs = config.integer("hidden_size"), config.integer("out_hidden_size")
    factor, fine = config.integer("scale_factor"), config.flag("use_fine_route")
    connector = Module(
        "Connector",
        children=children(
            ln_in=layer_norm(hidden),
            coarse=connector_path(config, factor),
            fine=connector_path(config, factor // 2) if fine else None,
            ln_mid=layer_norm(outputs),
            mlp_fc2=linear(outputs, outputs, bias=False),
            ln_out=layer_norm(outputs),
        ),
        part="projector",
    )
    encoder = vision_transformer(config)
    return encoder.with_(children=(*encoder.children, ("connector", connector)))


def density_router(config: ModelConfig) -> Module | None:
    """Chooses the fine connector for dense pages."""
    inner = config.optional_integer("density_router_hidden_size")
    if inner is None:
        return None
    features = config.nested_config("vision_config").integer("hidden_size")
    return Module(
        "DensityRouter",
        children=children(
            att=linear(features, 1), norm=layer_norm(features), fc1=linear(features, inner), fc2=linear(inner, 1)
        ),
        part="vision",
    )


def build(config: ModelConfig) -> Module:
    if config.model_type == "granite_docling_vision":
        return vision_model(config)
    parts: dict[str, Module | Stack | None] = {
        "vision_model": tower(config),
        "text_model": text_model(config),
        "density_router": density_router(config),
    }
    return with_output_head(config, parts, embedding="text_model.embed_tokens.weight")
