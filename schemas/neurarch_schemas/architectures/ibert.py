"""I-BERT (arXiv:2101.01321): RoBERTa for integer arithmetic, with buffers of quantized weights and ranges."""

from __future__ import annotations

from neurarch_schemas.architectures.bert import pooler
from neurarch_schemas.architectures.encoder_heads import masked_lm_head, with_encoder_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.attention import attention_block
from neurarch_schemas.modules.layers import embedding, layer_norm, linear, position_embedding
from neurarch_schemas.modules.tree import AttentionShape, Module, Stack, Tensor, named, stack

MODEL_TYPES = ("ibert",)


def integer_linear(inputs: int, outputs: int) -> Module:
    """A linear map with integer copies of weight and bias and a scale for each output."""
    plain = linear(inputs, outputs)
    copies = (
        Tensor("weight_integer", (outputs, inputs), "buffer"),
        Tensor("fc_scaling_factor", (outputs,), "buffer"),
        Tensor("bias_integer", (outputs,), "buffer"),
    )
    return plain.with_(tensors=(*plain.tensors, *copies))


def integer_table(table: Module) -> Module:
    """An embedding with an integer copy and one scale."""
    shape = table.tensors[0].shape
    copies = (Tensor("weight_scaling_factor", (1,), "buffer"), Tensor("weight_integer", shape, "buffer"))
    return table.with_(tensors=(*table.tensors, *copies))


def integer_norm(width: int) -> Module:
    """A layer norm with the shift of its square root; its output range is a child of its own."""
    plain = layer_norm(width)
    shifted = plain.with_(tensors=(*plain.tensors, Tensor("shift", (1,), "buffer")))
    return shifted.with_(children=(("activation", activation_range()),))


def activation_range() -> Module:
    names = ("x_min", "x_max", "act_scaling_factor")
    return Module("ActivationRange", tuple(Tensor(name, (1,), "buffer") for name in names), part="other")


def output(inputs: int, outputs: int) -> dict[str, Module | Stack | None]:
    return {
        "dense": integer_linear(inputs, outputs),
        "ln_input_act": activation_range(),
        "LayerNorm": integer_norm(outputs),
        "output_activation": activation_range(),
    }


def layer(config: ModelConfig) -> Module:
    hidden, heads, inner = (
        config.integer("hidden_size"),
        config.integer("num_attention_heads"),
        config.integer("intermediate_size"),
    )
    width = heads * (hidden // heads)
    children: dict[str, Module | Stack | None] = {}
    for name in ("query", "key", "value"):
        children[f"self.{name}"] = integer_linear(hidden, width)
        children[f"self.{name}_activation"] = activation_range()
    children["self.output_activation"] = activation_range()
    children["self.softmax.act"] = activation_range()
    children["output"] = Module("Output", children=named(output(hidden, hidden)))
    shape = AttentionShape(heads, heads, hidden // heads, hidden // heads, "encoder", causal=False, position="learned")
    return Module(
        "EncoderLayer",
        children=named(
            {
                "attention": attention_block(children, shape, hidden=hidden, caches=()),
                "intermediate.dense": integer_linear(hidden, inner).with_(part="feed-forward"),
                "intermediate.output_activation": activation_range(),
                "output": Module("Output", children=named(output(inner, hidden)), part="feed-forward"),
                "pre_intermediate_act": activation_range(),
                "pre_output_act": activation_range(),
            }
        ),
    )


def backbone(config: ModelConfig, with_pooler: bool) -> Module:
    hidden = config.integer("hidden_size")
    positions = config.integer("max_position_embeddings")
    tables: dict[str, Module | Stack | None] = {
        "word_embeddings": integer_table(embedding(config.integer("vocab_size"), hidden, lookup=True)),
        "token_type_embeddings": integer_table(embedding(config.integer("type_vocab_size"), hidden)),
        "position_embeddings": integer_table(position_embedding(positions, hidden)),
        "embeddings_act1": activation_range(),
        "embeddings_act2": activation_range(),
        "LayerNorm": integer_norm(hidden),
        "output_activation": activation_range(),
    }
    return Module(
        "Model",
        children=named(
            {
                "embeddings": Module("Embeddings", children=named(tables), part="embedding"),
                "encoder.layer": stack(layer(config), times=config.integer("num_hidden_layers")),
                "pooler": pooler(hidden) if with_pooler else None,
            }
        ),
    )


def language_model(config: ModelConfig) -> dict[str, Module]:
    hidden, vocabulary = config.integer("hidden_size"), config.integer("vocab_size")
    table = "ibert.embeddings.word_embeddings.weight" if config.flag("tie_word_embeddings") else None
    head = masked_lm_head(hidden, vocabulary, tied_to=table, name="lm_head", transform=("dense", "layer_norm"))
    return {"lm_head": head}


def build(config: ModelConfig) -> Module:
    return with_encoder_head(
        config,
        lambda with_pooler: backbone(config, with_pooler),
        prefix="ibert",
        hidden=config.integer("hidden_size"),
        language_model=lambda: language_model(config),
        classifier="dense",
        pooled=("Model", "ForMultipleChoice"),
    )
