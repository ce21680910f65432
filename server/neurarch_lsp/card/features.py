"""The structure of a model as a few numbers and words, for measuring how alike two models are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from neurarch_lsp.card.profile import profile
from neurarch_schemas.accounting.context import declared_context
from neurarch_schemas.config.language_model import language_config
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.record import Record

if TYPE_CHECKING:
    from neurarch_schemas.analysis import Analysis

WEIGHTS = {
    "width": 3.0,
    "layers": 3.0,
    "heads": 2.0,
    "kv_heads": 2.0,
    "head_dim": 1.0,
    "experts": 3.0,
    "experts_per_token": 1.5,
    "feed_forward": 1.5,
    "vocabulary": 1.0,
    "context": 0.5,
    "kind": 4.0,
    "concepts": 3.0,
    "activation": 0.5,
    "model_type": 2.0,
}
"""Weight of each feature in the score."""
ALL_WEIGHTS = sum(WEIGHTS.values())


class Features(Record):
    """``numbers`` are sizes (0: none), ``words`` single labels, ``concepts`` the set of what the network uses."""

    numbers: dict[str, int]
    words: dict[str, str]
    concepts: frozenset[str]

    @staticmethod
    def of(data: dict[str, Any]) -> Features:
        return Features(data["numbers"], data["words"], frozenset(data["concepts"]))

    def as_data(self) -> dict[str, Any]:
        return {"numbers": self.numbers, "words": self.words, "concepts": sorted(self.concepts)}


def features(analysis: Analysis) -> Features | None:
    """None where the tree is not known."""
    found, config = profile(analysis), analysis.config
    if found is None or config is None:
        return None
    text = language_config(config)
    shape = next((shape for shape, _ in found.attentions if shape.kind != "linear"), None)
    numbers = {
        "width": _first(text, "hidden_size", "d_model", "n_embd", "dim"),
        "layers": _first(text, "num_hidden_layers", "num_layers", "n_layer", "n_layers", "encoder_layers"),
        "heads": shape.heads if shape else 0,
        "kv_heads": shape.kv_heads if shape else 0,
        "head_dim": shape.qk_dim if shape else 0,
        "experts": found.routing.total if found.routing else 0,
        "experts_per_token": found.routing.active if found.routing else 0,
        "feed_forward": _first(text, "moe_intermediate_size", "intermediate_size", "d_ff", "ffn_dim", "n_inner"),
        "vocabulary": _first(text, "vocab_size"),
        "context": declared_context(config) or 0,
    }
    activation = next(
        (str(v) for k in ("hidden_act", "hidden_activation", "activation_function") if (v := text.get(k))), ""
    )
    words = {"kind": found.kind, "activation": activation, "model_type": text.model_type}
    return Features(numbers, words, frozenset(concept.name for concept in found.concepts) | set(found.towers))


def similarity(a: Features, b: Features) -> float:
    """From 0 to 1; 1 is the same structure.

    The weighted mean over all features: for sizes the smaller over the larger (1 where both are absent, 0 where one
    is), for words 1 where equal, for concepts the shared over all of both.
    """
    score, theirs = 0.0, b.numbers
    for name, number in a.numbers.items():
        other = theirs.get(name, 0)
        # Asked of each catalogued model: min and max would take most of the time.
        share = 1.0 if number == other else number / other if number < other else other / number
        score += WEIGHTS[name] * share
    for name, word in a.words.items():
        if word == b.words.get(name):
            score += WEIGHTS[name]
    union = a.concepts | b.concepts
    score += WEIGHTS["concepts"] * (len(a.concepts & b.concepts) / len(union) if union else 1.0)
    return score / ALL_WEIGHTS


def reasons(a: Features, b: Features) -> str:
    """Why two models are alike and where they part, in words."""
    same = [name.replace("_", " ") for name, number in a.numbers.items() if number and number == b.numbers.get(name)]
    apart = [
        f"{name.replace('_', ' ')} x{number / b.numbers[name]:.2f}"
        for name, number in a.numbers.items()
        if number and b.numbers.get(name) and number != b.numbers[name]
    ]
    only = [f"only here {name}" for name in sorted(a.concepts - b.concepts)]
    only += [f"only there {name}" for name in sorted(b.concepts - a.concepts)]
    alike = f"same {', '.join(same)}" if same else "no equal size"
    return "; ".join([alike, *([", ".join(apart[:4])] if apart else []), *([", ".join(only[:3])] if only else [])])


def _first(config: ModelConfig, *keys: str) -> int:
    return next(
        (
            value
            for key in keys
            if isinstance(value := config.get(key), int) and not isinstance(value, bool) and value > 0
        ),
        0,
    )
