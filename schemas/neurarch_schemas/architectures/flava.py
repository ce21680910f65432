"""FLAVA (arXiv:2112.04482): a text, an image and a multimodal encoder of one layout."""

from __future__ import annotations

from neurarch_schemas.architectures.bert import pooler
from neurarch_schemas.architectures.encoder_heads import vocabulary_projection
from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import in_part, uniform
from neurarch_schemas.modules.encoder import bert_embeddings, bert_feed_forward
from neurarch_schemas.modules.layers import convolution, layer_norm, linear
from neurarch_schemas.modules.tree import Module, Stack, Tensor, named
from neurarch_schemas.modules.vision import height_and_width, patch_grid, vit_attention

MODEL_TYPES = ("flava",)

NAMES = ("attention.query", "attention.key", "attention.value", "output.dense")


def encoder(config: ModelConfig) -> dict[str, Module | Stack | None]:
    hidden = config.integer("hidden_size")
    parts: dict[str, Module | Stack | None] = {
        "attention": vit_attention(
            hidden,
            config.integer("num_attention_heads"),
            bias=config.flag("qkv_bias"),
            width=hidden,
            names=NAMES,
        ),
        **bert_feed_forward(hidden, config.integer("intermediate_size"), norm=None),
        "layernorm_before": layer_norm(hidden),
        "layernorm_after": layer_norm(hidden),
    }
    return {
        "encoder.layer": uniform(Module("EncoderLayer", children=named(parts)), config.integer("num_hidden_layers")),
        "layernorm": layer_norm(hidden),
        "pooler": pooler(hidden),
    }


def text_model(config: ModelConfig) -> Module:
    embeddings = bert_embeddings(
        config.integer("vocab_size"),
        config.integer("hidden_size"),
        positions=config.integer("max_position_embeddings"),
        types=config.integer("type_vocab_size"),
    )
    return Module("TextModel", children=named({"embeddings": embeddings, **encoder(config)}))


def image_model(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    rows, columns = patch_grid(config)
    tensors = [Tensor("cls_token", (1, 1, hidden))]
    if config.flag("mask_token"):
        tensors.append(Tensor("mask_token", (1, 1, hidden)))
    tensors.append(Tensor("position_embeddings", (1, rows * columns + 1, hidden)))
    patches = convolution(config.integer("num_channels"), hidden, height_and_width(config, "patch_size"))
    embeddings = Module("Embeddings", tuple(tensors), (("patch_embeddings.projection", patches),), part="embedding")
    return Module("ImageModel", children=named({"embeddings": embeddings, **encoder(config)}))


def multimodal_model(config: ModelConfig) -> Module:
    token = (Tensor("cls_token", (1, 1, config.integer("hidden_size"))),) if config.flag("use_cls_token") else ()
    return Module("MultimodalModel", token, named(encoder(config)))


def backbone(config: ModelConfig) -> Module:
    text, image = config.nested_config("text_config"), config.nested_config("image_config")
    joint, width = config.nested_config("multimodal_config"), config.integer("projection_dim")

    def projection(source: ModelConfig, outputs: int) -> Module:
        return linear(source.integer("hidden_size"), outputs, part="projector")

    parts: dict[str, Module | Stack | None] = {
        "text_model": text_model(text),
        "image_model": in_part(image_model(image), "vision"),
        "multimodal_model": multimodal_model(joint),
        "image_projection": projection(image, width),
        "text_projection": projection(text, width),
        "image_to_mm_projection": projection(image, joint.integer("hidden_size")),
        "text_to_mm_projection": projection(text, joint.integer("hidden_size")),
    }
    return Module("Model", (Tensor("logit_scale", ()),), named(parts))


def codebook_block(inputs: int, outputs: int) -> Module:
    narrow = outputs // 4
    parts: dict[str, Module | Stack | None] = {
        "id_path": convolution(inputs, outputs, (1, 1)) if inputs != outputs else None,
        "res_path.path.conv_1": convolution(inputs, narrow, (3, 3)),
        "res_path.path.conv_2": convolution(narrow, narrow, (3, 3)),
        "res_path.path.conv_3": convolution(narrow, narrow, (3, 3)),
        "res_path.path.conv_4": convolution(narrow, outputs, (1, 1)),
    }
    return Module("CodebookBlock", children=named(parts), part="convolution")


def image_codebook(config: ModelConfig) -> Module:
    """DALL-E's discrete autoencoder (arXiv:2102.12092): the classes that masked patches are predicted as."""
    hidden, count = config.integer("hidden_size"), config.integer("num_blocks_per_group")
    if count > 1000:  # each block has a name of its own
        raise CannotBuild(f"{count} blocks a group are not built", ("num_blocks_per_group",))
    parts: dict[str, Module | Stack | None] = {
        "input": convolution(config.integer("input_channels"), hidden, (7, 7)),
    }
    widths = (hidden, hidden, 2 * hidden, 4 * hidden, 8 * hidden)
    for number in range(1, len(widths)):
        inputs, outputs = widths[number - 1], widths[number]
        blocks: dict[str, Module | Stack | None] = {
            f"block_{index + 1}": codebook_block(inputs if index == 0 else outputs, outputs) for index in range(count)
        }
        parts[f"group_{number}.group"] = Module("CodebookGroup", children=named(blocks))
    parts["output.conv"] = convolution(8 * hidden, config.integer("vocab_size"), (1, 1))
    return Module("ImageCodebook", children=(("blocks", Module("Blocks", children=named(parts))),), part="vision")


def prediction_head(config: ModelConfig, name: str, tied: bool) -> Module:
    """Its two biases are one tensor where embeddings are tied; the projection is never shared."""
    hidden, vocabulary = config.integer("hidden_size"), config.integer("vocab_size")
    shared = f"{name}.bias" if tied else None
    parts: dict[str, Module | Stack | None] = {
        "transform.dense": linear(hidden, hidden),
        "transform.LayerNorm": layer_norm(hidden),
        "decoder": vocabulary_projection(hidden, vocabulary, weight=None, bias=shared),
    }
    return Module("MaskedHead", (Tensor("bias", (vocabulary,)),), named(parts), part="head")


def build(config: ModelConfig) -> Module:
    name, kind = config.architecture, head_name(config.architecture)
    if kind == "Model" and not name.endswith(("TextModel", "ImageModel", "MultimodalModel")):
        return backbone(config)
    if kind != "ForPreTraining":
        raise unknown_head(name)
    text, image = config.nested_config("text_config"), config.nested_config("image_config")
    hidden, tied = config.integer("hidden_size"), config.flag("tie_word_embeddings")
    codebook = image_codebook(config.nested_config("image_codebook_config")) if config.flag("init_codebook") else None
    parts: dict[str, Module | Stack | None] = {
        "flava": backbone(config),
        "image_codebook": codebook,
        "mim_head": prediction_head(image, "mim_head", tied),
        "mlm_head": prediction_head(text, "mlm_head", tied),
        "itm_head.pooler": pooler(hidden),
        "itm_head.seq_relationship": linear(hidden, 2, part="head"),
        "mmm_image_head": prediction_head(image, "mmm_image_head", tied),
        "mmm_text_head": prediction_head(text, "mmm_text_head", tied),
    }
    return Module(name, children=named(parts))
