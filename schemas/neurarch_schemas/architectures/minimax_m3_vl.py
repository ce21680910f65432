"""MiniMax M3: text backbone with block-sparse attention, and the composite with vision tower and projector.

``mlp_layer_types`` (older files: ``moe_layer_freq``) says which layers are mixtures of experts, ``layer_types`` (older
files: ``sparse_attention_config.sparse_attention_freq``) which ones have an indexer with index keys of their own.
"""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import decoder_layer, language_model, self_attention
from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers, lm_head, uniform
from neurarch_schemas.modules.attention import attention, selecting
from neurarch_schemas.modules.experts import fused_experts, mixture_of_experts, router
from neurarch_schemas.modules.feed_forward import fused_gated_mlp, mlp
from neurarch_schemas.modules.layers import convolution, layer_norm, linear, rms_norm
from neurarch_schemas.modules.tree import Cache, Module, Selection, children
from neurarch_schemas.record import replace

MODEL_TYPES = ("minimax_m3_vl", "minimax_m3_vl_text", "minimax_m3_vl_vision")

SPARSE_ATTENTION = "minimax_m3_sparse"


def indexer(config: ModelConfig) -> Module:
    """Chooses the key blocks a query attends to; caches one index key a position."""
    hidden, heads, dim = (
        config.integer("hidden_size"),
        config.integer("index_n_heads"),
        config.integer("index_head_dim"),
    )
    return Module(
        "Indexer",
        children=children(
            q_proj=linear(hidden, heads * dim, bias=False),
            k_proj=linear(hidden, dim, bias=False),
            q_norm=rms_norm(dim),
            k_norm=rms_norm(dim),
        ),
        part="attention",
        caches=(Cache("index", per_token=dim),),
    )


def layer(config: ModelConfig, attention_kind: object, feed_forward_kind: object) -> Module:
    hidden = config.integer("hidden_size")
    sparse = attention_kind == SPARSE_ATTENTION
    mixer = self_attention(
        config,
        qk_norm="head",
        kind="sparse" if sparse else "full",
        extra={"indexer": indexer(config)} if sparse else None,
    )
    if sparse:
        # Blocks of keys are chosen, by the best score of a key in each.
        blocks, size = config.optional_integer("index_topk_blocks"), config.optional_integer("index_block_size")
        most = blocks * size if blocks and size else None
        width = config.integer("index_n_heads") * config.integer("index_head_dim")
        mixer = selecting(mixer, Selection(most, index_width=width))
    if feed_forward_kind == "sparse":
        experts = config.integer("num_local_experts")
        transform = mixture_of_experts(
            hidden,
            router(hidden, experts, correction_bias="e_score_correction_bias"),
            fused_experts(hidden, config.integer("intermediate_size"), experts, config.integer("num_experts_per_tok")),
            extra={
                "shared_experts": fused_gated_mlp(
                    hidden, config.integer("shared_intermediate_size"), part="shared experts"
                )
            },
        )
    else:
        transform = fused_gated_mlp(hidden, config.integer("dense_intermediate_size"))
    return decoder_layer(hidden, mixer, transform)


def text(config: ModelConfig) -> Module:
    pattern = config.layers("layer_types").zip(config.layers("mlp_layer_types"))
    return language_model(config, layers(pattern, lambda kind: layer(config, *kind)))


def vision(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    patch = config.integer("patch_size")
    heads = config.integer("num_attention_heads")
    block = Module(
        "EncoderLayer",
        children=children(
            self_attn=attention(
                hidden,
                heads,
                bias=True,
                names=("q_proj", "k_proj", "v_proj", "out_proj"),
                kind="encoder",
                cached=False,
            ),
            layer_norm1=layer_norm(hidden),
            mlp=mlp(hidden, config.integer("intermediate_size")),
            layer_norm2=layer_norm(hidden),
        ),
    )
    kernel = (config.integer("temporal_patch_size"), patch, patch)
    return Module(
        "VisionModel",
        children=children(
            embeddings=Module(
                "PatchEmbedding",
                children=children(proj=convolution(config.integer("num_channels"), hidden, kernel, bias=False)),
            ),
            # The missing "e" is in the tensor's name.
            pre_layrnorm=layer_norm(hidden),
            layers=uniform(block, config.integer("num_hidden_layers")),
        ),
        part="vision",
        width_out=hidden,
    )


def projector(config: ModelConfig) -> Module:
    """Patches to the text width, then ``spatial_merge_size`` squared neighbours merged into one."""
    vision_config, text_config = config.nested_config("vision_config"), config.nested_config("text_config")
    hidden, inner = text_config.integer("hidden_size"), config.integer("projector_hidden_size")
    merged = hidden * vision_config.integer("spatial_merge_size") ** 2
    return Module(
        "Projector",
        children=children(
            linear_1=linear(vision_config.integer("hidden_size"), inner),
            linear_2=linear(inner, hidden),
            merge_linear_1=linear(merged, inner),
            merge_linear_2=linear(inner, hidden),
        ),
        part="projector",
        width_out=hidden,
    )


def composite(config: ModelConfig) -> Module:
    text_config = config.nested_config("text_config")
    backbone = Module(
        "Model",
        children=children(
            vision_tower=vision(config.nested_config("vision_config")),
            multi_modal_projector=projector(config),
            language_model=text(replace(text_config, architecture="Model")),
        ),
    )
    head = head_name(config.architecture)
    if head == "Model":
        return backbone
    if head != "ForConditionalGeneration":
        raise unknown_head(config.architecture)
    tied = config.flag("tie_word_embeddings") or text_config.flag("tie_word_embeddings")
    top = lm_head(
        text_config.integer("hidden_size"),
        text_config.integer("vocab_size"),
        tied_to="model.language_model.embed_tokens.weight" if tied else None,
    )
    return Module(config.architecture, children=children(model=backbone, lm_head=top))


def build(config: ModelConfig) -> Module:
    if config.model_type == "minimax_m3_vl_text":
        return text(config)
    if config.model_type == "minimax_m3_vl_vision":
        return vision(config)
    return composite(config)
