"""GroupViT (arXiv:2202.11094) and X-CLIP (arXiv:2208.02816): CLIP with grouping tokens, and CLIP for videos."""

from __future__ import annotations

from neurarch_schemas.architectures import clip
from neurarch_schemas.architectures.clip_vision import embeddings as clip_embeddings
from neurarch_schemas.architectures.language_heads import head_name
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import in_part, uniform
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import batch_norm, convolution, layer_norm, linear
from neurarch_schemas.modules.tree import Module, Stack, Tensor, named, stack
from neurarch_schemas.modules.vision import clip_layer, height_and_width, patch_grid, sequential, vision_attention
from neurarch_schemas.record import replace

MODEL_TYPES = ("groupvit", "xclip")

MOST_STAGES = 32


def mixer(groups: int, inner: int, outputs: int) -> Module:
    """A feed-forward over the groups, channel by channel."""
    return mlp(groups, inner, out=outputs)


def token_assignment(config: ModelConfig, groups: int, outputs: int) -> Module:
    """Patches are assigned to ``outputs`` groups by attention between group tokens and patches."""
    hidden, heads, inner = (
        config.integer("hidden_size"),
        config.integer("num_attention_heads"),
        config.integer("intermediate_size"),
    )
    ratio = config.get("assign_mlp_ratio")
    ratios = ratio if isinstance(ratio, list) else [ratio, ratio]
    if len(ratios) != 2 or not all(isinstance(item, int | float) for item in ratios):
        raise CannotBuild("assign_mlp_ratio needs two numbers", ("assign_mlp_ratio",))
    tokens, channels = (int(float(item) * hidden) for item in ratios if isinstance(item, int | float))
    cross: dict[str, Module | Stack | None] = {
        "attn": vision_attention(hidden, heads),
        "norm2": layer_norm(hidden),
        "mlp": mlp(hidden, inner),
        "norm_post": layer_norm(hidden),
    }
    parts: dict[str, Module | Stack | None] = {
        "norm_tokens": layer_norm(hidden),
        "mlp_inter": mixer(groups, tokens, outputs),
        "norm_post_tokens": layer_norm(hidden),
        "norm_x": layer_norm(hidden),
        "pre_assign_attn": Module("CrossAttentionLayer", children=named(cross)),
        "assign": vision_attention(hidden, 1, names=("q_proj", "k_proj", "v_proj", "proj")),
        "norm_new_x": layer_norm(hidden),
        "mlp_channels": mlp(hidden, channels),
    }
    return Module("TokenAssignment", children=named(parts))


def group_stage(config: ModelConfig, depth: int, groups: int, outputs: int, previous: int) -> Module:
    hidden = config.integer("hidden_size")
    layer = clip_layer(hidden, config.integer("num_attention_heads"), config.integer("intermediate_size"))
    projects = previous > 0 and groups > 0
    projector = sequential(layer_norm(hidden), mixer(previous, hidden // 2, groups)) if projects else None
    parts: dict[str, Module | Stack | None] = {
        "layers": uniform(layer, depth),
        "downsample": token_assignment(config, groups, outputs) if groups else None,
        "group_projector": projector,
    }
    return Module("Stage", (Tensor("group_token", (1, groups, hidden)),) if groups else (), named(parts))


def grouping_vision(config: ModelConfig) -> Module:
    hidden, depths = config.integer("hidden_size"), config.counts("depths")
    groups, outputs = config.integers("num_group_tokens"), config.integers("num_output_groups")
    if min(len(groups), len(outputs)) < len(depths) or len(depths) > MOST_STAGES:
        keys = ("depths", "num_group_tokens", "num_output_groups")
        raise CannotBuild(f"{', '.join(keys)} must be equally long", keys)
    rows, columns = patch_grid(config)
    patches = convolution(config.integer("num_channels"), hidden, height_and_width(config, "patch_size"))
    table = Module(
        "Embeddings",
        (Tensor("position_embeddings", (1, rows * columns, hidden)),),
        named({"patch_embeddings.projection": patches, "layernorm": layer_norm(hidden)}),
        part="embedding",
    )
    stages = [
        group_stage(config, depth, groups[i], outputs[i], outputs[i - 1] if i else 0) for i, depth in enumerate(depths)
    ]
    parts: dict[str, Module | Stack | None] = {
        "embeddings": table,
        "encoder.stages": stack(*stages),
        "layernorm": layer_norm(hidden),
    }
    return Module("VisionModel", children=named(parts))


def groupvit(config: ModelConfig, text: ModelConfig, vision: ModelConfig) -> Module:
    """Both projections are two linear maps with a batch norm between them."""
    inner, size = config.integer("projection_intermediate_dim"), config.integer("projection_dim")

    def projection(width: int) -> Module:
        return sequential(linear(width, inner), batch_norm(inner), None, linear(inner, size)).with_(part="projector")

    parts: dict[str, Module | Stack | None] = {
        "text_model": clip.text_transformer(text),
        "vision_model": in_part(grouping_vision(vision), "vision"),
        "visual_projection": projection(vision.integer("hidden_size")),
        "text_projection": projection(text.integer("hidden_size")),
    }
    return Module("Model", (Tensor("logit_scale", ()),), named(parts))


def video_vision(config: ModelConfig) -> Module:
    """CLIP's encoder; a message token of each frame talks to those of the others."""
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    plain = clip_layer(hidden, heads, config.integer("intermediate_size"))
    messages = {
        "message_fc": linear(hidden, hidden),
        "message_ln": layer_norm(hidden),
        "message_attn": vision_attention(hidden, heads),
    }
    layer = plain.with_(children=(*plain.children, *named(messages)))
    parts: dict[str, Module | Stack | None] = {
        "embeddings": clip_embeddings(replace(config, model_type="clip_vision_model")),
        "pre_layernorm": layer_norm(hidden),
        "encoder.layers": uniform(layer, config.integer("num_hidden_layers")),
        "post_layernorm": layer_norm(hidden),
    }
    return Module("VisionModel", children=named(parts))


def prompt_generator(config: ModelConfig) -> Module:
    """Text features are adapted to the video by cross attention."""
    size, heads = config.integer("projection_dim"), config.integer("prompt_num_attention_heads")
    names = ("q_proj", "k_proj", "v_proj", "proj")
    layer: dict[str, Module | Stack | None] = {
        "cross_attn": vision_attention(size, heads, names=names, bias=False, out_bias=True),
        "norm1": layer_norm(size),
        "norm3": layer_norm(size),
        "mlp": sequential(linear(size, 4 * size), None, None, linear(4 * size, size)).with_(part="feed-forward"),
    }
    block = Module("PromptLayer", children=named(layer))
    parts: dict[str, Module | Stack | None] = {
        "layernorm": layer_norm(size),
        "decoder": uniform(block, config.integer("prompt_layers")),
    }
    return Module("PromptGenerator", (Tensor("alpha", (size,)),), named(parts))


def xclip(config: ModelConfig, text: ModelConfig, vision: ModelConfig) -> Module:
    size, hidden = config.integer("projection_dim"), vision.integer("hidden_size")
    width, frames = vision.integer("mit_hidden_size"), vision.integer("num_frames")
    frame_layer = clip_layer(width, vision.integer("mit_num_attention_heads"), vision.integer("mit_intermediate_size"))
    over_frames = Module(
        "MultiframeTransformer",
        (Tensor("position_embedding", (1, frames, width)),),
        named({"encoder.layers": uniform(frame_layer, vision.integer("mit_num_hidden_layers"))}),
        part="vision",
    )
    parts: dict[str, Module | Stack | None] = {
        "text_model": clip.text_transformer(text),
        "vision_model": in_part(video_vision(vision), "vision"),
        "visual_projection": linear(hidden, size, bias=False, part="projector"),
        "text_projection": linear(text.integer("hidden_size"), size, bias=False, part="projector"),
        "prompts_visual_layernorm": layer_norm(hidden),
        "mit": over_frames,
        "prompts_generator": prompt_generator(config),
    }
    tensors = (Tensor("logit_scale", ()), Tensor("prompts_visual_projection", (hidden, size)))
    return Module("Model", tensors, named(parts))


def build(config: ModelConfig) -> Module:
    if head_name(config.architecture) != "Model" or config.architecture.endswith(("TextModel", "VisionModel")):
        raise CannotBuild(f"the class {config.architecture} is not known", ("architectures",))
    text, vision = config.nested_config("text_config"), config.nested_config("vision_config")
    return (groupvit if config.model_type == "groupvit" else xclip)(config, text, vision)
