from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.python_file import Site
from neurarch_rules.facts.python_forward import Clash, each_fault
from neurarch_rules.facts.python_shapes import taken_from, wanted
from neurarch_rules.facts.python_values import NOTHING, Events, events, is_given

RULE = RuleInfo(
    name="forward-sizes-disagree",
    severity="error",
    category="correctness",
    summary="A layer is handed what another layer made, and takes another size",
    reads=("python",),
    needs=("forward",),
)


def check(context: Context) -> Iterator[Finding]:
    return _faults(events(context, RULE.needs, _faults))


def _faults(found: Events) -> Iterator[Finding]:
    seen: set[int] = set()
    for fault in each_fault(found):
        if isinstance(fault, Clash) and id(fault.layer.site.node) not in seen:
            seen.add(id(fault.layer.site.node))
            yield _finding(fault)


def _finding(fault: Clash) -> Finding:
    want = wanted(fault.layer)
    assert want is not None
    by = "" if fault.giver is None else f" of {_shown(fault.giver.name, fault)}"
    related = [fault.site.related("handed over here")]
    if fault.giver is not None:
        related.append(fault.giver.site.related(f"gives {fault.met:,} {want.what}"))
    return Finding(
        f"{fault.layer.name} takes {want.size:,} {want.what}, but forward hands it {fault.met:,}{by}: it fails when it "
        "runs",
        _place(fault).place,
        tuple(related),
    )


def _place(fault: Clash) -> Site:
    """The layer, or what a construction in another class gives as its size."""
    layer = fault.layer
    name = taken_from(layer)
    origin = NOTHING.origin if name is None else layer.arguments.get(name, NOTHING).origin
    if origin is not None and is_given(origin) and origin.placed is not layer.site.placed:
        return origin
    return layer.site


def _shown(name: str, fault: Clash) -> str:
    both = fault.giver is not None and fault.giver.arguments.get("bidirectional")
    return f"a bidirectional {name}" if both and both.of is True else f"a {name}"
