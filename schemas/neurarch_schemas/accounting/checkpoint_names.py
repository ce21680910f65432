"""Names of tensors brought to one spelling, so that a checkpoint and a tree can be held against each other.

transformers renames tensors when it loads older checkpoints (prefixes of wrapper classes, fused and single experts,
``gamma`` and ``beta``, weight norm), so different spellings of the same tensors are no mismatch.
"""

from __future__ import annotations

import re

WRAPPERS = frozenset(
    {
        "model",
        "language_model",
        "transformer",
        "base_model",
        "module",
        "backbone",
        "text_model",
        "gpt_neox",
        "roberta",
        "bert",
    }
)
"""Components that stand for a wrapper class and come and go between versions."""

SYNONYMS = {
    "block_sparse_moe": "mlp",
    "feed_forward": "mlp",
    "ffn": "mlp",
    "gamma": "weight",
    "beta": "bias",
    "LayerNorm": "norm",
    "layer_norm": "norm",
    "w1": "gate_proj",
    "w2": "down_proj",
    "w3": "up_proj",
    "weight_g": "original0",
    "weight_v": "original1",
    "shared_expert": "shared_experts",
    "router": "gate",
}

NOT_LOADED = re.compile(
    r"(?:rotary_emb\.inv_freq|rotary_emb\.(?:cos|sin)_cached|position_ids|masked_bias|(?:^|\.)attn\.bias|\.attention\.bias|"
    r"relative_position_index|embed_positions\.weights|num_batches_tracked|attention_mask_cache)$"
)
"""Buffers that older versions saved and no class loads any more."""

QUANTIZED = re.compile(
    r"\.(?:qweight|qzeros|scales|g_idx|weight_scale(?:_inv|_2)?|weight_packed|weight_shape|weight_zero_point|"
    r"weight_global_scale|input_global_scale|input_scale|output_scale|[kv]_scale|SCB|weight_format|absmax|quant_map|"
    r"nested_absmax|nested_quant_map|quant_state\.\w+|blocks|\w+_blocks|\w+_scales)$"
)
"""Tensors of packed weights and their scales."""
SCALES = re.compile(
    r"\.(?:qzeros|scales|g_idx|weight_shape|weight_zero_point|SCB|weight_format|quant_state\.\w+|"
    r"\w*(?:scale(?:_inv|_2)?|scales|absmax|quant_map))$"
)
"""Of those, what is no weight."""

EXPERT = re.compile(r"\bexperts\.(?:\d+|\{\})\.(gate_proj|up_proj|down_proj|gate_up_proj)\b(?:\.weight)?")
FUSED_EXPERT = re.compile(r"\bexperts\.(gate_up_proj|down_proj|up_proj|gate_proj)(?:\.weight)?$")
MTP = re.compile(r"(?:^|\.)(?:mtp\w*|nextn\w*|eagle\w*)(?:\.|$)")
LAYER = re.compile(r"(?:^|\.)(?:layers|h|blocks|block|layer)\.(\d+)(?:\.|$)")


def canonical(name: str) -> str:
    """One spelling for all names of the same tensor; the tensors of one expert projection share a name."""
    pieces = [SYNONYMS.get(piece, piece) for piece in name.split(".") if piece not in WRAPPERS]
    text = ".".join(piece for piece in pieces if piece != "parametrizations")
    found = EXPERT.search(text) or FUSED_EXPERT.search(text)
    if found is not None:
        projection = "down" if found.group(1) == "down_proj" else "up"
        return text[: found.start()] + f"experts.{projection}"
    return text


def layer_index(name: str) -> int | None:
    """The number of the layer a tensor is in; the first number where layers nest."""
    found = LAYER.search(name)
    return int(found.group(1)) if found is not None else None


def layer_stack(name: str) -> tuple[str, int]:
    """The list of layers a tensor is in and its index there: "layers" and 3 of model.layers.3.norm; -1 for none."""
    found = LAYER.search(name)
    return (canonical(name[: found.start(1) - 1]), int(found.group(1))) if found is not None else ("", -1)


def first_index(name: str) -> int | None:
    """The first number in a name, whatever the list is called."""
    return next((int(piece) for piece in name.split(".") if piece.isdecimal()), None)
