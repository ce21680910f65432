"""The blocks of one layer in the order of the residual stream: norms, mixers, feed-forward networks, additions.

Trees list children as the class registers them, which is not the order a token passes them. Norms are assigned to
blocks by their number and names; what fits no known order stays as it is registered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from neurarch_lsp.render.model_numbers import attention_name
from neurarch_schemas.accounting.parameters import count_parameters
from neurarch_schemas.modules.tree import Module, Stack, Visit, walk
from neurarch_schemas.record import Record, replace

if TYPE_CHECKING:
    from neurarch_schemas.config.model_config import ModelConfig

Place = Literal["pre-norm", "post-norm", "norms before and after", "parallel blocks"]

POST_NORM_TYPES = frozenset(
    {
        "albert", "bart", "bert", "bert-generation", "big_bird", "camembert", "convbert", "data2vec-text", "deberta",
        "deberta-v2", "distilbert", "electra", "ernie", "esm", "flaubert", "layoutlm", "longformer", "marian",
        "mobilebert", "mpnet", "nezha", "openai-gpt", "rembert", "roberta", "roformer", "squeezebert", "xlm",
        "xlm-roberta", "xlnet", "yoso",
    }
)  # fmt: skip
"""Types that normalise after the addition, as the first Transformer did; neither tree nor config says so."""

OWN_NORMS = ("output.LayerNorm", "LayerNorm")
CONFORMER = {
    name: place
    for place, name in enumerate(
        ("feed_forward1", "norm_pre_attn", "self_attn", "norm_post_attn", "lconv1d", "feed_forward2", "norm_out")
    )
}
"""The order of Gemma 4's audio layers, which register their feed-forward networks first."""


class StructureRow(Record):
    """``width`` is the size of the last dimension that goes out (None: as before); ``times`` how many stand here.

    ``group`` numbers the run of layers the row is in, None outside of one; ``index`` is the layer's number or range.
    """

    name: str
    type: str
    width: int | None
    parameters: int
    cache_per_token: int
    times: int = 1
    group: int | None = None
    index: str = ""
    kind: str = "block"
    """What the row is drawn as: "input", "embedding", "norm", "attention", "mixer", "experts", "add", "head" ..."""
    tower: str | None = None
    """The vision or audio tower, or the projector, that the row belongs to."""
    repeat: int = 1
    """So many equal layers stand in a row within each of ``cycles`` cycles."""
    cycles: int = 1


ADD = StructureRow("residual", "add", None, 0, 0, kind="add")


class Order(Record):
    """How the layers of a config's model arrange norms and blocks, as far as the tree does not tell."""

    post: bool = False
    parallel: bool = False

    @staticmethod
    def of(config: ModelConfig) -> Order:
        """``do_layer_norm_before`` is OPT's key, ``use_parallel_residual`` GPT-NeoX's, the others Falcon's."""
        post = config.model_type in POST_NORM_TYPES or config.get("do_layer_norm_before") is False
        keys = ("use_parallel_residual", "new_decoder_architecture", "parallel_attn")
        return Order(post, any(config.get(key) is True for key in keys))


def layer_rows(layer: Module, order: Order) -> list[StructureRow]:
    """Rows of one layer, names relative to it; a layer that holds a list of layers itself is one row."""
    return _arranged(layer, order)[0]


def norm_place(layer: Module, order: Order) -> Place | None:
    """Where the norms of a layer stand; None where no known order fits."""
    return _arranged(layer, order)[1]


def _arranged(layer: Module, order: Order) -> tuple[list[StructureRow], Place | None]:
    inner = _only_layer(layer)
    if inner is not None:
        name, only = inner
        rows, place = _arranged(only, order)
        return [replace(row, name=_under(name, row.name)) for row in rows], place
    plain = [(name, child) for name, child in layer.children if isinstance(child, Module)]
    if layer.attention is not None or not plain or len(plain) != len(layer.children):
        return [row_of(layer, "")], None
    if CONFORMER.keys() >= {name for name, _ in plain}:
        ordered = sorted(plain, key=lambda item: CONFORMER[item[0]])
        return [row_of(child, name) for name, child in ordered], None
    registered = [row for name, child in plain if child.tensors or child.children for row in _opened(name, child)]
    own = own_tensors(layer, "")
    if own is not None:
        arranged, place = _in_order(registered, order)
        return [own, *arranged], place
    own_input = [row for row in registered if "per_layer" in row.name]
    if own_input:
        rest, place = _in_order([row for row in registered if row not in own_input], order)
        return [*rest, *own_input, ADD], place
    return _in_order(registered, order)


def _only_layer(layer: Module) -> tuple[str, Module] | None:
    """Of a group that holds a list with one layer in it (ALBERT)."""
    if len(layer.children) != 1 or layer.tensors or layer.attention is not None:
        return None
    name, child = layer.children[0]
    if not isinstance(child, Stack) or child.length != 1:
        return None
    return f"{name}.{child.first_index}", child.runs[0].modules[0]


def _under(path: str, names: str) -> str:
    """ "layer.0" and "fc1, fc2" as "layer.0.fc1, layer.0.fc2"."""
    return ", ".join(f"{path}.{name}" for name in names.split(", ")) if names else path


def _in_order(registered: list[StructureRow], order: Order) -> tuple[list[StructureRow], Place | None]:
    norms = {row.name: row for row in registered if row.kind == "norm"}
    groups = _groups([row for row in registered if row.kind not in ("norm", "add")])
    adds = [row for row in registered if row.kind == "add"]
    sums = adds if len(adds) == len(groups) else [ADD] * len(groups)
    names = _norm_order(list(norms))
    if not groups:
        return list(norms.values()), None
    if len(names) == 2 * len(groups):
        pairs = zip(names[::2], groups, names[1::2], sums, strict=True)
        return [row for a, group, b, total in pairs for row in (norms[a], *group, norms[b], total)], (
            "norms before and after"
        )
    if len(names) == len(groups):
        if order.parallel and len(groups) > 1:
            return [row for a, group in zip(names, groups, strict=True) for row in (norms[a], *group)] + [ADD], (
                "parallel blocks"
            )
        after = order.post or (len(names) > 1 and all(name.startswith("post") for name in names))
        triples = zip(names, groups, sums, strict=True)
        if after:
            return [row for a, group, total in triples for row in (*group, total, norms[a])], "post-norm"
        return [row for a, group, total in triples for row in (norms[a], *group, total)], "pre-norm"
    if len(names) == 1 and len(groups) > 1:
        return [norms[names[0]], *(row for group in groups for row in group), ADD], "parallel blocks"
    return registered, None


def _opened(name: str, child: Module) -> list[StructureRow]:
    """A block with its norm as both: one that holds nothing else besides (T5), or the norm behind its own addition
    ("attention.output.LayerNorm" of BERT, "attention.LayerNorm" of ALBERT)."""
    row = row_of(child, name)
    last_name, last = child.children[-1] if child.children else ("", None)
    first_name, first = child.children[0] if len(child.children) == 2 else ("", None)
    if last_name == "layer_norm" and isinstance(last, Module) and isinstance(first, Module) and not child.tensors:
        return [row_of(first, f"{name}.{first_name}"), row_of(last, f"{name}.{last_name}")]
    if row.kind != "attention" or not isinstance(last, Module) or last_name not in OWN_NORMS:
        return [row]
    norm = row_of(last, f"{name}.{last_name}")
    return [replace(row, parameters=row.parameters - norm.parameters), norm]


def _groups(blocks: list[StructureRow]) -> list[list[StructureRow]]:
    """Blocks that share an addition: each mixer by itself, all that follows them together; two matrices are one."""
    mixers = [[row] for row in blocks if row.kind in ("attention", "mixer")]
    others = [row for row in blocks if row.kind not in ("attention", "mixer")]
    if len(others) > 1 and all(row.type == "Linear" for row in others):
        names = ", ".join(row.name for row in others)
        parameters = sum(row.parameters for row in others)
        others = [StructureRow(names, "feed-forward", others[-1].width, parameters, 0, kind="feed-forward")]
    return mixers + ([others] if others else [])


def _norm_order(names: list[str]) -> list[str]:
    """As registered, but for GLM-4, which names what it applies between attention and its addition last, and ALBERT,
    which registers the norm behind its feed-forward network first."""
    glm = ["input_layernorm", "post_self_attn_layernorm", "post_attention_layernorm", "post_mlp_layernorm"]
    return glm if sorted(names) == sorted(glm) else sorted(names, key="full_layer_layer_norm".__eq__)


def own_tensors(module: Module, path: str) -> StructureRow | None:
    """A row for the tensors that a module which is opened holds itself (class tokens, position tables, scales)."""
    held = [tensor for tensor in module.tensors if tensor.kind == "parameter" and tensor.tied_to is None]
    if not held:
        return None
    names = ", ".join(f"{path}.{tensor.name}" if path else tensor.name for tensor in held)
    return StructureRow(names, "parameters", None, sum(tensor.scalars for tensor in held), 0)


def row_of(module: Module, path: str) -> StructureRow:
    """A module with all below it as one row; its cache in scalars per token, windows while they are not full."""
    visits = tuple(walk(module))
    caches = sum(
        -(-cache.per_token // cache.tokens_per_entry)
        for visit in visits
        for cache in visit.module.caches
        if cache.kind != "cross" and cache.remainder_of is None
    )
    kind, name = _kind(module, visits)
    return StructureRow(path, name, module.width_out, count_parameters(module).total, caches, kind=kind)


def _kind(module: Module, visits: tuple[Visit, ...]) -> tuple[str, str]:
    parts = {visit.part for visit in visits}
    shape = next((visit.module.attention for visit in visits if visit.module.attention is not None), None)
    if module.part == "embedding" and not module.lookup and module.type == "Linear":
        return "block", "projection"
    if module.lookup or module.part == "embedding":
        return "embedding", "Embedding"
    if module.part == "position":
        return "position", "position embedding"
    if module.part == "norm" or module.type.endswith("Norm"):
        return "norm", module.type
    if module.type == "HyperConnection":
        return "add", "hyper-connection"
    if module.part == "head":
        return "head", "LM head" if not module.children else module.type
    if shape is not None and shape.kind != "linear":
        return "attention", attention_name(shape, heads=True)
    if shape is not None or parts & {"state space", "linear attention"}:
        return "mixer", "state space" if "state space" in parts else "linear attention"
    if module.type == "ShortConvolution":
        return "mixer", "convolution"
    if "experts" in parts:
        routing = next((visit.module.routing for visit in visits if visit.module.routing), None)
        size = f" {routing.total}, top {routing.active}" if routing else ""
        return "experts", f"MoE{size}" + (" + shared" if "shared experts" in parts else "")
    if module.type == "Linear":
        return "feed-forward", "Linear"
    if "feed-forward" in parts or module.type.endswith("MLP"):
        return "feed-forward", "feed-forward"
    return "block", module.type
