"""T5 and its relatives: mT5, UMT5, LongT5, Switch Transformers, Pop2Piano, UDOP.

transformers 5 ties T5's head whatever ``tie_word_embeddings`` says (the key decides about scaling only).
"""

from __future__ import annotations

from neurarch_schemas.architectures.language_heads import head_name, label_count, unknown_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.layer_pattern import LayerPattern
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.encoder import Role
from neurarch_schemas.modules.experts import named_experts
from neurarch_schemas.modules.layers import convolution, embedding, linear, position_embedding, rms_norm
from neurarch_schemas.modules.t5 import t5_attention, t5_block, t5_blocks, t5_feed_forward
from neurarch_schemas.modules.tree import Module, Stack, Tensor, named, stack
from neurarch_schemas.modules.vision import height_and_width

MODEL_TYPES = ("t5", "mt5", "umt5", "longt5", "switch_transformers", "pop2piano", "udop")

SHARED = "shared.weight"


def gated(config: ModelConfig) -> bool:
    """``feed_forward_proj`` is an activation, or "gated-" and an activation."""
    if config.model_type == "switch_transformers":
        return False
    own = config.setting("is_gated_act")
    if own is not None and own.origin == "written":
        return config.flag("is_gated_act")
    return config.text("feed_forward_proj").split("-")[0] == "gated"


def sparse_layers(config: ModelConfig, side: str, count: int) -> LayerPattern[bool]:
    """Every n-th layer of a Switch Transformer has experts, where n follows from their number."""
    if config.model_type != "switch_transformers":
        return LayerPattern.constant(False, count)
    own = config.setting(f"{side}_sparse_step")
    if own is not None and own.origin == "written":
        step = config.integer(f"{side}_sparse_step")
    else:
        sparse = config.integer(f"num_sparse_{side}_layers")
        step = count // sparse if sparse else count
    if step == 0:
        return LayerPattern.constant(False, count)
    if step == 1:
        return LayerPattern.constant(True, count)
    if step > count:
        return LayerPattern.constant(False, min(count, 1)) + (
            LayerPattern.constant(True, 1) + LayerPattern.constant(False, count - 2)
            if count > 1
            else LayerPattern.constant(False, 0)
        )
    return LayerPattern.periodic((False, True, *(False,) * (step - 2)), count)


def switch_feed_forward(config: ModelConfig) -> Module:
    """One expert of all works on a token (arXiv:2101.03961); transformers keeps them in a dictionary by name."""
    hidden, inner, experts = config.integer("d_model"), config.integer("d_ff"), config.integer("num_experts")
    tensors = (Tensor("wi.weight", (inner, hidden)), Tensor("wo.weight", (hidden, inner)))
    expert = Module("FeedForward", tensors)
    router = linear(hidden, experts, bias=config.flag("router_bias"), part="router")
    children = {
        "router.classifier": router,
        "experts": named_experts(expert, experts, 1, multiply_accumulates=2 * hidden * inner),
    }
    return Module("SparseMLP", children=named(children))


def block(config: ModelConfig, *, decoder: bool, first: bool, sparse: bool) -> Module:
    """Only the first block has relative-position biases, except in UMT5, where every block has its own."""
    hidden, heads, head_dim = config.integer("d_model"), config.integer("num_heads"), config.integer("d_kv")
    kind = config.model_type
    buckets = config.integer("relative_attention_num_buckets") if first or kind == "umt5" else None
    role: Role = "decoder" if decoder else "encoder"
    attention, name = t5_attention(hidden, heads, head_dim, role, buckets=buckets), "SelfAttention"
    if kind == "longt5" and not decoder:
        attention, name = long_attention(config, attention, first)
    cross = None
    if decoder:
        length = config.optional_integer("n_positions")
        cross = t5_attention(hidden, heads, head_dim, "cross", buckets=None, source_length=length)
    feed_forward = {"DenseReluDense": t5_feed_forward(hidden, config.integer("d_ff"), gated(config))}
    if kind == "switch_transformers":
        dense = t5_feed_forward(hidden, config.integer("d_ff"), gated=False)
        feed_forward = {"mlp": switch_feed_forward(config) if sparse else dense}
    return t5_block(hidden, attention, cross, feed_forward, name)


def long_attention(config: ModelConfig, attention: Module, first: bool) -> tuple[Module, str]:
    """LongT5 (arXiv:2112.07916): local attention, optionally with global tokens made of the blocks' sums."""
    style = config.text("encoder_attention_type")
    if style == "local":
        return attention, "LocalSelfAttention"
    if style != "transient-global":
        raise CannotBuild(f"encoder attention {style!r} is not known", ("encoder_attention_type",))
    extra: dict[str, Module | Stack | None] = {"global_input_layer_norm": rms_norm(config.integer("d_model"))}
    if first:
        buckets, heads = config.integer("relative_attention_num_buckets"), config.integer("num_heads")
        extra["global_relative_attention_bias"] = position_embedding(buckets, heads)
    return attention.with_(children=(*attention.children, *named(extra))), "TransientGlobalSelfAttention"


def t5_stack(config: ModelConfig, *, decoder: bool, tied_to: str | None) -> Module:
    hidden, side = config.integer("d_model"), "decoder" if decoder else "encoder"
    count = config.integer("num_layers")
    if decoder:
        count = config.integer("num_decoder_layers", count)
    blocks = t5_blocks(
        count,
        sparse_layers(config, side, count),
        lambda kind: block(config, decoder=decoder, first=kind[0], sparse=kind[1]),
    )
    return Module(
        "Decoder" if decoder else "Encoder",
        children=named(
            {
                "embed_tokens": embedding(config.integer("vocab_size"), hidden, lookup=True, tied_to=tied_to),
                **(layout_parts(config, decoder=decoder) if config.model_type == "udop" else {}),
                "block": blocks,
                "final_layer_norm": rms_norm(hidden),
            }
        ),
    )


def patch_embedding(config: ModelConfig, tied_to: str | None = None) -> Module:
    hidden, kernel = config.integer("d_model"), height_and_width(config, "patch_size")
    projection = convolution(config.integer("num_channels"), hidden, kernel)
    if tied_to:
        tensors = tuple(
            Tensor(tensor.name, tensor.shape, tied_to=f"{tied_to}.{tensor.name}") for tensor in projection.tensors
        )
        projection = projection.with_(tensors=tensors)
    return Module("PatchEmbedding", children=named({"proj": projection}), part="vision")


def layout_parts(config: ModelConfig, *, decoder: bool) -> dict[str, Module | Stack | None]:
    """UDOP: patches, positions of words on the page, and one bias table for each of ``relative_bias_args``.

    The first of them, where one-dimensional, shares the table of the encoder's first block.
    """
    hidden, heads = config.integer("d_model"), config.integer("num_heads")
    parts: dict[str, Module | Stack | None] = {
        "embed_patches": patch_embedding(config, "patch_embed.proj" if not decoder else None)
    }
    if not decoder:
        rows = config.integer("max_2d_position_embeddings")
        parts["cell_2d_embedding.x_position_embeddings"] = position_embedding(rows, hidden)
        parts["cell_2d_embedding.y_position_embeddings"] = position_embedding(rows, hidden)
    owner = "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"
    generating = head_name(config.architecture) == "ForConditionalGeneration"
    biases = []
    for index, arguments in enumerate(config.items("relative_bias_args")):
        if not isinstance(arguments, dict) or set(arguments) - {"type", "num_heads"}:
            raise CannotBuild("relative_bias_args with further arguments are not known", ("relative_bias_args",))
        # Their tables have 32 rows, transformers' default, whatever the number of buckets.
        table = embedding(32, heads, part="position", tied_to=owner if index == 0 and generating else None)
        biases.append(Module("RelativeBias", children=named({"relative_attention_bias": table})))
    parts["relative_bias.biases"] = stack(*biases)
    return parts


def encoder_decoder(config: ModelConfig, prefix: str = "") -> dict[str, Module | Stack | None]:
    """The children of the bare model, whose two token tables share the storage of ``shared``."""
    hidden, shared = config.integer("d_model"), f"{prefix}{SHARED}"
    tied = shared if config.model_type != "switch_transformers" or config.flag("tie_word_embeddings") else None
    return {
        "shared": embedding(config.integer("vocab_size"), hidden, lookup=True),
        "patch_embed": patch_embedding(config) if config.model_type == "udop" else None,
        "encoder": t5_stack(config, decoder=False, tied_to=tied),
        "decoder": t5_stack(config, decoder=True, tied_to=tied),
    }


def encoder_model(config: ModelConfig, prefix: str = "") -> Module:
    hidden, shared = config.integer("d_model"), f"{prefix}{SHARED}"
    children: dict[str, Module | Stack | None] = {
        "shared": embedding(config.integer("vocab_size"), hidden, lookup=True),
        "encoder": t5_stack(config, decoder=False, tied_to=shared),
    }
    return Module("EncoderModel", children=named(children))


def build(config: ModelConfig) -> Module:
    head, hidden, kind = head_name(config.architecture), config.integer("d_model"), config.model_type
    name = config.architecture
    if name.endswith("EncoderModel") and kind in ("t5", "mt5", "umt5", "longt5"):
        return encoder_model(config)
    if head == "Model" and kind != "pop2piano" and not name.endswith("EncoderModel"):
        return Module("Model", children=named(encoder_decoder(config)))
    if head == "ForConditionalGeneration":
        children = encoder_decoder(config)
        if kind == "pop2piano":
            composer = embedding(config.integer("composer_vocab_size"), hidden)
            children["mel_conditioner.embedding"] = composer
        tied = SHARED if kind != "switch_transformers" or config.flag("tie_word_embeddings") else None
        tied = None if kind == "pop2piano" else tied
        output = linear(hidden, config.integer("vocab_size"), bias=False, tied_to=tied, part="head")
        return Module(name, children=named({**children, "lm_head": output}))
    if kind in ("t5", "mt5", "umt5"):
        labels = label_count(config)
        if head == "ForQuestionAnswering":
            outputs = linear(hidden, labels, part="head")
            return Module(name, children=named({**encoder_decoder(config), "qa_outputs": outputs}))
        if head == "ForSequenceClassification":
            model = Module("Model", children=named(encoder_decoder(config, "transformer.")))
            dense = {"dense": linear(hidden, hidden), "out_proj": linear(hidden, labels)}
            top = Module("ClassificationHead", children=named(dense), part="head")
            return Module(name, children=named({"transformer": model, "classification_head": top}))
        if head == "ForTokenClassification":
            outputs = linear(hidden, labels, part="head")
            encoder = encoder_model(config, "transformer.")
            return Module(name, children=named({"transformer": encoder, "classifier": outputs}))
    raise unknown_head(name)
