"""inspect: signatures of interpreted functions, and of ours where they are told."""

from __future__ import annotations

import inspect as host_inspect
from typing import TYPE_CHECKING

from neurarch_schemas.interpreter.libraries.frames import FrameView, argument_values, stack
from neurarch_schemas.interpreter.libraries.library import module, new_class
from neurarch_schemas.interpreter.libraries.typing_forms import AnnotationsView
from neurarch_schemas.interpreter.statements import Annotation
from neurarch_schemas.interpreter.values import (
    INSTANCE_TYPES,
    MISSING,
    BoundMethod,
    Builtin,
    Class,
    Function,
    Instance,
    Partial,
    PythonModule,
    StaticMethod,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine

_KINDS = ("POSITIONAL_ONLY", "POSITIONAL_OR_KEYWORD", "VAR_POSITIONAL", "KEYWORD_ONLY", "VAR_KEYWORD")


def build(machine: Machine, name: str) -> PythonModule:
    empty = Class(machine, "_empty", module="inspect")
    parameter = new_class(machine, "Parameter", "inspect", {"__init__": _parameter_init, "replace": _replace})
    parameter.namespace.update({kind: index for index, kind in enumerate(_KINDS)}, empty=empty)
    signature = new_class(
        machine, "Signature", "inspect", {"bind": _bind, "bind_partial": _bind, "replace": lambda m, self, **k: self}
    )
    signature.namespace["empty"] = empty
    machine.state["inspect"] = (parameter, signature, empty)
    return module(
        name,
        {
            "signature": get_signature,
            "getfullargspec": _full_spec,
            "Parameter": parameter,
            "Signature": signature,
            "_empty": empty,
            "get_annotations": lambda machine, value, **options: AnnotationsView(machine, [value]),
            "isclass": lambda machine, value: isinstance(value, Class),
            "isfunction": lambda machine, value: isinstance(value, Function),
            "ismethod": lambda machine, value: isinstance(value, BoundMethod),
            "ismodule": lambda machine, value: isinstance(value, PythonModule),
            "isbuiltin": lambda machine, value: isinstance(value, Builtin),
            "isroutine": lambda machine, value: isinstance(value, Function | BoundMethod | Builtin),
            "iscoroutinefunction": lambda machine, value: False,
            "isgeneratorfunction": lambda machine, value: False,
            "isabstract": lambda machine, value: False,
            "getmro": lambda machine, cls: cls.mro,
            "getmodule": lambda machine, value: Unknown("a module", data=True),
            "getdoc": lambda machine, value: None,
            "getsource": _source,
            "stack": lambda machine, *args: stack(machine),
            "isframe": lambda machine, value: isinstance(value, FrameView),
            "_ParameterKind": _parameter_kinds(machine),
            "currentframe": lambda machine: FrameView(machine.frame),
            "getargvalues": argument_values,
            "unwrap": lambda machine, value: value,
            "getmembers": _members,
        },
    )


def _parameter_kinds(machine: Machine) -> Class:
    kinds = Class(machine, "_ParameterKind", module="inspect")
    kinds.namespace.update({kind: index for index, kind in enumerate(_KINDS)})
    return kinds


def _source(machine: Machine, value: Value) -> Value:
    """The text of a function or class, as its file has it."""
    while isinstance(value, BoundMethod):
        value = value.function
    node = value.node if isinstance(value, Function | Class) else None
    module = (
        value.module
        if isinstance(value, Function)
        else value.frame.module
        if isinstance(value, Class) and value.frame
        else None
    )
    text = machine.sources.text(module.file) if isinstance(module, PythonModule) and module.file else None
    if node is None or text is None:
        return Unknown("source text", data=True)
    lines = text.splitlines(keepends=True)
    return "".join(lines[node.lineno - 1 : node.end_lineno])


def _members(machine: Machine, value: Value, predicate: Value = None) -> Value:
    names = machine.call(machine.builtins["dir"], [value], {})
    pairs = [(name, machine.find_attr(value, name)) for name in names]
    pairs = [pair for pair in pairs if pair[1] is not MISSING]
    if predicate is None:
        return pairs
    return [pair for pair in pairs if machine.truth(machine.call(predicate, [pair[1]], {}))]


def _parameter_init(
    machine: Machine, self: Instance, name: str, kind: int, *, default: Value = MISSING, annotation: Value = MISSING
) -> None:
    empty = machine.state["inspect"][2]
    self.attrs.update(
        name=name,
        kind=kind,
        default=empty if default is MISSING else default,
        annotation=empty if annotation is MISSING else annotation,
    )


def _replace(machine: Machine, self: Instance, **changes: Value) -> Value:
    made = Instance(self.cls)
    made.attrs = {**self.attrs, **changes}
    return made


def _make(machine: Machine, name: str, kind: int, default: Value, annotation: Value = MISSING) -> Instance:
    made = Instance(machine.state["inspect"][0])
    _parameter_init(machine, made, name, kind, default=default, annotation=annotation)
    return made


def parameters_of(machine: Machine, function: Value) -> list[Instance] | None:
    """None where they are not known."""
    skip = 0
    bound: set[str] = set()
    bound_positional = 0
    while True:
        if isinstance(function, BoundMethod):
            skip += 1
            function = function.function
        elif isinstance(function, StaticMethod):
            function = function.function
        elif isinstance(function, Partial):
            bound.update(function.keywords)
            bound_positional += len(function.args)
            function = function.function
        elif isinstance(function, Builtin | Function) and "__wrapped__" in function.attrs:
            function = function.attrs["__wrapped__"]
        elif isinstance(function, Class):
            initializer = function.lookup("__init__")
            if initializer is MISSING:
                return []
            skip += 1
            function = initializer
        elif function.__class__ in INSTANCE_TYPES:
            skip += 1
            function = function.cls.lookup("__call__")
        else:
            break
    found: list[Instance] = []
    if isinstance(function, Builtin):
        try:
            host = host_inspect.signature(function.function)
        except (TypeError, ValueError):
            return None
        for parameter in list(host.parameters.values())[1:]:
            default = MISSING if parameter.default is host_inspect.Parameter.empty else parameter.default
            found.append(_make(machine, parameter.name, int(parameter.kind), default))
    elif isinstance(function, Function):
        arguments = function.node.args
        positional = [*arguments.posonlyargs, *arguments.args]
        first_default = len(positional) - len(function.defaults)
        for index, each in enumerate(positional):
            default = function.defaults[index - first_default] if index >= first_default else MISSING
            kind = 0 if index < len(arguments.posonlyargs) else 1
            annotation = _annotation(machine, each.annotation, function)
            found.append(_make(machine, each.arg, kind, default, annotation))
        if arguments.vararg is not None:
            found.append(_make(machine, arguments.vararg.arg, 2, MISSING))
        for each in arguments.kwonlyargs:
            annotation = _annotation(machine, each.annotation, function)
            found.append(_make(machine, each.arg, 3, function.kwdefaults.get(each.arg, MISSING), annotation))
        if arguments.kwarg is not None:
            found.append(_make(machine, arguments.kwarg.arg, 4, MISSING))
    else:
        return None
    found = found[skip:]
    return [each for index, each in enumerate(found) if index >= bound_positional]


def _annotation(machine: Machine, node: object, function: Function) -> Value:
    if node is None:
        return MISSING
    return Annotation(node, function.frame).text()  # type: ignore[arg-type]  # an expression of the parameter


def get_signature(machine: Machine, function: Value, **options: Value) -> Value:
    if type(function) is Unknown:
        return function
    parameters = parameters_of(machine, function)
    if parameters is None:
        return Unknown("a signature that is not known", data=True)
    made = Instance(machine.state["inspect"][1])
    made.attrs["parameters"] = {each.attrs["name"]: each for each in parameters}
    made.attrs["return_annotation"] = machine.state["inspect"][2]
    return made


def _full_spec(machine: Machine, function: Value) -> Value:
    parameters = parameters_of(machine, function)
    if parameters is None:
        return Unknown("a signature that is not known", data=True)
    empty = machine.state["inspect"][2]
    spec = Instance(Class(machine, "FullArgSpec", module="inspect"))
    names = [each.attrs["name"] for each in parameters if each.attrs["kind"] in (0, 1)]
    if isinstance(function, Function | Class):
        names = ["self", *names] if isinstance(function, Class) else names
    defaults = tuple(
        e.attrs["default"] for e in parameters if e.attrs["kind"] in (0, 1) and e.attrs["default"] is not empty
    )
    spec.attrs.update(
        args=names,
        defaults=defaults or None,
        varargs=next((each.attrs["name"] for each in parameters if each.attrs["kind"] == 2), None),
        varkw=next((each.attrs["name"] for each in parameters if each.attrs["kind"] == 4), None),
        kwonlyargs=[each.attrs["name"] for each in parameters if each.attrs["kind"] == 3],
        annotations={},
    )
    return spec


def _bind(machine: Machine, self: Instance, *args: Value, **kwargs: Value) -> Value:
    names = list(self.attrs["parameters"])
    made = Instance(Class(machine, "BoundArguments", module="inspect"))
    made.attrs["arguments"] = {**dict(zip(names, args, strict=False)), **kwargs}
    made.attrs["args"], made.attrs["kwargs"] = args, kwargs
    made.attrs["apply_defaults"] = Builtin("apply_defaults", lambda machine: None)
    return made
