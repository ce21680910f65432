"""Llama 4 with images: a vision transformer with pixel shuffle, one linear map, the text model with its head."""

from __future__ import annotations

from neurarch_schemas.architectures import build_nested
from neurarch_schemas.architectures.composite import projector, tower
from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.encoder import encoder_attention
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import layer_norm, linear
from neurarch_schemas.modules.tree import Module, Tensor, children
from neurarch_schemas.modules.vision import height_and_width, patch_count

MODEL_TYPES = ("llama4", "llama4_vision_model")


def vision_model(config: ModelConfig) -> Module:
    hidden, patch = config.integer("hidden_size"), height_and_width(config, "patch_size")
    pixels = config.integer("num_channels") * patch[0] * patch[1]
    layer = Module(
        "EncoderLayer",
        children=children(
            self_attn=encoder_attention(
                hidden, config.integer("num_attention_heads"), names=("q_proj", "k_proj", "v_proj", "o_proj")
            ),
            mlp=mlp(hidden, config.integer("intermediate_size")),
            input_layernorm=layer_norm(hidden),
            post_attention_layernorm=layer_norm(hidden),
        ),
    )
    outputs = config.integer("projector_output_dim")
    shuffled = Module(
        "MLP",
        children=children(
            fc1=linear(config.integer("intermediate_size"), config.integer("projector_input_dim"), bias=False),
            fc2=linear(outputs, outputs, bias=False),
        ),
    )
    return Module(
        "VisionModel",
        (
            Tensor("class_embedding", (hidden,)),
            Tensor("positional_embedding_vlm", (patch_count(config) + 1, hidden)),
        ),
        children(
            patch_embedding=Module("Unfold", children=children(linear=linear(pixels, hidden, bias=False))),
            layernorm_pre=layer_norm(hidden),
            layernorm_post=layer_norm(hidden),
            model=Module("Encoder", children=children(layers=uniform(layer, config.integer("num_hidden_layers")))),
            vision_adapter=Module("PixelShuffle", children=children(mlp=shuffled), part="projector", width_out=outputs),
        ),
    )


def build(config: ModelConfig) -> Module:
    if config.model_type == "llama4_vision_model":
        return vision_model(config)
    if head_name(config.architecture) != "ForConditionalGeneration":
        raise unknown_head(config.architecture)
    outputs = config.nested_config("vision_config").integer("vision_output_dim")
    hidden = config.nested_config("text_config").integer("hidden_size")
    return Module(
        config.architecture,
        children=children(
            vision_model=tower(config),
            multi_modal_projector=projector({"linear_1": linear(outputs, hidden, bias=False)}),
            language_model=build_nested(config, "text_config", "Llama4ForCausalLM"),
        ),
    )
