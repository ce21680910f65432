"""ModernBERT (arXiv:2412.13663) and its decoder: pre-norm without the first norm, GLU, alternating local attention."""

from __future__ import annotations

from neurarch_schemas.architectures.language_heads import head_name, label_count, unknown_head
from neurarch_schemas.config.layer_pattern import LayerPattern
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers
from neurarch_schemas.modules.attention import attention, attention_block
from neurarch_schemas.modules.layers import embedding, layer_norm, linear
from neurarch_schemas.modules.tree import AttentionShape, Module, Stack, named

MODEL_TYPES = ("modernbert", "modernbert-decoder")


def glu(hidden: int, intermediate: int, bias: bool) -> Module:
    children = {"Wi": linear(hidden, 2 * intermediate, bias), "Wo": linear(intermediate, hidden, bias)}
    return Module("GatedMLP", children=named(children), part="feed-forward", width_in=hidden, width_out=hidden)


def decoder_window(config: ModelConfig) -> int | None:
    """``sliding_window`` where the file has it, else half of ``local_attention``."""
    own = config.setting("sliding_window")
    if own is not None and own.origin == "written":
        return config.optional_integer("sliding_window")
    return config.integer("local_attention") // 2 if config.flag("local_attention") else None


def self_attention(config: ModelConfig, local: bool) -> Module:
    """``local_attention`` is the whole window; the decoder looks back over half of it."""
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    bias = config.flag("attention_bias")
    dim = hidden // heads
    if config.model_type == "modernbert-decoder":
        window = decoder_window(config) if local else None
        return attention(
            hidden, heads, heads, dim, bias=bias, names=("q_proj", "k_proj", "v_proj", "Wo"), window=window
        ).with_(problems=())
    window = config.integer("local_attention") if local else None
    shape = AttentionShape(heads, heads, dim, dim, "encoder", window, causal=False, position="rope")
    children: dict[str, Module | Stack | None] = {
        "Wqkv": linear(hidden, 3 * heads * dim, bias),
        "Wo": linear(hidden, hidden, bias),
    }
    return attention_block(children, shape, hidden=hidden, caches=())


def layer(config: ModelConfig, local: bool, first: bool) -> Module:
    hidden, bias = config.integer("hidden_size"), config.flag("norm_bias")
    return Module(
        "EncoderLayer",
        children=named(
            {
                "attn_norm": None if first else layer_norm(hidden, bias=bias),
                "attn": self_attention(config, local),
                "mlp_norm": layer_norm(hidden, bias=bias),
                "mlp": glu(hidden, config.integer("intermediate_size"), config.flag("mlp_bias")),
            }
        ),
    )


def backbone(config: ModelConfig) -> Module:
    """The embeddings are normalized, so the first layer's attention is not."""
    hidden, bias, count = config.integer("hidden_size"), config.flag("norm_bias"), config.integer("num_hidden_layers")
    kinds = config.layers("layer_types").head(count).map(lambda kind: kind == "sliding_attention")
    first = LayerPattern.constant(True, min(count, 1)) + LayerPattern.constant(False, max(count - 1, 0))
    return Module(
        "Model",
        children=named(
            {
                "embeddings.tok_embeddings": embedding(config.integer("vocab_size"), hidden, lookup=True),
                "embeddings.norm": layer_norm(hidden, bias=bias),
                "layers": layers(kinds.zip(first), lambda kind: layer(config, *kind)),
                "final_norm": layer_norm(hidden, bias=bias),
            }
        ),
    )


def prediction_head(config: ModelConfig) -> Module:
    hidden = config.integer("hidden_size")
    children = {
        "dense": linear(hidden, hidden, config.flag("classifier_bias")),
        "norm": layer_norm(hidden, bias=config.flag("norm_bias")),
    }
    return Module("PredictionHead", children=named(children), part="head")


def build(config: ModelConfig) -> Module:
    hidden, head = config.integer("hidden_size"), head_name(config.architecture)
    model = backbone(config)
    if head == "Model":
        return model
    decoder = config.model_type == "modernbert-decoder"
    children: dict[str, Module | Stack | None] = {"model": model}
    children["lm_head" if head == "ForCausalLM" else "head"] = prediction_head(config)
    if head in ("ForMaskedLM", "ForCausalLM"):
        tied = "model.embeddings.tok_embeddings.weight" if config.flag("tie_word_embeddings") else None
        vocabulary = config.integer("vocab_size")
        children["decoder"] = linear(hidden, vocabulary, config.flag("decoder_bias"), tied_to=tied, part="head")
    elif head in ("ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering"):
        bias = config.flag("classifier_bias") if decoder else True
        children["classifier"] = linear(hidden, label_count(config), bias, part="head")
    elif head == "ForMultipleChoice" and not decoder:
        children["classifier"] = linear(hidden, 1, part="head")
    else:
        raise unknown_head(config.architecture)
    return Module(config.architecture, children=named(children))
