"""What the model is, in one table: scale, kind, attention, layers, experts, positions, norms, sizes, concepts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from neurarch_lsp.card.layer_order import Order, norm_place
from neurarch_lsp.card.mix import layer_mix, text_stacks, tower_layers, tower_networks
from neurarch_lsp.card.profile import Profile, attention_label, rope_entries
from neurarch_lsp.render.card_blocks import Facts, Labels, Note, Section
from neurarch_schemas.accounting.checkpoint import quantization_fields
from neurarch_schemas.accounting.context import declared_context
from neurarch_schemas.accounting.parameters import count_parameters
from neurarch_schemas.accounting.quantities import count
from neurarch_schemas.config.language_model import language_config

if TYPE_CHECKING:
    from neurarch_schemas.accounting.parameters import ParameterCount
    from neurarch_schemas.analysis import Analysis
    from neurarch_schemas.config.model_config import ModelConfig


ACTIVATIONS = (
    "hidden_act", "hidden_activation", "activation_function", "mlp_hidden_act", "dense_act_fn", "feed_forward_proj",
    "activation",
)  # fmt: skip
_SPAN = {"per head": "each head", "per layer": "all heads of a layer"}


def section(analysis: Analysis, found: Profile) -> Section | None:
    config, counted = analysis.config, analysis.parameters
    if config is None or counted is None:
        return None
    text = language_config(config)
    context = declared_context(config)
    mtp = _mtp_estimate(analysis, text, found.mtp_modules)
    tied = any(concept.name == "tied embeddings" for concept in found.concepts)
    towers = _towers(analysis, counted)
    networks = tower_networks(analysis.built.tree) if analysis.built.tree is not None else Counter[str]()
    plural = "s" if len(found.towers) > 1 else ""
    data = {
        "kind": found.kind,
        "scale": scale(counted),
        "attention": attention_label(found),
        "layers": layer_mix(analysis),
        "towers": towers,
        "qk_norm": found.qk_norm,
        "experts": experts(found),
        "positions": positions(text, found),
        "norm": norm(text, found, text_norm_place(analysis, text)),
        "activation": _text(text, *ACTIVATIONS),
        "context": context,
        "vocabulary": _integer(text, "vocab_size") or found.vocabulary,
        "windows": list(found.windows),
        "tied_embeddings": tied if tied or found.has_vocabulary_head else None,
        "dtype": analysis.weights.dtype if analysis.weights else None,
        "quantization": quantization(config),
        "mtp_modules": found.mtp_modules,
        "mtp_parameters_estimate": mtp,
        "concepts": [concept.name for concept in found.concepts],
    }
    rows = [
        ("Scale", scale(counted)),
        ("Active", _active(counted)),
        ("Lookups", _looked_up(found, counted)),
        ("Kind", found.kind + (f" with {' and '.join(found.towers)} tower{plural}" if found.towers else "")),
        ("Attention", data["attention"]),
        ("Layers", data["layers"]),
        *(
            (
                f"{tower['tower'].capitalize()} tower",
                (f"{networks[tower['tower']]} networks, " if networks[tower["tower"]] > 1 else "")
                + (f"{tower['layers']:,} layer{'s' if tower['layers'] > 1 else ''}, " if tower["layers"] else "")
                + f"{count(tower['parameters'])} parameters",
            )
            for tower in towers
        ),
        ("Window", windows(found.windows, context)),
        ("Selection", selection(found)),
        ("QK-Norm", found.qk_norm and f"{found.qk_norm}: one norm over {_SPAN[found.qk_norm]}"),
        ("Experts", data["experts"]),
        ("Positions", data["positions"]),
        ("Norm", data["norm"]),
        ("Activation", data["activation"]),
        ("Context", f"{context:,} tokens" if context else "not declared" if data["vocabulary"] else None),
        ("Vocabulary", f"{data['vocabulary']:,}" if data["vocabulary"] else None),
        ("Embeddings", "tied" if tied else "untied" if found.has_vocabulary_head else None),
        ("Dtype", _dtype(analysis)),
        ("Quantization", data["quantization"]),
    ]
    blocks: list[Facts | Note | Labels] = [Facts(tuple((label, str(value)) for label, value in rows if value))]
    if analysis.doubt is not None:
        blocks.insert(0, Note(f"Not exact: {analysis.doubt}.", "bad"))
    if found.mtp_modules:
        modules = f"{found.mtp_modules} extra MTP module{'s' if found.mtp_modules > 1 else ''} declared"
        text_of_mtp = f"{modules}; the model class does not build them, so they are not in the count."
        if mtp is not None:
            text_of_mtp += f" As DeepSeek-V3 builds them, a layer and a projection each, they hold about {count(mtp)}."
        blocks.append(Note(text_of_mtp, "notice"))
    if found.concepts:
        blocks.append(Labels(tuple((item.label, item.sentence, item.source) for item in found.concepts)))
    return Section("head", "Model", tuple(blocks), data)


def _towers(analysis: Analysis, counted: ParameterCount) -> list[dict[str, Any]]:
    """Their projectors are counted apart."""
    parts = [(part, size) for part, size in counted.by_part if part in ("vision", "audio")]
    layers = tower_layers(analysis.built.tree) if parts and analysis.built.tree is not None else {}
    return [{"tower": part, "layers": layers.get(part, 0), "parameters": size} for part, size in parts]


def _mtp_estimate(analysis: Analysis, config: ModelConfig, modules: int) -> int | None:
    """Parameters of so many modules: the last layer again and a matrix from two hidden states to one.

    Source: DeepSeek-AI 2024 (arXiv:2412.19437, section 2.2), whose embedding and head are those of the main model.
    """
    tree, hidden = analysis.built.tree, _integer(config, "hidden_size")
    stacks = [] if tree is None else [stack for stack in text_stacks(tree) if stack.runs]
    if not modules or not stacks or hidden is None:
        return None
    last = max(stacks, key=lambda stack: stack.length).runs[-1].modules[-1]
    return modules * (count_parameters(last).total + 2 * hidden * hidden)


def scale(counted: ParameterCount) -> str:
    """ "229B total, 10.4B active (4.6 %)" """
    total = f"{count(counted.total)} parameters"
    if counted.active_with_embeddings == counted.total:
        return total
    share = 100 * counted.active / counted.total
    return f"{count(counted.total)} total, {count(counted.active)} active ({share:.1f} %)"


def _active(counted: ParameterCount) -> str | None:
    """Both readings of "active": published numbers follow now one, now the other."""
    if counted.active_with_embeddings == counted.total:
        return None
    return f"{counted.active:,} a token; {count(counted.active_with_embeddings)} with the input embedding"


def _looked_up(found: Profile, counted: ParameterCount) -> str | None:
    """Gemma 3n and 4 name their models after what is left ("E2B")."""
    if not any(concept.name == "per-layer embeddings" for concept in found.concepts):
        return None
    looked_up = count(counted.total - counted.active)
    return f"{looked_up} of per-layer embeddings, read by index; {count(counted.active)} work on a token"


def windows(sizes: tuple[int, ...], context: int | None = None) -> str | None:
    """How far sliding and chunked attention sees."""
    if not sizes:
        return None
    longer = " (no shorter than the context)" if context and min(sizes) >= context else ""
    return f"{' and '.join(f'{window:,}' for window in sizes)} tokens{longer}"


def selection(found: Profile) -> str | None:
    """What the queries of sparse attention attend to."""
    told: dict[str, None] = {}
    for chosen in dict.fromkeys(shape.selection for shape, _ in found.attentions if shape.selection is not None):
        size = chosen.tokens_per_key
        keys = "keys" if size == 1 else f"entries of {size:,} tokens each"
        local = f", and the last {chosen.local:,} tokens" if chosen.local else ""
        told[(f"the best {chosen.most:,} {keys}" if chosen.most else f"all {keys}") + local] = None
    return "; ".join(told) or None


def experts(found: Profile) -> str | None:
    if found.routing is None:
        return None
    shared = ", shared experts besides" if found.shared_experts else ""
    return f"{found.routing.total:,}, top {found.routing.active:,} a token{shared}"


def positions(config: ModelConfig, found: Profile) -> str | None:
    attends = [shape for shape, _ in found.attentions if shape.kind not in ("linear", "cross")]
    ways = sorted(dict.fromkeys(shape.position for shape in attends if shape.position), key="none".__eq__)
    if not ways:
        return None
    rotary = "partial RoPE" if any(concept.name == "partial RoPE" for concept in found.concepts) else "RoPE"
    names = {"rope": rotary, "partial rope": rotary, "alibi": "ALiBi", "none": "none (NoPE)"}
    shown = [names.get(way, way) for way in ways]
    if not any("RoPE" in name for name in shown):
        return " and ".join(dict.fromkeys(shown))
    details = {kind: ", ".join(_rope_details(entry)) for kind, entry in rope_entries(config).items()}
    if len(set(details.values())) == 1:
        details = {"": next(iter(details.values()))}
    told = [f"{kind}: {text}" if kind else text for kind, text in details.items() if text]
    return "; ".join([", ".join([" and ".join(dict.fromkeys(shown)), *told[:1]]), *told[1:]])


def _rope_details(entry: dict[str, object]) -> Iterator[str]:
    theta, kind, factor = entry.get("rope_theta"), entry.get("rope_type"), entry.get("factor")
    if isinstance(theta, int | float):
        yield f"theta {theta:,.0f}" if float(theta).is_integer() else f"theta {theta:,}"
    share = entry.get("partial_rotary_factor")
    if isinstance(share, int | float) and share < 1:
        yield f"{share:g} of each head"
    if isinstance(kind, str) and kind != "default":
        yield kind + (f" x{factor:g}" if isinstance(factor, int | float) else "")


def norm(config: ModelConfig, found: Profile, place: str | None) -> str | None:
    """ "RMSNorm, pre-norm, eps 1e-06" """
    if found.norm is None:
        return None
    name = f"{found.norm}, {place}" if place else found.norm
    for key in ("rms_norm_eps", "layer_norm_eps", "layer_norm_epsilon", "norm_eps", "norm_epsilon"):
        value = config.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return f"{name}, eps {value:g}"
    return name


def text_norm_place(analysis: Analysis, config: ModelConfig) -> str | None:
    """Of the first layers for which it is known, outside of towers."""
    tree = analysis.built.tree
    order = Order.of(config)
    layers = [] if tree is None else [layer for stack in text_stacks(tree) for layer, _ in stack.distinct()]
    return next((place for layer in layers if (place := norm_place(layer, order))), None)


def quantization(config: ModelConfig) -> str | None:
    """The method and its main sizes as written."""
    fields = quantization_fields(config)
    if fields is None:
        return None
    method = fields.get("quant_method") or fields.get("quant_algo") or "method not named"
    sizes = [
        (f"{key.replace('_', ' ')} " if key not in ("quant_algo", "format") else "")
        + (str(value) if not isinstance(value, list) else " x ".join(map(str, value)))
        for key in ("quant_algo", "format", "bits", "group_size", "weight_block_size")
        if (value := fields.get(key)) is not None and value != method
    ]
    return ", ".join([str(method), *sizes])


def _dtype(analysis: Analysis) -> str | None:
    weights = analysis.weights
    if weights is None:
        return None
    return weights.dtype if weights.dtype_origin == "written" else f"not written, {weights.dtype} assumed"


def _text(config: ModelConfig, *keys: str) -> str | None:
    return next((value for key in keys if isinstance(value := config.get(key), str)), None)


def _integer(config: ModelConfig, key: str) -> int | None:
    value = config.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
