"""Keys that belong together: a relation of a rule, a synonym, tensors in one shard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurarch_lsp.render.key_facts import owner_of
from neurarch_schemas.documents.pointer import join_pointer, split_pointer

if TYPE_CHECKING:
    from neurarch_schemas.analysis import Analysis

GROUPS: tuple[frozenset[str], ...] = (
    frozenset({"hidden_size", "num_attention_heads", "head_dim"}),
    frozenset({"num_attention_heads", "num_key_value_heads"}),
    frozenset({"q_lora_rank", "kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"}),
    frozenset(
        {"num_hidden_layers", "layer_types", "mlp_layer_types", "first_k_dense_replace", "moe_layer_freq",
         "no_rope_layers", "mlp_only_layers", "decoder_sparse_step", "full_attention_interval", "attn_layer_indices",
         "sliding_window_pattern", "max_window_layers"}
    ),
    frozenset({"num_experts", "num_local_experts", "n_routed_experts", "num_experts_per_tok", "n_group", "topk_group"}),
    frozenset({"output_router_logits", "router_aux_loss_coef", "aux_loss_alpha", "router_z_loss_coef"}),
    frozenset({"vocab_size", "bos_token_id", "eos_token_id", "pad_token_id", "image_token_id", "video_token_id",
               "image_token_index", "decoder_start_token_id"}),
    frozenset({"max_position_embeddings", "original_max_position_embeddings", "rope_parameters", "rope_scaling",
               "rope_theta", "sliding_window"}),
    frozenset({"dtype", "torch_dtype", "quantization_config"}),
)  # fmt: skip
"""A key is bound to the others of its groups: changing one without looking at them is how configs break."""


def related(analysis: Analysis, pointer: str) -> tuple[str, ...]:
    """Pointers of written keys bound to the key at ``pointer``, that key first. () for a place that is no key."""
    steps = split_pointer(pointer)
    if len(steps) == 2 and steps[0] == "weight_map":
        return _same_shard(analysis, pointer, steps[1])
    config = analysis.config
    owner = owner_of(config, pointer) if config is not None else None
    if owner is None:
        return ()
    name = owner.synonyms.get(split_pointer(pointer)[-1], split_pointer(pointer)[-1])
    names = {other for group in GROUPS if name in group for other in group} | {name}
    found = [pointer]
    for key in analysis.document.keys(owner.pointer):
        other = join_pointer(owner.pointer, key)
        if other != pointer and owner.synonyms.get(key, key) in names:
            found.append(other)
    return tuple(found)


def _same_shard(analysis: Analysis, pointer: str, tensor: str) -> tuple[str, ...]:
    """The tensors that a checkpoint's index puts into the same file."""
    data = analysis.document.data
    files = data.get("weight_map") if isinstance(data, dict) else None
    if not isinstance(files, dict) or not isinstance(files.get(tensor), str):
        return ()
    same = (join_pointer("/weight_map", name) for name, file in files.items() if file == files[tensor])
    return (pointer, *(other for other in same if other != pointer))


def same_setting(analysis: Analysis, pointer: str) -> tuple[str, ...]:
    """Where the value that counts is written, for a key that another spelling of it overrides."""
    config = analysis.config
    owner = owner_of(config, pointer) if config is not None else None
    if owner is None:
        return ()
    setting = owner.setting(split_pointer(pointer)[-1])
    if setting is None or setting.pointer is None or setting.pointer == pointer:
        return ()
    return (setting.pointer,)
