from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Fix
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.data import fact_set, facts
from neurarch_rules.facts.python_file import PythonFile, Site, python_file
from neurarch_rules.facts.spelling import closest

if TYPE_CHECKING:
    from neurarch_schemas.documents.python_units import Placed

RULE = RuleInfo(
    name="unknown-config-argument",
    severity="error",
    category="correctness",
    summary="A config class of peft, or BitsAndBytesConfig, is given a keyword it does not have",
    reads=("python",),
    needs=("peft", "BitsAndBytesConfig"),
)

LORA = ("peft.LoraConfig", "peft.tuners.lora.LoraConfig")
QUANTIZATION = "transformers.BitsAndBytesConfig"


def check(context: Context) -> Iterator[Finding]:
    file = python_file(context)
    for local, qualified in file.imports.items():
        name = qualified.rpartition(".")[2]
        if not name.endswith("Config") or not qualified.startswith(("peft.", "transformers.")):
            continue
        for placed, call in file.calls(local):
            if file.qualified(call.func) == qualified:
                yield from _of_call(qualified, name, placed, call)
    for placed, name, call in _by_module(file):
        yield from _of_call(f"peft.{name}", name, placed, call)


def _by_module(file: PythonFile) -> Iterator[tuple[Placed, str, ast.Call]]:
    """``peft.LoraConfig(...)``."""
    if "peft" in file.imports.values():
        for name in ("LoraConfig", *facts("peft_configs")["arguments"]):
            for placed, call in file.calls(name):
                if isinstance(call.func, ast.Attribute) and file.qualified(call.func) == f"peft.{name}":
                    yield placed, name, call


def _of_call(qualified: str, name: str, placed: Placed, call: ast.Call) -> Iterator[Finding]:
    known = _known(qualified, name)
    for keyword in call.keywords if known else ():
        if keyword.arg is None or keyword.arg in known:
            continue
        near = closest(keyword.arg, sorted(known))
        # of LoraConfig every release is recorded; of the others one, so that a name of another release may be right
        if near is None and qualified not in LORA:
            continue
        site = Site(placed, keyword)
        fixes: tuple[Fix, ...] = ()
        if near is not None:
            value = ast.unparse(keyword.value)
            fixes = (site.replace(f"{near}={value}", f"Rename to {near}", "unsafe"),)
        what = "it is ignored" if qualified == QUANTIZATION else "TypeError: unexpected keyword argument"
        yield Finding(
            f"{name} has no argument {keyword.arg} ({what})" + (f"; did you mean {near}?" if near else "; remove it"),
            site.place,
            fixes=fixes,
            severity="warning" if qualified == QUANTIZATION else None,
        )


def _known(qualified: str, name: str) -> frozenset[str]:
    if qualified in LORA:
        return fact_set("adapter_keys", "since")
    if qualified == QUANTIZATION:
        return frozenset(
            key for key in fact_set("quantization_keys", "keys") if key.startswith(("bnb_", "llm_", "load_in"))
        )
    return frozenset(facts("peft_configs")["arguments"].get(name, ())) if qualified.startswith("peft.") else frozenset()
