"""UltraBERT: a Llama-like stack that attends in both directions, mostly within windows, with a narrow language head."""

from __future__ import annotations

from neurarch_schemas.architectures.decoder import decoder_layer, feed_forward, self_attention
from neurarch_schemas.architectures.language_heads import head_name, label_count, unknown_head
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import layers, lm_head
from neurarch_schemas.modules.layers import linear, rms_norm, token_embedding
from neurarch_schemas.modules.tree import Module, Stack, children

MODEL_TYPES = ("ultrabert",)


def build(config: ModelConfig) -> Module:
    hidden, vocabulary = config.integer("hidden_size"), config.integer("vocab_size")
    head, inner = head_name(config.architecture), config.integer("prediction_head_size")

    def layer(window: int | None) -> Module:
        bias = config.flag("attention_bias")
        mixer = self_attention(config, window, bias=bias, kind="encoder", cached=False)
        return decoder_layer(hidden, mixer, feed_forward(config, bias=config.flag("mlp_bias")))

    model = Module(
        "Model",
        children=children(
            embed_tokens=token_embedding(vocabulary, hidden),
            layers=layers(config.windows(), layer),
            norm=rms_norm(hidden),
        ),
    )
    if head == "Model":
        return model
    parts: dict[str, Module | Stack | None] = {"model": model}
    if head == "ForMaskedLM":
        tied = "model.embed_tokens.weight" if config.flag("tie_word_embeddings") else None
        parts["head"] = Module(
            "PredictionHead",
            children=children(
                linear1=linear(hidden, inner, bias=False),
                linear2=linear(inner, hidden, bias=False),
                decoder=lm_head(hidden, vocabulary, tied_to=tied),
            ),
            part="head",
        )
    elif head in ("ForSequenceClassification", "ForTokenClassification"):
        parts["classifier"] = linear(hidden, label_count(config), part="head")
    elif head == "ForQuestionAnswering":
        parts["qa_outputs"] = linear(hidden, 2, part="head")
    else:
        raise unknown_head(config.architecture)
    return Module(config.architecture, children=children(**parts))
