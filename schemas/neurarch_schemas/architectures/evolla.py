"""Evolla: a protein encoder, a resampler of its states, and a Llama-like model with cross attention to them."""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import decoder_layer, feed_forward, self_attention
from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.config.periods import every
from neurarch_schemas.modules.assembly import in_part, layers, lm_head, uniform
from neurarch_schemas.modules.encoder import encoder_attention
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import embedding, layer_norm, linear, position_embedding, rms_norm, token_embedding
from neurarch_schemas.modules.tree import AttentionShape, Module, Tensor, children
from neurarch_schemas.modules.vision import sequential

MODEL_TYPES = ("evolla",)


def protein_encoder(config: ModelConfig) -> Module:
    """SaProt (doi:10.1101/2023.10.01.560349): an ESM encoder with pre-norm layers and rotary positions."""
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    inner, kind = config.integer("intermediate_size"), config.get("position_embedding_type")
    names = ("self.query", "self.key", "self.value", "output.dense")

    def attends(*, cross: bool) -> Module:
        return encoder_attention(
            hidden,
            heads,
            names=names,
            role="cross" if cross else "encoder",
            out_inputs=hidden,
            cached=False,
            extra={"LayerNorm": layer_norm(hidden)},
        )

    crosses = config.flag("add_cross_attention")
    layer = Module(
        "EncoderLayer",
        children=children(
            attention=attends(cross=False),
            crossattention=attends(cross=True) if crosses else None,
            intermediate=Module("Intermediate", children=children(dense=linear(hidden, inner)), part="feed-forward"),
            output=Module("Output", children=children(dense=linear(inner, hidden)), part="feed-forward"),
            LayerNorm=layer_norm(hidden),
        ),
    )
    absolute = kind == "absolute"
    positions = position_embedding(config.integer("max_position_embeddings"), hidden) if absolute else None
    embeddings = Module(
        "Embeddings",
        children=children(
            word_embeddings=embedding(config.integer("vocab_size"), hidden),
            layer_norm=layer_norm(hidden) if config.flag("emb_layer_norm_before") else None,
            position_embeddings=positions,
        ),
    )
    encoder = Module(
        "Encoder",
        children=children(
            layer=uniform(layer, config.integer("num_hidden_layers")), emb_layer_norm_after=layer_norm(hidden)
        ),
    )
    frequencies = None
    if kind == "rotary":
        frequencies = Module("RotaryEmbedding", (Tensor("inv_freq", (len(range(0, hidden // heads, 2)),), "buffer"),))
    return Module(
        "ProteinEncoder", children=children(embeddings=embeddings, encoder=encoder, rotary_embeddings=frequencies)
    )


def normed_feed_forward(hidden: int, factor: float) -> Module:
    block = mlp(hidden, int(hidden * factor), bias=False)
    return block.with_(children=(("norm", layer_norm(hidden)), *block.children))


def resampler(config: ModelConfig, source: int, hidden: int) -> Module:
    """Latents that gather the protein's states, as in Flamingo (arXiv:2204.14198)."""
    heads, dim = config.integer("resampler_heads"), config.integer("resampler_dim_head")
    gathers = Module(
        "Attention",
        children=children(
            norm_media=layer_norm(source),
            norm_latents=layer_norm(source),
            to_q=linear(source, heads * dim, bias=False),
            to_kv=linear(source, 2 * heads * dim, bias=False),
            to_out=linear(heads * dim, source, bias=False),
        ),
        part="attention",
        attention=AttentionShape(heads, heads, dim, dim, "cross", causal=False),
    )
    layer = sequential(gathers, normed_feed_forward(source, config.number("resampler_ff_mult")))
    return Module(
        "Resampler",
        (Tensor("latents", (config.integer("resampler_num_latents"), source)),),
        children(
            layers=uniform(layer, config.integer("resampler_depth")),
            norm=layer_norm(hidden),
            protein_projector=linear(source, hidden),
        ),
    )


def adapter(config: ModelConfig, hidden: int) -> Module:
    heads = config.integer("num_attention_heads")
    names = ("query", "key_protein", "value_protein", "out_proj")
    block = encoder_attention(
        hidden,
        heads,
        names=names,
        role="cross",
        out_inputs=hidden,
        out_bias=config.flag("aligner_enable_bias"),
        cached=False,
        extra={
            "attention_norm": rms_norm(hidden),
            "ff": normed_feed_forward(hidden, config.number("aligner_ffn_mult")),
        },
    )
    return block.with_(tensors=(Tensor("gate_attention", (1,)), Tensor("gate_ffw", (1,))))


def layer(config: ModelConfig, hidden: int, adapted: bool) -> Module:
    block = decoder_layer(
        hidden,
        self_attention(config, bias=config.flag("attention_bias")),
        feed_forward(config, bias=config.flag("mlp_bias")),
    )
    return block.with_(children=(*block.children, ("adapter", adapter(config, hidden)))) if adapted else block


def build(config: ModelConfig) -> Module:
    protein = config.nested_config("protein_encoder_config")
    hidden, count = config.integer("hidden_size"), config.integer("num_hidden_layers")
    added = config.integer("aligner_num_add_layers")
    if added < 1:
        raise CannotBuild("aligner_num_add_layers must be positive", ("aligner_num_add_layers",))
    period = max(count // added, 1)
    reads = Module(
        "ProteinReader",
        children=children(
            model=in_part(protein_encoder(protein), "other"),
            sequence_compressor_resampler=in_part(
                resampler(config, protein.integer("hidden_size"), hidden), "projector"
            ),
        ),
    )
    pattern = every(period, period - 1, count, True, False)
    backbone = Module(
        "Model",
        children=children(
            embed_tokens=token_embedding(config.integer("vocab_size"), hidden),
            protein_encoder=reads,
            layers=layers(pattern, lambda adapted: layer(config, hidden, adapted)),
            norm=rms_norm(hidden),
        ),
    )
    head = head_name(config.architecture)
    if head == "Model":
        return backbone
    if head != "ForProteinText2Text":
        raise unknown_head(config.architecture)
    # The class ties nothing, whatever tie_word_embeddings says.
    top = lm_head(hidden, config.integer("vocab_size"))
    return Module(config.architecture, children=children(model=backbone, lm_head=top))
