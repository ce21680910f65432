from __future__ import annotations

import ast
from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Fix
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.data import facts
from neurarch_rules.facts.python_file import PythonFile, Site, has_stars, python_file
from neurarch_rules.facts.spelling import closest
from neurarch_schemas.documents.document import TextEdit

RULE = RuleInfo(
    name="layer-arguments",
    severity="error",
    category="correctness",
    summary="A layer of torch.nn lacks an argument it needs, or is given one it does not have",
    reads=("python",),
    needs=("nn",),
)
MEANT = {
    ("MultiheadAttention", "d_model"): "embed_dim",
    ("MultiheadAttention", "heads"): "num_heads",
    ("MultiheadAttention", "nhead"): "num_heads",
    ("MultiheadAttention", "n_heads"): "num_heads",
    ("TransformerEncoderLayer", "num_heads"): "nhead",
    ("TransformerDecoderLayer", "num_heads"): "nhead",
    ("TransformerEncoderLayer", "heads"): "nhead",
    ("TransformerEncoderLayer", "embed_dim"): "d_model",
    ("TransformerDecoderLayer", "embed_dim"): "d_model",
    ("Linear", "in_dim"): "in_features",
    ("Linear", "out_dim"): "out_features",
    ("Linear", "in_channels"): "in_features",
    ("Linear", "out_channels"): "out_features",
    ("Embedding", "vocab_size"): "num_embeddings",
    ("LayerNorm", "epsilon"): "eps",
    ("Dropout", "prob"): "p",
    ("Dropout", "rate"): "p",
    ("Dropout", "dropout"): "p",
    ("Dropout", "dropout_rate"): "p",
    ("Softmax", "axis"): "dim",
}
"""Names that other layers, and other libraries, use."""


def check(context: Context) -> Iterator[Finding]:
    file = python_file(context)
    table = facts("torch_signatures")["layers"]
    for name, signature in table.items():
        for placed, call in file.calls(name):
            if not has_stars(call) and file.layer(call) == name and _is_of_torch(file, call):
                yield from _of_call(Site(placed, call), call, name, signature["required"], signature["optional"])


def _is_of_torch(file: PythonFile, call: ast.Call) -> bool:
    return file.qualified(call.func) == f"torch.nn.{ast.unparse(call.func).rpartition('.')[2]}"


def _of_call(site: Site, call: ast.Call, name: str, required: list[str], optional: list[str]) -> Iterator[Finding]:
    known = [*required, *optional]
    unknown = [keyword for keyword in call.keywords if keyword.arg not in known]
    for keyword in unknown:
        yield _unknown(site, keyword, name, known)
    positional = known[: len(call.args)]
    given = {*positional, *(keyword.arg for keyword in call.keywords)}
    twice = [keyword for keyword in call.keywords if keyword.arg in positional]
    for keyword in twice:
        yield Finding(
            f"{name} is given {keyword.arg} twice, by position and by name (TypeError)", site.at(keyword).place
        )
    missing = [argument for argument in required if argument not in given]
    if missing and not unknown and not twice:
        yield Finding(f"{name} lacks {' and '.join(missing)} (TypeError)", site.place)


def _unknown(site: Site, keyword: ast.keyword, name: str, known: list[str]) -> Finding:
    argument = keyword.arg or ""
    meant = MEANT.get((name, argument)) or closest(argument, known)
    start = site.at(keyword).span[0]
    fixes: tuple[Fix, ...] = ()
    if meant is not None:
        fixes = (Fix(f"Rename to {meant}", "unsafe", (TextEdit((start, start + len(argument)), meant),)),)
    advice = f"did you mean {meant}?" if meant is not None else f"it takes {', '.join(known)}"
    return Finding(
        f"{name} has no argument {argument} (TypeError: unexpected keyword argument); {advice}",
        site.at(keyword).place,
        fixes=fixes,
    )
