from __future__ import annotations

import ast
from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.python_file import PythonFile, Site, argument, has_stars, python_file, self_attribute
from neurarch_rules.facts.python_flow import assigned, scope_of
from neurarch_schemas.documents.python_nodes import nodes_of

RULE = RuleInfo(
    name="causal-flag-with-mask",
    severity="error",
    category="correctness",
    summary="scaled_dot_product_attention is given a mask and is_causal=True, which it refuses together",
    reads=("python",),
    needs=("scaled_dot_product_attention",),
)
ATTENTION = "torch.nn.functional.scaled_dot_product_attention"
MAKING = ("tril", "triu", "ones", "zeros", "full", "masked_fill", "ones_like", "zeros_like", "where")


def check(context: Context) -> Iterator[Finding]:
    file = python_file(context)
    for placed, call in file.calls("scaled_dot_product_attention"):
        if file.qualified(call.func) != ATTENTION or has_stars(call):
            continue
        flag, mask = argument(call, "is_causal", 5), argument(call, "attn_mask", 3)
        is_causal = isinstance(flag, ast.Constant) and flag.value is True
        if is_causal and mask is not None and _is_tensor(file, Site(placed, call), mask):
            yield Finding(
                f"{ast.unparse(mask)} is given together with is_causal=True: attention refuses an explicit mask then "
                "(RuntimeError); fold the causal mask into attn_mask, or pass is_causal=True alone",
                Site(placed, mask).place,
            )


def _is_tensor(file: PythonFile, site: Site, mask: ast.expr) -> bool:
    """The mask surely is one, and not None for some callers."""
    while isinstance(mask, ast.Subscript | ast.UnaryOp):
        mask = mask.value if isinstance(mask, ast.Subscript) else mask.operand
    scope = scope_of(file, site.placed, site.node)
    attribute = self_attribute(mask)
    if attribute is not None and scope.owner is not None:
        buffers = [
            call
            for call in nodes_of(scope.owner.node, ast.Call)
            if getattr(call.func, "attr", "") == "register_buffer" and len(call.args) > 1
        ]
        named = [call for call in buffers if getattr(call.args[0], "value", None) == attribute]
        is_set = attribute in scope.owner.assigned
        return not is_set and bool(named) and all(isinstance(call.args[1], ast.Call) for call in named)
    if isinstance(mask, ast.Name):
        values = [item for item in assigned(scope.body).get(mask.id, ()) if item.line < getattr(site.node, "lineno", 0)]
        return bool(values) and all(
            item.straight and item.value is not None and _makes(file, item.value) for item in values
        )
    return _makes(file, mask)


def _makes(file: PythonFile, value: ast.expr) -> bool:
    if not isinstance(value, ast.Call):
        return False
    name = getattr(value.func, "attr", "")
    return name in MAKING and ((file.qualified(value.func) or "").startswith("torch.") or name in ("tril", "triu"))
