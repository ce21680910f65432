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


def check(context: Context) -> Iterator[Finding]:
    file = python_file(context)
    for found in file.modules:
        if not _is_causal(found.name) or _knows_masks(found):
            continue
        for node in nodes(found.node):
            if not isinstance(node, ast.Call) or has_stars(node) or len(node.args) > 3:
                continue
            if file.qualified(node.func) != "torch.nn.functional.scaled_dot_product_attention":
                continue
            if argument(node, "attn_mask") is None and argument(node, "is_causal") is None:
                yield Finding(
                    f"{found.name} is named causal, but this call has neither is_causal=True nor attn_mask: every "
                    "token sees the future, the training loss is too good and generation useless; pass is_causal=True",
                    found.site(node).place,
                )


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
            node.arg or "" if isinstance(node, ast.arg | ast.keyword) else "",
        )
        for word in ("mask", "tril", "triu", "is_causal", "block_size", "bias_causal")
    )
