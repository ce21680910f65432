from __future__ import annotations

import ast
from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.python_file import Site, argument, python_file
from neurarch_rules.facts.python_flow import made_by
from neurarch_rules.facts.python_values import Events, Layer, Value, events

RULE = RuleInfo(
    name="dropout-out-of-range",
    severity="error",
    category="correctness",
    summary="A dropout probability that is not between 0 and 1",
    reads=("python",),
    needs=("ropout", "Transformer", "MultiheadAttention", "LSTM", "GRU", "RNN"),
)


ADAPTERS = ("LoraConfig", "AdaLoraConfig", "VeraConfig", "RandLoraConfig")


def check(context: Context) -> Iterator[Finding]:
    yield from _functional(context)
    yield from _of_adapters(context)
    yield from _of_layers(events(context, RULE.needs, _of_layers))


def _of_layers(found: Events) -> Iterator[Finding]:
    seen: set[int] = set()
    for made in found.made:
        value = _probability(made.layer)
        number = None if value is None else value.number
        if value is None or number is None or 0 <= number < 1:
            continue
        site: Site = value.origin or made.layer.site
        if id(site.node) in seen:
            continue
        seen.add(id(site.node))
        if number == 1:
            if "ropout" in made.layer.name and value.origin is not None:
                yield Finding(
                    f"a dropout of 1 sets every value to zero while training: nothing passes {made.layer.name}",
                    site.place,
                    (made.layer.site.related("used here"),),
                    severity="warning",
                )
            continue
        hint = f"; {number / 10:g} or {number / 100:g}?" if 1 < number < 100 else ""
        yield Finding(
            f"{made.layer.name} gets a dropout probability of {number:g}, which is refused: it has to lie between 0 "
            f"and 1{hint}",
            site.place,
            (made.layer.site.related("used here"),),
        )


def _functional(context: Context) -> Iterator[Finding]:
    """``F.dropout(x, p=1.5)``"""
    file = python_file(context)
    for placed, call in file.calls("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout"):
        given = argument(call, "p", 1)
        sign = -1 if isinstance(given, ast.UnaryOp) and isinstance(given.op, ast.USub) else 1
        number = given.operand if isinstance(given, ast.UnaryOp) else given
        if given is None or not isinstance(number, ast.Constant) or type(number.value) not in (int, float):
            continue
        probability = sign * float(str(number.value))
        is_torch = (file.qualified(call.func) or "").startswith("torch.nn.functional.")
        if is_torch and not 0 <= probability <= 1:
            yield Finding(
                f"{ast.unparse(call.func)} gets a dropout probability of {probability:g}, which is refused: it has to "
                "lie between 0 and 1",
                Site(placed, given).place,
            )


def _of_adapters(context: Context) -> Iterator[Finding]:
    """``LoraConfig(lora_dropout=5)``, of which peft makes ``nn.Dropout`` layers."""
    file = python_file(context)
    for placed, call in file.calls(*ADAPTERS):
        given = argument(call, "lora_dropout")
        number = None if given is None else made_by(file, placed, given)
        if not (file.qualified(call.func) or "").startswith("peft.") or not isinstance(number, ast.Constant):
            continue
        if type(number.value) in (int, float) and not 0 <= float(str(number.value)) <= 1:
            yield Finding(
                f"lora_dropout = {number.value!r} is refused when the adapter is made: it has to lie between 0 and 1",
                Site(placed, call).at(next(item for item in call.keywords if item.arg == "lora_dropout")).place,
            )


def _probability(layer: Layer) -> Value | None:
    return layer.arguments.get("p" if "Dropout" in layer.name else "dropout")
