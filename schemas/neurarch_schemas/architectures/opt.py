"""OPT: learned positions (two rows more than positions), embeddings that may be narrower than the layers."""

from __future__ import annotations

from neurarch_schemas.architectures.language_heads import head_name, with_language_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.attention import attention
from neurarch_schemas.modules.layers import layer_norm, linear, position_embedding, token_embedding
from neurarch_schemas.modules.tree import Module, children

MODEL_TYPES = ("opt",)

# Position ids start at 2.
POSITION_OFFSET = 2


def build(config: ModelConfig) -> Module:
    hidden, inner = config.integer("hidden_size"), config.integer("ffn_dim")
    width = config.integer("word_embed_proj_dim", hidden)
    bias, affine = config.flag("enable_bias"), config.flag("layer_norm_elementwise_affine")
    norm = layer_norm(hidden, weight=affine, bias=affine)
    block = Module(
        "DecoderLayer",
        children=children(
            self_attn=attention(
                hidden,
                config.integer("num_attention_heads"),
                bias=bias,
                names=("q_proj", "k_proj", "v_proj", "out_proj"),
                position="learned",
            ),
            self_attn_layer_norm=norm,
            fc1=linear(hidden, inner, bias, part="feed-forward"),
            fc2=linear(inner, hidden, bias, part="feed-forward"),
            final_layer_norm=norm,
        ),
        width_in=hidden,
        width_out=hidden,
    )
    final = config.flag("do_layer_norm_before") and not config.flag("_remove_final_layer_norm")
    projected = width != hidden
    decoder = Module(
        "Decoder",
        children=children(
            embed_tokens=token_embedding(config.integer("vocab_size"), width),
            embed_positions=position_embedding(config.integer("max_position_embeddings") + POSITION_OFFSET, hidden),
            project_out=linear(hidden, width, bias=False, part="embedding") if projected else None,
            project_in=linear(width, hidden, bias=False, part="embedding") if projected else None,
            final_layer_norm=norm if final else None,
            layers=uniform(block, config.integer("num_hidden_layers")),
        ),
        width_out=width,
    )
    if head_name(config.architecture) == "Decoder":
        return decoder
    backbone = Module("Model", children=children(decoder=decoder), width_out=width)
    return with_language_head(
        config,
        backbone,
        hidden=width,
        embedding="decoder.embed_tokens.weight",
        question_answering_prefix="model",
    )
