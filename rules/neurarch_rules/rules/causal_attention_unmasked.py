from __future__ import annotations

import ast
from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.python_file import ClassFacts, argument, has_stars, nodes, python_file

RULE = RuleInfo(
    name="causal-attention-unmasked",
    severity="warning",
    category="correctness",
    summary="A class named causal computes attention without a causal mask",
    reads=("python",),
    needs=("ausal",),
)


SOFTMAX = ("torch.softmax", "torch.nn.functional.softmax")


def check(context: Context) -> Iterator[Finding]:
    file = python_file(context)
    for found in file.modules:
        if not _is_causal(found.name) or _knows_masks(found):
            continue
        for node in nodes(found.node):
            if not isinstance(node, ast.Call) or has_stars(node) or len(node.args) > 3:
                continue
            if file.qualified(node.func) in SOFTMAX and _weighs_values(found, node):
                yield Finding(
                    f"{found.name} is named causal, but nothing masks the scores before this softmax: every token sees "
                    "the future, the training loss is too good and generation useless; fill the upper triangle with "
                    'float("-inf") first',
                    found.site(node).place,
                )
            if file.qualified(node.func) != "torch.nn.functional.scaled_dot_product_attention":
                continue
            if _is_absent(argument(node, "attn_mask")) and _is_absent(argument(node, "is_causal")):
                yield Finding(
                    f"{found.name} is named causal, but this call has neither is_causal=True nor attn_mask: every "
                    "token sees the future, the training loss is too good and generation useless; pass is_causal=True",
                    found.site(node).place,
                )


def _weighs_values(found: ClassFacts, softmax: ast.Call) -> bool:
    """The scores are a product of two local tensors in the same method: attention of its own, unmasked so far."""
    for method in found.methods.values():
        inside = nodes(method)
        if softmax in inside:
            products = [node for node in inside if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)]
            calls = [node for node in inside if isinstance(node, ast.Call) and node is not softmax]
            # any other helper might mask: only methods of tensors and own layers are looked through
            plain = all(isinstance(node.func, ast.Attribute) for node in calls)
            return len(products) == 2 and plain and len(found.methods) <= 2
    return False


def _is_absent(value: ast.expr | None) -> bool:
    return value is None or (isinstance(value, ast.Constant) and not value.value)


def _is_causal(name: str) -> bool:
    return "Causal" in name and not any(word in name for word in ("NonCausal", "NotCausal", "Noncausal", "CausalLM"))


def _knows_masks(found: ClassFacts) -> bool:
    """The class handles a mask or the flag in some other way."""
    return any(
        word in node_name
        for node in nodes(found.node)
        for node_name in (
            node.id if isinstance(node, ast.Name) else "",
            node.attr if isinstance(node, ast.Attribute) else "",
            node.arg if isinstance(node, ast.arg) else "",
        )
        for word in ("mask", "tril", "triu", "block_size", "bias_causal")
    )
