"""NeoMME: an encoder of text and image patches with a factored token table and gated grouped-query attention.

Norms have no weights. The first and last global layers add a per-token value embedding.
"""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import head_dim
from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import lm_head, tied_copy, uniform
from neurarch_schemas.modules.attention import attention_block
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import embedding, layer_norm, linear, token_embedding
from neurarch_schemas.modules.tree import AttentionShape, Module, Tensor, children

MODEL_TYPES = ("neomme",)
READS_PER_LAYER_CONFIG = True


def check_layers(config: ModelConfig) -> None:
    """Layers differ in the size of their windows, which changes no tensor; another difference is refused."""
    if not config.is_set("per_layer_config"):
        return
    for changes in config.mapping("per_layer_config").values():
        if not isinstance(changes, dict) or changes.keys() - {"sliding_window"}:
            raise CannotBuild("layers that differ in more than sliding_window", ("per_layer_config",))


def layer(config: ModelConfig) -> Module:
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    kv_heads, dim, bias = config.integer("num_key_value_heads"), head_dim(config), config.flag("attention_bias")
    gated = children(
        gate_proj=linear(hidden, heads * dim, bias=False),
        o_proj=linear(heads * dim, hidden, bias),
    )
    mixer = attention_block(
        {
            "q_proj": linear(hidden, heads * dim, bias),
            "k_proj": linear(hidden, kv_heads * dim, bias),
            "v_proj": linear(hidden, kv_heads * dim, bias),
            "exclusive_self_attention": Module("ExclusiveSelfAttention", (Tensor("alpha", (heads,)),)),
            "output_projection": Module("GatedProjection", children=gated),
        },
        AttentionShape(heads, kv_heads, dim, dim, "encoder", causal=False, qk_norm=True, position="partial rope"),
        hidden=hidden,
        caches=(),
    )
    inner = config.integer("intermediate_size")
    return Module(
        "EncoderLayer",
        (Tensor("lambdas", (2,)),),
        children(self_attn=mixer, mlp=mlp(hidden, inner, config.flag("mlp_bias"), names=("up_proj", "down_proj"))),
        width_in=hidden,
        width_out=hidden,
    )


def build(config: ModelConfig) -> Module:
    check_layers(config)
    hidden, vocabulary = config.integer("hidden_size"), config.integer("vocab_size")
    rank = config.integer("embedding_rank")
    values = config.integer("num_key_value_heads") * head_dim(config)
    patch = 3 * config.integer("patch_size") ** 2
    layer_types = config.layers("layer_types")
    if "full_attention" not in layer_types.counts():
        raise CannotBuild("no layer attends to everything", ("layer_types",))
    patches = children(
        norm=layer_norm(patch),
        up_proj=linear(patch, 2 * hidden, bias=False),
        down_proj=linear(2 * hidden, hidden),
    )
    expansion = linear(rank, hidden, bias=False)
    model = Module(
        "Model",
        children=children(
            embed_tokens=Module(
                "Embeddings",
                children=children(word_embeddings=token_embedding(vocabulary, rank), embedding_projection=expansion),
                part="embedding",
            ),
            patch_embeddings=Module("PatchEmbeddings", children=patches, part="vision"),
            layers=uniform(layer(config), config.integer("num_hidden_layers")),
            value_embeddings=embedding(vocabulary, values, lookup=True),
        ),
        width_out=hidden,
    )
    head = head_name(config.architecture)
    if head == "Model":
        return model
    if head == "ForMaskedLM":
        table = lm_head(rank, vocabulary)
        if config.flag("tie_word_embeddings"):
            table = tied_copy(table, "model.embed_tokens.word_embeddings")
            expansion = tied_copy(expansion, "model.embed_tokens.embedding_projection")
        return Module(
            config.architecture,
            children=children(model=model, unembedding_projection=expansion.with_(part="head"), lm_head=table),
        )
    if head == "ForRetrieval":
        top = children(proj=linear(hidden, config.integer("embedding_dim"), bias=False))
        return Module(
            config.architecture,
            children=children(model=model, multi_vector_head=Module("MultiVectorHead", children=top, part="head")),
        )
    raise unknown_head(config.architecture)
