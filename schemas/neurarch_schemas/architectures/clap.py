"""CLAP (arXiv:2211.06687): RoBERTa for text and a Swin Transformer over spectrograms (HTS-AT) in one space."""

from __future__ import annotations

from neurarch_schemas.architectures import swin
from neurarch_schemas.architectures.bert import pooler
from neurarch_schemas.architectures.contrastive import bert_text
from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import in_part, uniform
from neurarch_schemas.modules.layers import batch_norm, convolution, layer_norm, linear
from neurarch_schemas.modules.tree import Module, Stack, Tensor, named, stack
from neurarch_schemas.modules.vision import height_and_width
from neurarch_schemas.record import replace

MODEL_TYPES = ("clap",)


def text_model(config: ModelConfig) -> Module:
    """Position and type indices are stored."""
    built = bert_text(config, "encoder.layer")
    positions = config.integer("max_position_embeddings")
    indices = tuple(Tensor(name, (1, positions), "buffer") for name in ("position_ids", "token_type_ids"))
    children = tuple(
        (name, child.with_(tensors=indices) if isinstance(child, Module) and name == "embeddings" else child)
        for name, child in built.children
    )
    return built.with_(children=(*children, ("pooler", pooler(config.integer("hidden_size")))))


def audio_encoder(config: ModelConfig) -> Module:
    if config.flag("enable_fusion"):
        raise CannotBuild("fusion of longer audio is not known", ("enable_fusion",))
    like = replace(config, model_type="donut-swin")
    depths, heads = config.counts("depths"), config.integers("num_attention_heads")
    width = config.integer("patch_embeds_hidden_size")
    if len(heads) < len(depths) or len(depths) > swin.MOST_STAGES:
        raise CannotBuild("depths and num_attention_heads must be equally long", ("depths", "num_attention_heads"))
    stages = []
    for index, depth in enumerate(depths):
        size = width * 2**index
        down = swin.merging(like, size) if index < len(depths) - 1 else None
        blocks = uniform(swin.layer(like, size, heads[index]), depth)
        stages.append(Module("Stage", children=named({"blocks": blocks, "downsample": down})))
    channels, kernel = config.integer("patch_embed_input_channels"), height_and_width(config, "patch_size")
    parts: dict[str, Module | Stack | None] = {
        "patch_embed.proj": convolution(channels, width, kernel),
        "patch_embed.norm": layer_norm(width) if config.flag("enable_patch_layer_norm") else None,
        "layers": stack(*stages),
        "batch_norm": batch_norm(config.integer("num_mel_bins")),
        "norm": layer_norm(width * 2 ** (len(depths) - 1)),
    }
    return Module("AudioEncoder", children=named(parts))


def projection(inputs: int, size: int) -> Module:
    parts = {"linear1": linear(inputs, size), "linear2": linear(size, size)}
    return Module("Projection", children=named(parts), part="projector")


def build(config: ModelConfig) -> Module:
    """Both sides are projected to ``projection_dim``, in two steps."""
    if config.architecture != "Model" and head_name(config.architecture) != "Model":
        raise unknown_head(config.architecture)
    if config.architecture.endswith(("TextModel", "AudioModel")):
        raise CannotBuild(f"the class {config.architecture} is not known", ("architectures",))
    text, audio = config.nested_config("text_config"), config.nested_config("audio_config")
    parts: dict[str, Module | Stack | None] = {
        "text_model": text_model(text),
        "text_projection": projection(text.integer("hidden_size"), config.integer("projection_dim")),
        "audio_model.audio_encoder": in_part(audio_encoder(audio), "audio"),
        "audio_projection": projection(audio.integer("hidden_size"), config.integer("projection_dim")),
    }
    return Module("Model", (Tensor("logit_scale_a", ()), Tensor("logit_scale_t", ())), named(parts))
