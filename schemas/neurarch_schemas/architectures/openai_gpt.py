"""GPT (the first): post-norm, learned positions, matrices stored as (in, out), no final norm."""

from __future__ import annotations

from neurarch_schemas.architectures.language_heads import head_name, sequence_summary, with_language_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import lm_head, uniform
from neurarch_schemas.modules.attention import attention_block
from neurarch_schemas.modules.layers import layer_norm, position_embedding, token_embedding, transposed_linear
from neurarch_schemas.modules.tree import AttentionShape, Module, children

MODEL_TYPES = ("openai-gpt",)


def build(config: ModelConfig) -> Module:
    hidden, heads = config.integer("n_embd"), config.integer("n_head")
    dim, inner = hidden // heads, 4 * hidden
    block = Module(
        "Block",
        children=children(
            attn=attention_block(
                {"c_attn": transposed_linear(hidden, 3 * hidden), "c_proj": transposed_linear(hidden, hidden)},
                AttentionShape(heads, heads, dim, dim, position="learned"),
                hidden=hidden,
                # This class was never given a cache: every step reads the whole text again.
                caches=(),
            ),
            ln_1=layer_norm(hidden),
            mlp=Module(
                "MLP",
                children=children(c_fc=transposed_linear(hidden, inner), c_proj=transposed_linear(inner, hidden)),
                part="feed-forward",
            ),
            ln_2=layer_norm(hidden),
        ),
        width_in=hidden,
        width_out=hidden,
    )
    backbone = Module(
        "Model",
        children=children(
            tokens_embed=token_embedding(config.integer("vocab_size"), hidden),
            positions_embed=position_embedding(config.integer("n_positions"), hidden),
            h=uniform(block, config.integer("n_layer")),
        ),
        width_out=hidden,
    )
    if head_name(config.architecture) == "DoubleHeadsModel":
        tied = "transformer.tokens_embed.weight" if config.flag("tie_word_embeddings", True) else None
        return Module(
            config.architecture,
            children=children(
                transformer=backbone,
                lm_head=lm_head(hidden, config.integer("vocab_size"), tied_to=tied),
                multiple_choice_head=sequence_summary(config, hidden, 1),
            ),
        )
    return with_language_head(config, backbone, hidden=hidden, prefix="transformer", embedding="tokens_embed.weight")
