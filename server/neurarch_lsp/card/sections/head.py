"""What the model is, in one table: scale, kind, attention, layers, experts, positions, norms, sizes, concepts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurarch_lsp.card.profile import Profile, attention_label, language_config, rope_entries
from neurarch_lsp.render.card_blocks import Facts, Labels, Note, Section
from neurarch_lsp.render.layers import layer_runs
from neurarch_schemas.accounting.checkpoint import quantization_fields
from neurarch_schemas.accounting.context import declared_context
from neurarch_schemas.accounting.quantities import count

if TYPE_CHECKING:
    from neurarch_schemas.accounting.parameters import ParameterCount
    from neurarch_schemas.analysis import Analysis
    from neurarch_schemas.config.model_config import ModelConfig


def section(analysis: Analysis, found: Profile) -> Section | None:
    config, counted = analysis.config, analysis.parameters
    if config is None or counted is None:
        return None
    text = language_config(config)
    context = declared_context(config)
    data = {
        "kind": found.kind,
        "scale": scale(counted),
        "attention": attention_label(found),
        "layers": layer_mix(analysis),
        "experts": experts(found),
        "positions": positions(text, found),
        "norm": norm(text, found),
        "activation": _text(text, "hidden_act", "hidden_activation", "activation_function"),
        "context": context,
        "vocabulary": _integer(text, "vocab_size"),
        "tied_embeddings": any(concept.name == "tied embeddings" for concept in found.concepts),
        "dtype": analysis.weights.dtype if analysis.weights else None,
        "quantization": quantization(config),
        "mtp_modules": found.mtp_modules,
        "concepts": [concept.name for concept in found.concepts],
    }
    rows = [
        ("Scale", scale(counted)),
        ("Kind", found.kind + (f" with {' and '.join(found.towers)} tower" if found.towers else "")),
        ("Attention", data["attention"]),
        ("Layers", data["layers"]),
        ("Experts", data["experts"]),
        ("Positions", data["positions"]),
        ("Norm", data["norm"]),
        ("Activation", data["activation"]),
        ("Context", f"{context:,} tokens" if context else "not declared"),
        ("Vocabulary", f"{data['vocabulary']:,}" if data["vocabulary"] else None),
        ("Embeddings", "tied" if data["tied_embeddings"] else "untied" if data["vocabulary"] else None),
        ("Dtype", _dtype(analysis)),
        ("Quantization", data["quantization"]),
    ]
    blocks: list[Facts | Note | Labels] = [Facts(tuple((label, str(value)) for label, value in rows if value))]
    if analysis.doubt is not None:
        blocks.insert(0, Note(f"Not exact: {analysis.doubt}.", "bad"))
    if found.mtp_modules:
        modules = f"{found.mtp_modules} extra MTP module{'s' if found.mtp_modules > 1 else ''} declared"
        blocks.append(Note(f"{modules}; the model class does not build them, so they are not in the count.", "notice"))
    if found.concepts:
        blocks.append(Labels(tuple((item.label, item.sentence, item.source) for item in found.concepts)))
    return Section("head", "Model", tuple(blocks), data)


def scale(counted: ParameterCount) -> str:
    """ "229B total, 10.4B active (4.6 %)" """
    total = f"{count(counted.total)} parameters"
    if counted.active_with_embeddings == counted.total:
        return total
    share = 100 * counted.active / counted.total
    return f"{count(counted.total)} total, {count(counted.active)} active ({share:.1f} %)"


def layer_mix(analysis: Analysis) -> str | None:
    """ "3 GQA 16:1, dense + 57 GQA 16:1, MoE" """
    runs = layer_runs(analysis)
    if not runs:
        return None
    shown = [f"{run.last - run.first + 1} x ({run.text})" for run in runs[:6]]
    return " + ".join(shown) + (f" + {len(runs) - 6} further runs" if len(runs) > 6 else "")


def experts(found: Profile) -> str | None:
    if found.routing is None:
        return None
    shared = ", shared experts besides" if found.shared_experts else ""
    return f"{found.routing.total:,}, top {found.routing.active:,} a token{shared}"


def positions(config: ModelConfig, found: Profile) -> str | None:
    ways = list(dict.fromkeys(shape.position for shape, _ in found.attentions if shape.position))
    if not ways:
        return None
    names = {"rope": "RoPE", "partial rope": "partial RoPE", "alibi": "ALiBi", "none": "none (NoPE)"}
    if any(concept.name == "partial RoPE" for concept in found.concepts):
        names["rope"] = "partial RoPE"
    shown = [names.get(way, way) for way in ways]
    details: list[str] = []
    for entry in rope_entries(config) if any("RoPE" in name for name in shown) else []:
        theta, kind, factor = entry.get("rope_theta"), entry.get("rope_type"), entry.get("factor")
        if isinstance(theta, int | float):
            details.append(f"theta {theta:,.0f}" if float(theta).is_integer() else f"theta {theta:,}")
        share = entry.get("partial_rotary_factor")
        if isinstance(share, int | float) and share < 1:
            details.append(f"{share:g} of each head")
        if isinstance(kind, str) and kind != "default":
            details.append(kind + (f" x{factor:g}" if isinstance(factor, int | float) else ""))
    return " and ".join(dict.fromkeys(shown)) + (f", {', '.join(dict.fromkeys(details))}" if details else "")


def norm(config: ModelConfig, found: Profile) -> str | None:
    if found.norm is None:
        return None
    for key in ("rms_norm_eps", "layer_norm_eps", "layer_norm_epsilon", "norm_eps", "norm_epsilon"):
        value = config.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return f"{found.norm}, eps {value:g}"
    return found.norm


def quantization(config: ModelConfig) -> str | None:
    """The method and its main sizes as written."""
    fields = quantization_fields(config)
    if fields is None:
        return None
    method = fields.get("quant_method") or fields.get("quant_algo") or "method not named"
    sizes = [
        f"{key.replace('_', ' ')} {value if not isinstance(value, list) else ' x '.join(map(str, value))}"
        for key in ("bits", "group_size", "weight_block_size")
        if (value := fields.get(key)) is not None
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
