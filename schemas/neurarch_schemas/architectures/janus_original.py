"""Janus, Janus-Pro and DeepSeek-VL with the code they were published with: timm's SigLIP, Llama, and LlamaGen's VQ-16.

DeepSeek-VL is the same without the parts that draw. The total of Janus-Pro-1B equals the measured 2,089,232,011; its
files hold besides a buffer of 65,536 entries of the codebook that were used.
"""

from __future__ import annotations

from neurarch_schemas.architectures.composite import projector
from neurarch_schemas.architectures.deepseek_vl2 import siglip
from neurarch_schemas.architectures.remote_vision_language import causal_model
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import in_part
from neurarch_schemas.modules.image_codec import image_decoder, image_encoder
from neurarch_schemas.modules.layers import convolution, embedding, linear
from neurarch_schemas.modules.tree import Module, Stack, Tensor, children, named, stack

MODEL_TYPES = ("multi_modality",)

CLASSES = ("", "MultiModalityCausalLM")
"""Published files name no class, or this one."""

ENTRIES, CODE, LATENT, BASE, MULTIPLIERS, BLOCKS, USED = 16384, 8, 256, 128, (1, 1, 2, 2, 4), 2, 65536
"""The one tokenizer that the code knows, VQ-16, takes nothing from the config."""


def numbers(config: ModelConfig, name: str, kind: str, *keys: str) -> tuple[int, ...]:
    """Sizes among the ``params`` of a part, whose class must be ``kind``."""
    part = config.nested_config(name).get("cls"), config.nested_config(name).get("params")
    sizes = part[1] if isinstance(part[1], dict) else {}
    found = tuple(value for key in keys if isinstance(value := sizes.get(key), int) and value > 0)
    if part[0] != kind or len(found) != len(keys):
        raise CannotBuild(f"{name} must be a {kind} with {', '.join(keys) or 'no sizes'}", (name,))
    return found


def aligner(config: ModelConfig, name: str) -> Module:
    inputs, outputs, depth = numbers(config, name, "MlpProjector", "input_dim", "n_embed", "depth")
    if config.nested_config(name).mapping("params").get("projector_type") != "mlp_gelu":
        raise CannotBuild(f"only the projector mlp_gelu is known in {name}", (name,))
    maps = {str(2 * index): linear(outputs if index else inputs, outputs) for index in range(depth)}
    return projector({"layers": Module("Sequential", children=named({**maps}))})


def vision_model(config: ModelConfig) -> Module:
    (side,) = numbers(config, "vision_config", "CLIPVisionTower", "image_size")
    given = config.nested_config("vision_config").mapping("params")
    if given.get("model_name") != "siglip_large_patch16_384" or given.get("select_layer") != -1:
        raise CannotBuild("only the whole of siglip_large_patch16_384 is known", ("vision_config",))
    tower = siglip(hidden=1024, heads=16, inner=4096, layers=24, patch=16, image_side=side)
    return in_part(Module("VisionTower", children=children(vision_tower=tower)), "vision")


def as_published(codec: Module) -> Module:
    """The names of this code for the levels and the middle of an image codec."""
    names = {"down": "conv_blocks", "up": "conv_blocks", "block": "res"}
    parts: list[tuple[str, Module | Stack]] = []
    for name, child in codec.children:
        if name == "mid" and isinstance(child, Module):
            parts.append((name, stack(*(part for _, part in child.children if isinstance(part, Module)))))
        elif name in ("down", "up") and isinstance(child, Stack):
            levels = [as_published(level) for run in child.runs for level in run.modules * run.times]
            parts.append((names[name], stack(*levels)))
        else:
            parts.append((names.get(name, name), child))
    return codec.with_(children=tuple(parts))


def image_tokenizer() -> Module:
    last = [index == len(MULTIPLIERS) - 1 for index in range(len(MULTIPLIERS))]
    entries = Module(
        "VectorQuantizer",
        (Tensor("codebook_used", (USED,), "buffer"),),
        children(embedding=embedding(ENTRIES, CODE)),
    )
    return Module(
        "ImageTokenizer",
        children=children(
            encoder=as_published(image_encoder(3, BASE, MULTIPLIERS, BLOCKS, LATENT, last)),
            decoder=as_published(image_decoder(LATENT, BASE, MULTIPLIERS, BLOCKS + 1, 3, last[::-1])),
            quantize=entries,
            quant_conv=convolution(LATENT, CODE, (1, 1)),
            post_quant_conv=convolution(CODE, LATENT, (1, 1)),
        ),
    )


def drawing(config: ModelConfig) -> dict[str, Module | Stack | None]:
    """What DeepSeek-VL does not have."""
    entries, code = numbers(config, "gen_vision_config", "VQ-16", "image_token_size", "n_embed")
    inputs, inner, outputs = numbers(
        config, "gen_head_config", "vision_head", "n_embed", "image_token_embed", "image_token_size"
    )
    head = {"output_mlp_projector": linear(inputs, inner), "vision_head": linear(inner, outputs)}
    return {
        "gen_vision_model": in_part(image_tokenizer(), "vision"),
        "gen_aligner": aligner(config, "gen_aligner_config"),
        "gen_head": projector({**head}),
        "gen_embed": embedding(entries, code),
    }


def build(config: ModelConfig) -> Module:
    if config.architecture not in CLASSES:
        raise CannotBuild(f"the class {config.architecture} is not known", ("architectures",))
    return Module(
        "MultiModalityCausalLM",
        children=named(
            {
                "vision_model": vision_model(config),
                "aligner": aligner(config, "aligner_config"),
                **(drawing(config) if "gen_vision_config" in config.nested else {}),
                "language_model": causal_model(config, "language_config", "language_model", "LlamaForCausalLM"),
            }
        ),
    )
