from __future__ import annotations

import ast
from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.python_file import (
    ClassFacts,
    PythonFile,
    are_exclusive,
    argument,
    has_stars,
    python_file,
    self_attribute,
)
from neurarch_schemas.documents.python_nodes import nodes, nodes_of

RULE = RuleInfo(
    name="causal-attention-unmasked",
    severity="warning",
    category="correctness",
    summary="A class named causal computes attention without a causal mask",
    reads=("python",),
    needs=("ausal", "Masked"),
)


SDPA = "torch.nn.functional.scaled_dot_product_attention"
SOFTMAX = ("torch.softmax", "torch.nn.functional.softmax")


ADVICE = {
    "softmax": 'fill the upper triangle with float("-inf") first',
    "sdpa": "pass is_causal=True",
    "module": "pass attn_mask (is_causal=True alone is only a hint there)",
}


def check(context: Context) -> Iterator[Finding]:
    file = python_file(context)
    for found in file.modules:
        if not _is_causal(found.name):
            continue
        if _knows_masks(found):
            yield from _other_branch(file, found)
            continue
        for node in nodes(found.node):
            if not isinstance(node, ast.Call):
                continue
            if _is_softmax(file, node) and _weighs_values(file, found, node):
                yield _finding(found, node, "nothing masks the scores before this softmax", "softmax")
            if has_stars(node) or not (
                _is_absent(argument(node, "attn_mask", 3)) and _is_absent(argument(node, "mask"))
            ):
                continue
            if file.qualified(node.func) == SDPA:
                if _is_absent(argument(node, "is_causal", 5)):
                    yield _finding(found, node, "this call has neither is_causal=True nor attn_mask", "sdpa")
            elif _is_self_attention(found, node):
                yield _finding(found, node, "this call has no attn_mask", "module")


def _other_branch(file: PythonFile, found: ClassFacts) -> Iterator[Finding]:
    """The fused attention of one branch has no mask, where the other branch fills its scores with one."""
    parents = found.placed.unit.parents
    filled = [
        node
        for node in nodes_of(found.node, ast.Call)
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("masked_fill", "masked_fill_")
    ]
    for node in nodes_of(found.node, ast.Call):
        if file.qualified(node.func) != SDPA or has_stars(node):
            continue
        given = (argument(node, "attn_mask", 3), argument(node, "is_causal", 5))
        if all(map(_is_absent, given)) and any(_are_alternatives(parents, node, other) for other in filled):
            yield _finding(found, node, "this call has neither is_causal=True nor attn_mask", "sdpa")


def _are_alternatives(parents: dict[ast.AST, ast.AST], first: ast.AST, second: ast.AST) -> bool:
    """Only one of them runs: they stand in two branches, or the first in one that returns."""
    if are_exclusive(parents, first, second):
        return True
    node = first
    while parents[node] is not node and not isinstance(node, ast.Return):
        node = parents[node]
    above = parents[node]
    return isinstance(node, ast.Return) and isinstance(above, ast.If) and second not in nodes(above)


def _finding(found: ClassFacts, node: ast.Call, what: str, kind: str) -> Finding:
    return Finding(
        f"{found.name} is named causal, but {what}: every token sees the future, the training loss is too good and "
        f"generation useless; {ADVICE[kind]}",
        found.site(node).place,
    )


def _is_softmax(file: PythonFile, node: ast.Call) -> bool:
    if file.qualified(node.func) in SOFTMAX:
        return True
    is_method = isinstance(node.func, ast.Attribute) and node.func.attr == "softmax"
    return is_method and file.qualified(node.func) is None and self_attribute(node.func) is None


def _is_self_attention(found: ClassFacts, node: ast.Call) -> bool:
    """``self.attn(x, x, x)`` of an ``nn.MultiheadAttention`` of the class: one input in all three places."""
    attribute = self_attribute(node.func)
    values = found.assigned.get(attribute or "", [])
    if not values or not all(value and found.file.layer(value) == "MultiheadAttention" for value in values):
        return False
    return len(node.args) == 3 and len({ast.dump(item) for item in node.args}) == 1


def _weighs_values(file: PythonFile, found: ClassFacts, softmax: ast.Call) -> bool:
    """The scores are a product of two local tensors in the same method: attention of its own, unmasked so far."""
    for method in found.methods.values():
        inside = nodes(method)
        if softmax in inside:
            calls = [node for node in inside if isinstance(node, ast.Call) and node is not softmax]
            products = [node for node in inside if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)]
            named = [node for node in calls if _is_product(file, node)]
            # any other helper might mask: only methods of tensors and own layers are looked through
            plain = all(isinstance(node.func, ast.Attribute) for node in calls)
            return len(products) + len(named) == 2 and plain and len(found.methods) <= 2
    return False


def _is_product(file: PythonFile, node: ast.Call) -> bool:
    if file.qualified(node.func) in ("torch.matmul", "torch.bmm"):
        return True
    return (
        isinstance(node.func, ast.Attribute) and node.func.attr in ("matmul", "bmm") and not file.qualified(node.func)
    )


def _is_absent(value: ast.expr | None) -> bool:
    return value is None or (isinstance(value, ast.Constant) and not value.value)


def _is_causal(name: str) -> bool:
    says = "Causal" in name or name.startswith(("MaskedSelfAttention", "MaskedMultiHeadAttention", "MaskedAttention"))
    return says and not any(word in name for word in ("NonCausal", "NotCausal", "Noncausal", "CausalLM", "Cross"))


WORDS = ("mask", "tril", "triu", "block_size", "bias_causal", "is_causal")


def _knows_masks(found: ClassFacts) -> bool:
    """The class handles a mask or the flag in some other way than keeping a buffer that nothing reads."""
    read = {
        node.attr
        for name, method in found.methods.items()
        if name != "__init__"
        for node in nodes(method)
        if isinstance(node, ast.Attribute)
    }
    init = found.methods.get("__init__")
    is_unread = init is not None and not any(word in attribute for attribute in read for word in (*WORDS, "bias"))
    unread = {id(node) for node in nodes(init)} if init is not None and is_unread else set()
    return any(
        word in name
        for node in nodes(found.node)
        if id(node) not in unread
        for name in (
            node.id if isinstance(node, ast.Name) else "",
            node.attr if isinstance(node, ast.Attribute) else "",
            node.arg if isinstance(node, ast.arg) else "",
        )
        for word in WORDS
    )
