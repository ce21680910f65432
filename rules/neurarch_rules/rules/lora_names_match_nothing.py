from __future__ import annotations

import re
from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place, Related
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.adapter import base_file, base_tree, linear_names
from neurarch_rules.facts.words import listed
from neurarch_schemas.documents.json_value import JSONValue
from neurarch_schemas.documents.pointer import join_pointer

RULE = RuleInfo(
    name="lora-names-match-nothing",
    severity="error",
    category="correctness",
    summary="A rank, alpha or module to save is given for modules the base model or the adapter does not have",
    reads=("adapter_config",),
)

PATTERNS = ("rank_pattern", "alpha_pattern")
LABELLING = ("SEQ_CLS", "TOKEN_CLS", "QUESTION_ANS")
"""Tasks for which peft names the heads of all families, of which the model has one."""
HEADS = ("lm_head", "output_layer", "embed_out")
"""A head that is tied to the embedding may not be told apart."""


def check(context: Context) -> Iterator[Finding]:
    data = context.analysis.document.data
    base = base_file(context.analysis)
    if not isinstance(data, dict) or base is None or data.get("peft_type", "LORA") != "LORA":
        return
    if not any(data.get(name) for name in (*PATTERNS, "modules_to_save", "target_parameters")):
        return
    tree = base_tree(base[1])
    if tree is None:
        return
    from neurarch_schemas.modules.tree import walk

    where = Related(Place("/model_type", file=base[0]), f"the base is a {base[1].get('model_type')}")
    linear = list(linear_names(tree))
    adapted = [path for path in linear if _is_target(path, data.get("target_modules"))]
    for key in PATTERNS:
        yield from _pattern(key, data.get(key), adapted, linear, where)
    visits = list(walk(tree))
    if data.get("task_type") not in LABELLING:
        yield from _saved(data.get("modules_to_save"), [visit.path for visit in visits], where)
    tensors = [f"{visit.path}.{tensor.name}" for visit in visits for tensor in visit.module.tensors]
    yield from _parameters(data, tensors, where)


def _is_target(path: str, targets: JSONValue) -> bool:
    """A list names the ends of paths; what a pattern matches is not worked out: everything may be adapted."""
    if not isinstance(targets, list):
        return True
    return any(isinstance(name, str) and (path == name or path.endswith("." + name)) for name in targets)


def _pattern(key: str, value: JSONValue, adapted: list[str], linear: list[str], where: Related) -> Iterator[Finding]:
    for name in value if isinstance(value, dict) and adapted else ():
        if _hits(name, adapted):
            continue
        yield Finding(
            f"{key} is given for {name}, "
            + ("which target_modules does not adapt" if _hits(name, linear) else "which matches no module of the base")
            + ": the entry has no effect",
            Place(join_pointer(f"/{key}", name), on="key"),
            (where, Related(Place("/target_modules"), "the modules that are adapted")),
            severity="warning",
        )


def _hits(name: str, paths: list[str]) -> bool:
    """As peft matches a key: a regular expression for the end of a path; layer numbers may be any in it."""
    plain = re.sub(r"(?<=\.)\d+(?=\.|$)", "{}", name)
    if any(path == plain or path.endswith("." + plain) for path in paths):
        return True
    try:
        compiled = re.compile(rf"(.*\.)?({name[:500]})$")
    except re.error:
        return True
    return any(compiled.match(path.replace("{}", number)) for path in paths for number in ("0", "1", "2", "3"))


def _saved(names: JSONValue, paths: list[str], where: Related) -> Iterator[Finding]:
    for at, name in enumerate(names if isinstance(names, list) else ()):
        if not isinstance(name, str) or name in HEADS:
            continue
        plain = re.sub(r"(?<=\.)\d+(?=\.|$)", "{}", name)
        if any(path.endswith(plain) or f".{plain}." in f".{path}." for path in paths):
            continue
        yield Finding(
            f"modules_to_save names {name}, which the base model does not have: nothing of it is trained or saved",
            Place(f"/modules_to_save/{at}"),
            (where,),
            severity="warning",
        )


def _parameters(data: dict[str, JSONValue], tensors: list[str], where: Related) -> Iterator[Finding]:
    names = data.get("target_parameters")
    if not isinstance(names, list) or not names:
        return
    missing = [name for name in names if isinstance(name, str) and not any(path.endswith(name) for path in tensors)]
    if missing:
        refused = len(missing) == len(names) and not data.get("target_modules")
        yield Finding(
            f"target_parameters names {listed(missing)}, which the base model does not have"
            + (": peft finds nothing to adapt and refuses" if refused else ": they are left as they are"),
            Place("/target_parameters"),
            (where,),
            severity=None if refused else "warning",
        )
