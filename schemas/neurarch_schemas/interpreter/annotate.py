"""What a module is for, where its structure shows it for certain: attention with its cache, embedding, head.

A cache is stated only where every attention layer of the tree is understood: its projections and head counts agree,
it decodes (a causal mask or a cache in its forward), and nothing in its class hints at a cache of another form
(chunks, sharing between layers, windows and latents whose sizes do not show). Otherwise nothing is said.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

from neurarch_schemas.interpreter.values import Class, Function, Instance
from neurarch_schemas.modules.tree import AttentionShape, Cache, Module, Part, Run, Stack

_SEPARATE = (
    ("q_proj", "k_proj", "v_proj"),
    ("wq", "wk", "wv"),
    ("query", "key", "value"),
    ("q_lin", "k_lin", "v_lin"),
    ("to_q", "to_k", "to_v"),
    ("query_proj", "key_proj", "value_proj"),
    ("q", "k", "v"),
)
_FUSED = ("qkv_proj", "c_attn", "query_key_value", "Wqkv", "wqkv", "qkv", "to_qkv", "in_proj", "W_pack", "att_proj")
_HEADS = ("num_heads", "num_attention_heads", "n_heads", "n_head", "nhead", "heads")
_KV_HEADS = ("num_key_value_heads", "num_kv_heads", "n_kv_heads", "n_kv_head", "kv_heads")
_GROUPS = ("num_key_value_groups", "n_rep", "num_queries_per_kv")
_SIZES = ("head_dim", "head_size", "attention_head_size", "d_head", "dim_head")
_WINDOWS = ("sliding_window", "window_size", "attention_chunk_size", "chunk_size", "attn_window")
_OTHER_WINDOWS = tuple(key for key in _WINDOWS if key not in ("sliding_window", "attention_chunk_size"))
_OTHER_CACHE = re.compile(
    r"(?P<window>window|chunk)|(?P<cross>cross|encoder)|(?P<latent>latent|kv_lora|kv_a_proj|compressed_kv)|"
    r"(?P<other>compress|indexer|kv_shared|share_kv|local_attention|streaming)"
)
_LATENT = (("kv_a_proj_with_mqa", "kv_b_proj"), ("wkv_a", "wkv_b"))
"""Multi-head latent attention: the projection to the latent and one rotary key, and that from the latent to heads."""
_CACHE_ARGUMENT = re.compile(
    r"past_key_values?|layer_past|past_kv|(kv_|layer_)?cache|cache_params|use_cache|start_pos|past"
)
_STATE = frozenset(("A_log", "dt_bias", "time_decay", "log_A", "ssm_D"))
"""Parameters of recurrent layers, whose state is a cache that projections do not show."""
_EMBEDDINGS = ("embed_tokens", "wte", "word_embeddings", "tok_embeddings", "token_embedding", "embed_in", "tok_emb")
_POSITIONS = ("wpe", "position_embeddings", "embed_positions", "pos_emb", "position_embedding", "pos_embedding")
_HEAD_NAMES = ("lm_head", "embed_out", "output_projection")
_LEAVES = frozenset((*_EMBEDDINGS, *_POSITIONS, *_HEAD_NAMES))


class Note(NamedTuple):
    """The fields of a ``Module`` that the tensors do not give; ``unsure`` keeps the whole tree from stating a cache."""

    part: Part | None = None
    attention: AttentionShape | None = None
    caches: tuple[Cache, ...] = ()
    lookup: bool = False
    unsure: bool = False


@dataclass(frozen=True)
class _ClassHints:
    masks: bool
    """Later positions are masked."""
    caches: bool
    """The forward takes a cache."""
    other_caches: frozenset[str]
    """"window", "cross", "latent", "other": caches of another form that the class speaks of."""


def note(instance: Instance, children: dict[str, Module | Stack], name: str) -> Note:
    """``children`` are those of the module, ``name`` is its own in its parent."""
    attrs = instance.attrs
    if not _STATE.isdisjoint(attrs.get("_parameters", ())):
        return Note(unsure=True)
    if not children:
        return _leaf(instance, name)
    rows = {key: size for key, child in children.items() if (size := _rows(child)) is not None}
    found = _projections(rows) if rows else None
    has_latent = any(down in rows and up in rows for down, up in _LATENT)
    sizes = _sizes(instance) if has_latent or found is not None else {}
    latent = _latent(sizes, children, rows) if has_latent else None
    if latent is None and any(key.startswith("kv_a_proj") for key in rows):
        return Note(part="attention", unsure=True)
    if latent is None and found is None:
        return Note(unsure=any(_repeats(each.node) for each in instance.cls.mro if each.node is not None))
    shape = latent or (found and (_shape(attrs, rows, found) or _shape(sizes, rows, found))) or None
    hints = _hints(instance.cls)
    if shape is None:
        return Note(part="attention", unsure=True)
    flags = [attrs.get(key) for key in ("is_causal", "is_decoder", "causal")]
    encodes = any(flag is False for flag in flags)
    decodes = hints.caches or True in flags or (hints.masks and not _is_library(instance.cls))
    if encodes or not decodes:
        # no cache, if it is not the other half of a decoder
        return Note("attention", shape._replace(kind="encoder", causal=False) if encodes else None, unsure=not encodes)
    unusual = set(hints.other_caches)
    try:
        kind, window = _reach(instance, "window" in unusual)
    except _Open:
        return Note(part="attention", unsure=True)
    unusual.discard("window")
    if latent is not None:
        unusual.discard("latent")
    if attrs.get("is_cross_attention") is False:
        unusual.discard("cross")
    if unusual or re.search("cross|enc", name, re.IGNORECASE) or attrs.get("is_cross_attention") is True:
        return Note(part="attention", unsure=True)
    if latent is not None:
        assert shape.latent_dim is not None
        expanded = shape.heads * (shape.qk_dim + shape.v_dim)
        cache = Cache("latent", per_token=shape.latent_dim, expanded_per_token=expanded, window=window)
        return Note("attention", shape, (cache,))
    cache = Cache(kind, per_token=shape.kv_heads * (shape.qk_dim + shape.v_dim), window=window)
    return Note("attention", shape._replace(kind=kind, window=window), (cache,))


def _sizes(instance: Instance) -> dict[str, object]:
    """The layer's attributes, and of its configuration's those that its class reads (``self.config.n_head``)."""
    config = instance.attrs.get("config")
    if not isinstance(config, Instance):
        return instance.attrs
    read = {name for each in instance.cls.mro if each.node is not None for name in _attributes(each.node)}
    known = {name: config.attrs[name] for name in (*_HEADS, *_KV_HEADS, *_SIZES) if name in read & config.attrs.keys()}
    own = {kind for kind in (_HEADS, _KV_HEADS, _SIZES) if any(name in instance.attrs for name in kind)}
    return {**{name: value for name, value in known.items() if not any(name in kind for kind in own)}, **instance.attrs}


@lru_cache(maxsize=256)
def _attributes(node: ast.ClassDef) -> frozenset[str]:
    return frozenset(each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute))


class _Open(Exception):
    """The structure does not show how far back a layer looks."""


def _reach(instance: Instance, is_mentioned: bool) -> tuple[Literal["full", "sliding", "chunked"], int | None]:
    """Which positions a layer keeps, and how many. Raises _Open.

    The ``layer_types`` of its configuration decide where there are some, as transformers 5.24 makes its cache
    (``cache_utils.get_layer_types_and_kwargs``), then the layer's own ``sliding_window``, then its configuration's.
    """
    attrs = instance.attrs
    holder = attrs.get("config")
    config = holder.attrs if isinstance(holder, Instance) else {}
    is_told = any(key in config for key in _WINDOWS) or (bool(config) and _is_library(instance.cls))
    types, layer = config.get("layer_types"), attrs.get("layer_idx")
    if config.get("kv_sharing_modes") is not None or any(attrs.get(key) is not None for key in _OTHER_WINDOWS):
        raise _Open
    if isinstance(types, list | tuple) and (is_mentioned or _is_library(instance.cls)):
        kind = types[layer] if type(layer) is int and 0 <= layer < len(types) else None
        if kind == "full_attention":
            return "full", None
        if kind == "sliding_attention":
            return "sliding", _written(config.get("sliding_window"))
        if kind == "chunked_attention":
            return "chunked", _written(config.get("attention_chunk_size"))
        raise _Open
    if "sliding_window" in attrs:
        window = _positions(attrs["sliding_window"])
    elif not is_mentioned and not _is_library(instance.cls):
        return "full", None
    elif config.get("attention_chunk_size") is not None or (is_mentioned and not is_told):
        raise _Open
    else:
        window = _positions(config.get("sliding_window"))
    return ("full", None) if window is None else ("sliding", window)


def _written(value: object) -> int:
    found = _positions(value)
    if found is None:
        raise _Open
    return found


def _positions(value: object) -> int | None:
    if value is None or (type(value) is int and value > 0):
        return value
    raise _Open


def _latent(
    attrs: dict[str, object], children: dict[str, Module | Stack], rows: dict[str, int]
) -> AttentionShape | None:
    """Multi-head latent attention whose ranks and head sizes are attributes that agree with its matrices."""
    for down, up in _LATENT:
        if down not in rows or up not in rows:
            continue
        rank, rope = _one(attrs, ("kv_lora_rank",)), _one(attrs, ("qk_rope_head_dim",))
        nope, value, heads = _one(attrs, ("qk_nope_head_dim",)), _one(attrs, ("v_head_dim",)), _one(attrs, _HEADS)
        if rank is None or rope is None or nope is None or value is None or heads is None:
            return None
        if rows[down] != rank + rope or _columns(children[up]) != rank or rows[up] != heads * (nope + value):
            return None
        return AttentionShape(heads, heads, nope + rope, value, "latent", latent_dim=rank + rope)
    return None


def _columns(child: Module | Stack) -> int | None:
    """Inputs of a linear layer."""
    shapes = [each.shape for each in child.tensors if each.name == "weight"] if isinstance(child, Module) else []
    return shapes[0][1] if shapes and len(shapes[0]) == 2 else None


_NOTHING = Note()


def _leaf(instance: Instance, name: str) -> Note:
    if name not in _LEAVES:
        return _NOTHING
    names = {cls.name for cls in instance.cls.mro}
    if "Embedding" in names and name in _EMBEDDINGS:
        return Note(part="embedding", lookup=True)
    if "Embedding" in names and name in _POSITIONS:
        return Note(part="position", lookup=True)
    if "Linear" in names and name in _HEAD_NAMES:
        return Note(part="head")
    return _NOTHING


def _rows(child: Module | Stack) -> int | None:
    """Outputs of a linear layer; None for anything else."""
    if not isinstance(child, Module) or child.children or child.type not in ("Linear", "Conv1D"):
        return None
    for each in child.tensors:
        if each.name == "weight":
            shape = each.shape
            return None if len(shape) != 2 else shape[1] if child.type == "Conv1D" else shape[0]
    return None


def _projections(rows: dict[str, int]) -> tuple[str, ...] | None:
    held = rows.keys()
    for names in _SEPARATE:
        if names[0] in held and held >= set(names):
            return names
    fused = [name for name in _FUSED if name in held]
    return (fused[0],) if len(fused) == 1 else None


def _shape(attrs: dict[str, object], rows: dict[str, int], names: tuple[str, ...]) -> AttentionShape | None:
    """Head counts that are attributes of the module and agree with its matrices."""
    heads, kv_heads, size = _one(attrs, _HEADS), _one(attrs, _KV_HEADS), _one(attrs, _SIZES)
    groups = _one(attrs, _GROUPS)
    if len(names) == 1:
        total = rows[names[0]]
        if heads is None or (kv_heads is None and groups is None and total % (3 * heads)):
            return None
        if kv_heads is None:
            kv_heads = heads if groups is None else heads // groups
        parts = heads + 2 * kv_heads
        if total % parts or (size is not None and size * parts != total):
            return None
        return AttentionShape(heads, kv_heads, total // parts, total // parts)
    query, key, value = (rows[name] for name in names)
    if size is None:
        if heads is None or query % heads:
            return None
        size = query // heads
    if not size or query % size or key % size:
        return None
    found_heads, found_kv = query // size, key // size
    if value % found_kv or found_heads % found_kv:
        return None
    agree = (
        (heads is None or heads == found_heads)
        and (kv_heads is None or kv_heads == found_kv)
        and (groups is None or groups == found_heads // found_kv)
    )
    return AttentionShape(found_heads, found_kv, size, value // found_kv) if agree else None


def _one(attrs: dict[str, object], names: tuple[str, ...]) -> int | None:
    """The integer these attributes give, where they agree."""
    found = {value for name in names if type(value := attrs.get(name)) is int and value > 0}
    return found.pop() if len(found) == 1 else None


def _is_library(cls: Class) -> bool:
    """transformers' own classes take a cache where they keep one; a mask alone says nothing there."""
    return any(each.module.startswith("transformers.models.") for each in cls.mro)


def _hints(cls: Class) -> _ClassHints:
    """What the bodies of the class and its bases speak of."""
    masks = "Causal" in cls.name
    caches = False
    other: set[str] = set()
    for each in cls.mro:
        if each.node is None:
            continue
        found = _read(each.node)
        forward = each.namespace.get("forward")
        arguments = forward.node.args if isinstance(forward, Function) else None
        names = [] if arguments is None else [item.arg for item in (*arguments.args, *arguments.kwonlyargs)]
        masks = masks or found.masks
        caches = caches or any(_CACHE_ARGUMENT.fullmatch(name) for name in names)
        other |= found.other_caches
    return _ClassHints(masks, caches, frozenset(other))


@lru_cache(maxsize=256)
def _read(node: ast.ClassDef) -> _ClassHints:
    masks = False
    other: set[str] = set()
    for each in ast.walk(node):
        if isinstance(each, ast.keyword):
            text = each.arg or ""
            if text == "is_causal" and isinstance(each.value, ast.Constant):
                masks = masks or each.value.value is True
        elif isinstance(each, ast.Attribute):
            text = each.attr
        elif isinstance(each, ast.Name):
            text = each.id
        elif isinstance(each, ast.arg):
            text = each.arg
        else:
            continue
        masks = masks or text in ("tril", "triu")
        other |= {match.lastgroup for match in _OTHER_CACHE.finditer(text) if match.lastgroup}
    return _ClassHints(masks, False, frozenset(other))


@lru_cache(maxsize=256)
def _repeats(node: ast.ClassDef) -> bool:
    """A forward that may run one layer several times, each with a cache of its own, or over other units than tokens."""
    for function in node.body:
        if isinstance(function, ast.FunctionDef) and function.name == "forward":
            for each in ast.walk(function):
                if isinstance(each, ast.For) and isinstance(each.iter, ast.Call):
                    counted = isinstance(each.iter.func, ast.Name) and each.iter.func.id == "range"
                    if counted and any(_calls_part(inside) for inside in ast.walk(each)):
                        return True
                elif isinstance(each, ast.Name | ast.arg):
                    name = each.id if isinstance(each, ast.Name) else each.arg
                    if "patch" in name:
                        return True
    return False


def _calls_part(node: ast.AST) -> bool:
    """``self.layer(...)``"""
    function = node.func if isinstance(node, ast.Call) else None
    return isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id == "self"


def without_caches(tree: Module) -> Module:
    """The tree where no cache is stated, equal parts shared as before."""
    known: dict[int, Module] = {}

    def plain(module: Module) -> Module:
        made = known.get(id(module))
        if made is None:
            children = tuple((name, part(child)) for name, child in module.children)
            made = known[id(module)] = module._replace(children=children, caches=())
        return made

    def part(child: Module | Stack) -> Module | Stack:
        if isinstance(child, Module):
            return plain(child)
        runs = tuple(Run(tuple(plain(each) for each in run.modules), run.times) for run in child.runs)
        return Stack(runs, child.first_index)

    return plain(tree)
