"""What kind of network a tree is, in the field's words; each is derived from the tree or the config."""

from __future__ import annotations

import json
import os
from collections.abc import Set as AbstractSet
from functools import cache
from typing import TYPE_CHECKING

from neurarch_lsp.render.model_numbers import attention_name
from neurarch_schemas.config.language_model import language_config
from neurarch_schemas.modules.tree import TOWERS, AttentionShape, Routing
from neurarch_schemas.record import Record

if TYPE_CHECKING:
    from neurarch_schemas.analysis import Analysis
    from neurarch_schemas.config.model_config import ModelConfig
    from neurarch_schemas.modules.tree import Visit

MTP_KEYS = (
    "num_nextn_predict_layers",
    "num_mtp_modules",
    "num_mtp_layers",
    "mtp_num_layers",
    "mtp_num_hidden_layers",
    "num_mtp_predict_layers",
)


class Concept(Record):
    name: str
    label: str
    sentence: str
    source: str


class Profile(Record):
    """``attentions`` are the kinds of attention outside the towers with the number of layers of each."""

    kind: str
    attentions: tuple[tuple[AttentionShape, int], ...]
    routing: Routing | None
    shared_experts: bool
    towers: tuple[str, ...]
    norm: str | None
    concepts: tuple[Concept, ...]
    mtp_modules: int
    qk_norm: str | None
    """ "per head", or "per layer" where one norm spans all heads; None without one."""
    has_vocabulary_head: bool
    windows: tuple[int, ...]
    """Tokens that sliding and chunked attention sees, each width once."""
    vocabulary: int | None
    """Rows of the input embedding outside of towers."""
    rotary_key: int
    """MLA: how much of the cached latent is the shared rotary key."""


def profile(analysis: Analysis) -> Profile | None:
    """None where the tree is not known."""
    tree, config = analysis.built.tree, analysis.config
    if tree is None or config is None:
        return None
    visits = analysis.visits
    attentions: dict[AttentionShape, int] = {}
    for visit in visits:
        if visit.module.attention is not None and visit.part not in TOWERS:
            attentions[visit.module.attention] = attentions.get(visit.module.attention, 0) + visit.times
    routing = next(
        (visit.module.routing for visit in visits if visit.module.routing and visit.part not in TOWERS), None
    )
    parts = {visit.part for visit in visits}
    text = language_config(config)
    mtp = next((value for key in MTP_KEYS if isinstance(value := text.get(key), int) and value > 0), 0)
    shared = "shared experts" in parts
    return Profile(
        kind=_kind(attentions, parts, routing, config),
        attentions=tuple(sorted(attentions.items(), key=lambda item: -item[1])),
        routing=routing,
        shared_experts=shared,
        towers=tuple(part for part in ("vision", "audio") if part in parts),
        norm=_norm(visits),
        concepts=tuple(known for name in _concepts(visits, attentions, routing, text, mtp) if (known := concept(name))),
        mtp_modules=mtp,
        qk_norm=_qk_norm(visits, attentions),
        has_vocabulary_head=any(
            visit.part == "head"
            and visit.module.width_out is not None
            and visit.module.width_out == text.get("vocab_size")
            for visit in visits
        ),
        windows=tuple(sorted({shape.window for shape in attentions if shape.window and shape.kind != "linear"})),
        vocabulary=next(
            (
                tensor.shape[0]
                for visit in visits
                if visit.module.lookup and visit.part not in TOWERS
                for tensor in visit.module.tensors
            ),
            None,
        ),
        rotary_key=width if isinstance(width := text.get("qk_rope_head_dim"), int) else 0,
    )


def _latent(width: int, rotary_key: int) -> str:
    return f"{width - rotary_key} + {rotary_key} rotary" if 0 < rotary_key < width else str(width)


def attention_label(found: Profile) -> str:
    """ "GQA 48:8 with QK-Norm and partial RoPE"; kinds of other heads are told apart, windows only named."""
    growing = [shape for shape, _ in found.attentions if shape.kind not in ("linear", "cross")]
    if not growing:
        return "linear attention" if found.attentions else "none"
    kinds: dict[str, dict[str, None]] = {}
    for shape in growing:
        name = attention_name(shape._replace(kind="full" if shape.kind != "latent" else "latent"), heads=True)
        if name == "MQA":
            name = f"MQA {shape.heads}:1"
        elif name == "MHA":
            name = f"MHA, {shape.heads} heads"
        if shape.latent_dim is not None:
            name = f"MLA, {shape.heads} heads over a latent of {_latent(shape.latent_dim, found.rotary_key)}"
        kinds.setdefault(name, {})["full" if shape.kind in ("latent", "encoder") else shape.kind] = None
    names = [
        name + (f" ({' and '.join(windows)})" if len(kinds) > 1 or list(windows) != ["full"] else "")
        for name, windows in kinds.items()
    ]
    present = [concept.name for concept in found.concepts]
    extras = [extra for extra in ("QK-Norm", "partial RoPE", "attention sinks") if extra in present]
    listed = " and ".join([", ".join(extras[:-1]), extras[-1]] if len(extras) > 2 else extras)
    return "; ".join(names) + (f" with {listed}" if extras else "")


@cache
def _known() -> dict[str, Concept]:
    with open(os.path.join(os.path.dirname(__file__), "concepts.json"), encoding="utf-8") as stream:
        return {entry["name"]: Concept(**entry) for entry in json.load(stream)}


def concept(name: str) -> Concept | None:
    return _known().get(name)


def _kind(
    attentions: dict[AttentionShape, int], parts: AbstractSet[str], routing: Routing | None, config: ModelConfig
) -> str:
    recurrent = bool(parts & {"state space", "linear attention"}) or any(shape.kind == "linear" for shape in attentions)
    attends = [shape for shape in attentions if shape.kind != "linear"]
    if any(shape.kind == "cross" for shape in attends):
        reads_pictures = "vision" in parts and config.get("is_encoder_decoder") is not True
        base = "cross-attending decoder" if reads_pictures else "encoder-decoder"
    elif attends and not any(shape.causal for shape in attends):
        base = "encoder"
    elif recurrent and attends:
        base = "hybrid decoder"
    elif recurrent:
        base = "state-space decoder" if "state space" in parts else "linear-attention decoder"
    elif attends:
        base = "decoder"
    else:
        base = "network without attention"
    return f"{'sparse MoE' if routing else 'dense'} {base}"


def _norm(visits: tuple[Visit, ...]) -> str | None:
    """The most frequent kind of norm outside the towers."""
    counts: dict[str, int] = {}
    for visit in visits:
        if visit.module.part == "norm" and visit.part not in TOWERS:
            counts[visit.module.type] = counts.get(visit.module.type, 0) + visit.times
    return max(counts, key=lambda name: counts[name]) if counts else None


def _qk_norm(visits: tuple[Visit, ...], attentions: dict[AttentionShape, int]) -> str | None:
    """By the width of the norm over queries: that of one head, or of all of them."""
    normed = [shape for shape in attentions if shape.qk_norm]
    if not normed:
        return None
    widths = {visit.module.width_in for visit in visits if visit.path.endswith(("q_norm", "q_layernorm"))}
    whole = any(shape.heads * shape.qk_dim in widths for shape in normed if shape.heads > 1)
    return "per layer" if whole else "per head"


def _concepts(
    visits: tuple[Visit, ...],
    attentions: dict[AttentionShape, int],
    routing: Routing | None,
    config: ModelConfig,
    mtp: int,
) -> list[str]:
    plain = [shape._replace(kind="full") for shape in attentions if shape.kind not in ("linear", "latent")]
    names = [attention_name(shape).split()[0] for shape in plain]
    names += ["MLA"] if any(shape.kind == "latent" for shape in attentions) else []
    names += ["QK-Norm"] if any(shape.qk_norm for shape in attentions) else []
    names += ["sliding window"] if any(shape.window and shape.kind != "chunked" for shape in attentions) else []
    names += ["chunked attention"] if any(shape.kind == "chunked" for shape in attentions) else []
    caches = {cache.kind for visit in visits for cache in visit.module.caches}
    names += ["sparse attention"] if "index" in caches or any(shape.kind == "sparse" for shape in attentions) else []
    parts = {visit.part for visit in visits}
    names += ["linear attention"] if "linear attention" in parts else []
    names += ["state space"] if "state space" in parts else []
    names += ["MoE"] if routing else []
    names += ["shared experts"] if "shared experts" in parts else []
    tensors = {tensor.name for visit in visits for tensor in visit.module.tensors}
    names += ["routing bias"] if any("correction" in name or name == "expert_bias" for name in tensors) else []
    names += ["attention sinks"] if "sinks" in tensors else []
    names += _positions(attentions, config)
    names += ["MTP"] if mtp else []
    soft_caps = ("final_logit_softcapping", "attn_logit_softcapping", "logits_soft_cap")
    names += ["logit soft-cap"] if any(config.is_set(key) for key in soft_caps) else []
    names += ["per-layer embeddings"] if config.get("hidden_size_per_layer_input") else []
    names += ["shared KV"] if config.get("num_kv_shared_layers") else []
    tied = any(tensor.tied_to for visit in visits if visit.part == "head" for tensor in visit.module.tensors)
    names += ["tied embeddings"] if tied else []
    return list(dict.fromkeys(names))


def _positions(attentions: dict[AttentionShape, int], config: ModelConfig) -> list[str]:
    ways = {shape.position for shape in attentions if shape.kind not in ("linear", "cross")}
    names: list[str] = []
    rotary = [entry for entry in rope_entries(config).values() if entry]
    shares = [share for entry in rotary if isinstance(share := entry.get("partial_rotary_factor"), int | float)]
    partial = any(share < 1 for share in shares) if shares else "partial rope" in ways
    if ways & {"rope", "partial rope"}:
        names.append("partial RoPE" if partial else "RoPE")
    if any(entry.get("rope_type") == "yarn" for entry in rotary):
        names.append("YaRN")
    names += ["NoPE"] if "none" in ways else []
    names += ["ALiBi"] if "alibi" in ways else []
    return names


def rope_entries(config: ModelConfig) -> dict[str, dict[str, object]]:
    """The rope parameters by kind of layer ("full", "sliding"), under "" where the config does not tell them apart."""
    found = config.get("rope_parameters")
    if not isinstance(found, dict):
        return _older_rope(config)
    if any(isinstance(value, dict) for value in found.values()):
        return {key.removesuffix("_attention"): dict(each) for key, each in found.items() if isinstance(each, dict)}
    return {"": dict(found)}


def _older_rope(config: ModelConfig) -> dict[str, dict[str, object]]:
    """Of types that transformers does not know: the keys that were common before ``rope_parameters``."""
    theta = next((value for key in ("rope_theta", "rotary_emb_base") if (value := config.get(key)) is not None), None)
    rotary, width = config.get("rotary_dim"), config.get("head_dim")
    if not isinstance(theta, int | float):
        return {}
    entry: dict[str, object] = {"rope_theta": theta}
    if isinstance(rotary, int) and isinstance(width, int) and 0 < rotary < width:
        entry["partial_rotary_factor"] = rotary / width
    return {"": entry}
