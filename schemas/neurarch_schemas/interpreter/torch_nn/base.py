"""``torch.nn.Module``: registration of parameters, buffers and submodules, and the walks over them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from neurarch_schemas.interpreter.libraries.library import method
from neurarch_schemas.interpreter.torch_nn.tensor import Shape, Tensor, dtypes, new_tensor
from neurarch_schemas.interpreter.values import (
    MISSING,
    Builtin,
    Class,
    ClassMethod,
    Function,
    Instance,
    Property,
    Raised,
    Unknown,
    UnknownTruth,
    Value,
)

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine


def module_class(machine: Machine) -> Class:
    known: Class | None = machine.state.get("torch.nn.Module")
    if known is None:
        known = Class(machine, "Module", (), {}, "torch.nn.modules.module")
        known.namespace.update({name: method(name, function) for name, function in METHODS.items()})
        known.namespace["__class_getitem__"] = ClassMethod(
            Builtin("__class_getitem__", lambda machine, cls, key: cls, binds=True)
        )
        known.namespace.update(dump_patches=False, _version=1, call_super_init=False, _compiled_call_impl=None)
        machine.state["torch.nn.Module"] = known
    return known


def parameter_class(machine: Machine) -> Class:
    return machine.state["torch.nn.Parameter"]  # type: ignore[no-any-return]


def is_parameter(value: Value) -> bool:
    return isinstance(value, Tensor) and any(base.name == "Parameter" for base in value.cls.mro)


def new_parameter(machine: Machine, dimensions: tuple[Value, ...] | None, reason: str = "") -> Tensor:
    """A parameter of a shape; an unknown dimension makes the shape unknown."""
    shape: list[int] | None = None
    if dimensions is not None:
        shape = []
        for size in dimensions:
            if type(size) is Unknown:
                shape, reason = None, size.reason
                break
            if isinstance(size, Tensor):
                size = size.interpreted_item(machine)
                if type(size) is Unknown:
                    shape, reason = None, size.reason
                    break
            if isinstance(size, bool | int):
                if size < 0:
                    machine.fail("RuntimeError", f"Trying to create tensor with negative dimension {size}")
                shape.append(int(size))
            else:
                machine.fail("TypeError", f"a size must be an integer, not {size!r}")
    machine.meter.progress()
    made = new_tensor(machine, None if shape is None else tuple(shape), None, None, reason, parameter_class(machine))
    made.requires_grad = True
    return made


def buffer(machine: Machine, shape: Shape, dtype: str = "float32") -> Tensor:
    return new_tensor(machine, shape, None, dtypes(machine)[dtype])


def initialize(machine: Machine, self: Instance, *args: Value, **kwargs: Value) -> None:
    """``Module.__init__``."""
    attrs = self.attrs
    attrs["training"] = True
    attrs["_parameters"] = {}
    attrs["_buffers"] = {}
    attrs["_non_persistent_buffers_set"] = set()
    attrs["_modules"] = {}
    machine.meter.progress()


def set_attribute(machine: Machine, self: Instance, name: str, value: Value) -> None:
    attrs = self.attrs
    kind = value.__class__
    if kind is Tensor:
        parameters = attrs.get("_parameters")
        if is_parameter(value):
            if parameters is None:
                machine.fail("AttributeError", "cannot assign parameters before Module.__init__() call")
            _forget(attrs, name, "_buffers", "_modules")
            parameters[name] = value
            return
        if parameters is not None and name in parameters:
            machine.fail("TypeError", f"cannot assign 'torch.FloatTensor' as parameter '{name}'")
        if value.cls.name == "Buffer":
            register_buffer(machine, self, name, value, value.attrs.get("persistent", True))
            return
        buffers = attrs.get("_buffers")
        if buffers is not None and name in buffers:
            buffers[name] = value
            return
    elif kind is Instance and "_modules" in value.attrs:
        modules = attrs.get("_modules")
        if modules is None:
            machine.fail("AttributeError", "cannot assign module before Module.__init__() call")
        _forget(attrs, name, "_parameters", "_buffers")
        modules[name] = value
        note_place(machine, self, name)
        return
    elif "_parameters" in attrs:
        if name in attrs["_parameters"]:
            if kind is Unknown and value.data and attrs["_parameters"][name] is not None:
                return  # an in-place operation: the parameter stays
            if kind is Unknown:
                machine.taint(f"parameter {name} is set to an unknown value: {value.reason}")
            attrs["_parameters"][name] = None
            return
        if name in attrs["_modules"]:
            if kind is Unknown:
                machine.taint(f"module {name} is set to an unknown value: {value.reason}")
            elif value is not None:
                machine.fail("TypeError", f"cannot assign as child module '{name}' (torch.nn.Module or None expected)")
            attrs["_modules"][name] = None
            return
        if name in attrs["_buffers"] and (value is None or kind is Unknown):
            attrs["_buffers"][name] = value if value is None else new_tensor(machine, None, reason=value.reason)
            return
    if kind is Unknown and not value.data and self.cls.lookup(name).__class__ is not Property:
        machine.doubts += 1
        machine.state.setdefault("unknown attributes", {})[(id(self), name)] = (self, value.reason, machine.where())
    elif "unknown attributes" in machine.state:
        machine.state["unknown attributes"].pop((id(self), name), None)
    machine.set_plain(self, name, value)


def _forget(attrs: dict[str, Value], name: str, *tables: str) -> None:
    attrs.pop(name, None)
    for table in tables:
        attrs[table].pop(name, None)
    attrs["_non_persistent_buffers_set"].discard(name)


def note_place(machine: Machine, self: Instance, name: str) -> None:
    """Remember the line a child was registered at, for hovers."""
    frame = machine.frame
    machine.state.setdefault("places", {})[(id(self), name)] = (frame.module.file, frame.line)


def get_attribute(machine: Machine, self: Instance, name: str) -> Value:
    attrs = self.attrs
    for table in ("_parameters", "_buffers", "_modules"):
        found = attrs.get(table)
        if found is not None and name in found:
            return found[name]
    if self.cls.unknown_base is not None:
        return Unknown(self.cls.unknown_base.reason)
    if name == "__dict__":
        return attrs
    if name in _HOOKS and "_modules" in attrs:
        return attrs.setdefault(name, OrderedDict())
    error = machine.raised("AttributeError", f"'{self.cls.name}' object has no attribute '{name}'")
    error.value.attrs["name"] = name
    raise error


_HOOKS = (
    "_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks", "_state_dict_hooks",
    "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks", "_forward_hooks_with_kwargs", "_state_dict_pre_hooks",
)  # fmt: skip


def delete_attribute(machine: Machine, self: Instance, name: str) -> None:
    for table in ("_parameters", "_buffers", "_modules"):
        if name in self.attrs.get(table, ()):
            del self.attrs[table][name]
            return
    if name not in self.attrs:
        machine.fail("AttributeError", f"'{self.cls.name}' object has no attribute '{name}'")
    del self.attrs[name]


def register_parameter(machine: Machine, self: Instance, name: Value, param: Value = None) -> None:
    if type(name) is Unknown:
        machine.taint(f"a parameter under an unknown name: {name.reason}")
        return
    parameters = self.attrs.get("_parameters")
    if parameters is None:
        machine.fail("AttributeError", "cannot assign parameter before Module.__init__() call")
    if name in self.attrs and name not in parameters:
        machine.fail("KeyError", f"attribute '{name}' already exists")
    if type(param) is Unknown:
        machine.taint(f"parameter {name} is unknown: {param.reason}")
        param = None
    parameters[name] = param


def register_buffer(
    machine: Machine, self: Instance, name: Value, tensor: Value = None, persistent: Value = True
) -> None:
    if type(name) is Unknown:
        machine.taint(f"a buffer under an unknown name: {name.reason}")
        return
    buffers = self.attrs.get("_buffers")
    if buffers is None:
        machine.fail("AttributeError", "cannot assign buffer before Module.__init__() call")
    if name in self.attrs and name not in buffers:
        machine.fail("KeyError", f"attribute '{name}' already exists")
    if type(tensor) is Unknown:
        tensor = new_tensor(machine, None, reason=tensor.reason)
    elif tensor is not None and not isinstance(tensor, Tensor):
        machine.fail("TypeError", f"cannot assign '{machine.type_of(tensor).name}' object to buffer '{name}'")
    buffers[name] = tensor
    if persistent is False or persistent == 0:
        self.attrs["_non_persistent_buffers_set"].add(name)
    else:
        self.attrs["_non_persistent_buffers_set"].discard(name)


def add_module(machine: Machine, self: Instance, name: Value, module: Value = None) -> None:
    if type(name) is Unknown or type(module) is Unknown:
        machine.taint(f"a submodule is unknown: {(name if type(name) is Unknown else module).reason}")
        return
    modules = self.attrs.get("_modules")
    if modules is None:
        machine.fail("AttributeError", "cannot assign module before Module.__init__() call")
    if not isinstance(name, str):
        machine.fail("TypeError", f"module name should be a string. Got {machine.type_of(name).name}")
    if "." in name or name == "":
        machine.fail("KeyError", f'module name can\'t contain "." or be empty, got: {name}')
    if module is not None and not machine.is_module(module):
        machine.fail("TypeError", f"{machine.type_of(module).name} is not a Module subclass")
    if name in self.attrs and name not in modules:
        machine.fail("KeyError", f"attribute '{name}' already exists")
    modules[name] = module
    note_place(machine, self, name)


# walks


def children_of(module: Instance) -> Iterator[tuple[str, Instance]]:
    seen: set[int] = set()
    for name, child in module.attrs.get("_modules", {}).items():
        if child is not None and id(child) not in seen:
            seen.add(id(child))
            yield name, child


def walk_modules(module: Instance, prefix: str, seen: set[int] | None) -> Iterator[tuple[str, Instance]]:
    """``named_modules``; ``seen`` is None to keep duplicates."""
    if seen is not None:
        if id(module) in seen:
            return
        seen.add(id(module))
    module.cls.machine.meter.work(1 + (len(prefix) >> 7))
    yield prefix, module
    for name, child in list(module.attrs.get("_modules", {}).items()):
        if child is not None:
            yield from walk_modules(child, f"{prefix}.{name}" if prefix else name, seen)


def named_members(
    machine: Machine, module: Instance, table: str, prefix: str = "", recurse: bool = True, unique: bool = True
) -> list[tuple[str, Tensor]]:
    found: list[tuple[str, Tensor]] = []
    seen: set[int] = set()
    owners = walk_modules(module, prefix, set() if unique else None) if recurse else iter([(prefix, module)])
    for owner_name, owner in owners:
        for name, tensor in owner.attrs.get(table, {}).items():
            if tensor is None or id(tensor) in seen:
                continue
            if unique:
                seen.add(id(tensor))
            found.append((f"{owner_name}.{name}" if owner_name else name, tensor))
    machine.meter.steps += len(found) // 8
    return found


def _named_parameters(table: str) -> Any:
    def call(
        machine: Machine,
        self: Instance,
        prefix: Value = "",
        recurse: Value = True,
        remove_duplicate: Value = True,
    ) -> Value:
        return iter(named_members(machine, self, table, prefix, bool(recurse), bool(remove_duplicate)))

    return call


def _parameters(machine: Machine, self: Instance, recurse: Value = True) -> Value:
    return iter([tensor for _, tensor in named_members(machine, self, "_parameters", "", bool(recurse))])


def _buffers(machine: Machine, self: Instance, recurse: Value = True) -> Value:
    return iter([tensor for _, tensor in named_members(machine, self, "_buffers", "", bool(recurse))])


def _named_modules(
    machine: Machine, self: Instance, memo: Value = None, prefix: Value = "", remove_duplicate: Value = True
) -> Value:
    return iter(list(walk_modules(self, prefix, set() if remove_duplicate else None)))


def _state_dict(machine: Machine, self: Instance, *args: Value, **kwargs: Value) -> Value:
    result: OrderedDict[str, Value] = OrderedDict()
    for prefix, owner in walk_modules(self, "", None):
        hidden = owner.attrs.get("_non_persistent_buffers_set", ())
        for table in ("_parameters", "_buffers"):
            for name, tensor in owner.attrs.get(table, {}).items():
                if tensor is not None and (table == "_parameters" or name not in hidden):
                    result[f"{prefix}.{name}" if prefix else name] = tensor
    return result


def _apply(machine: Machine, self: Instance, function: Value) -> Value:
    for child in [child for _, child in children_of(self)]:
        machine.call(machine.get_attr(child, "apply"), [function], {})
    machine.call(function, [self], {})
    return self


def _get_submodule(machine: Machine, self: Instance, target: Value) -> Value:
    found: Value = self
    for name in target.split(".") if target else ():
        found = machine.get_attr(found, name)
    return found


def _set_submodule(machine: Machine, self: Instance, target: str, module: Value, *args: Value) -> None:
    parent, _, name = target.rpartition(".")
    machine.set_attr(_get_submodule(machine, self, parent), name, module)


def _same(machine: Machine, self: Instance, *args: Value, **kwargs: Value) -> Value:
    return self


def _nothing(machine: Machine, self: Instance, *args: Value, **kwargs: Value) -> None:
    return None


def _requires_grad(machine: Machine, self: Instance, requires_grad: Value = True) -> Value:
    for _, tensor in named_members(machine, self, "_parameters"):
        tensor.requires_grad = requires_grad
    return self


def _train(machine: Machine, self: Instance, mode: Value = True) -> Value:
    own = [child for _, child in children_of(self)]
    self.attrs["training"] = mode
    for child in own:
        if child.cls.lookup("train").__class__ is Function:
            try:
                machine.call(machine.get_attr(child, "train"), [mode], {})
            except Raised:
                continue
        else:
            _train(machine, child, mode)
    return self


def _eval(machine: Machine, self: Instance) -> Value:
    return machine.call(machine.get_attr(self, "train"), [False], {})


def call_forward(machine: Machine, self: Instance, *args: Value, **kwargs: Value) -> Value:
    """A forward pass while building: shapes only, and nothing in it counts against the result."""
    forward = machine.find_attr(self, "forward")
    if forward is MISSING or machine.state.get("forward depth", 0) > 40:
        return Unknown("a forward pass", data=True)
    taints, branches = list(machine.taints), dict(machine.branches)
    machine.state["forward depth"] = machine.state.get("forward depth", 0) + 1
    try:
        return machine.call(forward, list(args), kwargs)
    except (Raised, UnknownTruth):
        return Unknown("a forward pass", data=True)
    finally:
        machine.state["forward depth"] -= 1
        machine.taints[:] = taints
        machine.branches.clear()
        machine.branches.update(branches)


def _forward(machine: Machine, self: Instance, *args: Value, **kwargs: Value) -> Value:
    return Unknown("a forward pass", data=True)


def _hook(machine: Machine, self: Instance, *args: Value, **kwargs: Value) -> Value:
    return Unknown("a hook", data=True)


def _load(machine: Machine, self: Instance, *args: Value, **kwargs: Value) -> Value:
    return Unknown("the result of loading weights", data=True)


METHODS: dict[str, Callable[..., Value]] = {
    "__init__": initialize,
    "__setattr__": set_attribute,
    "__getattr__": get_attribute,
    "__delattr__": delete_attribute,
    "__call__": call_forward,
    "_call_impl": call_forward,
    "_wrapped_call_impl": call_forward,
    "forward": _forward,
    "register_parameter": register_parameter,
    "register_buffer": register_buffer,
    "add_module": add_module,
    "register_module": add_module,
    "parameters": _parameters,
    "named_parameters": _named_parameters("_parameters"),
    "buffers": _buffers,
    "named_buffers": _named_parameters("_buffers"),
    "children": lambda machine, self: iter([child for _, child in children_of(self)]),
    "named_children": lambda machine, self: iter(list(children_of(self))),
    "modules": lambda machine, self: iter([each for _, each in walk_modules(self, "", set())]),
    "named_modules": _named_modules,
    "state_dict": _state_dict,
    "load_state_dict": _load,
    "apply": _apply,
    "get_submodule": _get_submodule,
    "set_submodule": _set_submodule,
    "get_parameter": _get_submodule,
    "get_buffer": _get_submodule,
    "train": _train,
    "eval": _eval,
    "requires_grad_": _requires_grad,
    "extra_repr": lambda machine, self: "",
    "_get_name": lambda machine, self: self.cls.name,
    "__repr__": lambda machine, self: f"{self.cls.name}()",
    "zero_grad": _nothing,
    "compile": _nothing,
    "reset_parameters": _nothing,
    "_reset_parameters": _nothing,
    "share_memory": _same,
    "_replicate_for_data_parallel": _same,
    "get_extra_state": _nothing,
    "set_extra_state": _nothing,
    "_load_from_state_dict": _nothing,
    "_save_to_state_dict": _nothing,
    "_named_members": lambda machine, self, function, prefix="", recurse=True, remove_duplicate=True: Unknown(
        "members"
    ),
    "__dir__": lambda machine, self: sorted([*self.attrs, *self.attrs["_modules"], *self.attrs["_parameters"]]),
    **dict.fromkeys(
        ("to", "cuda", "cpu", "float", "double", "half", "bfloat16", "type", "to_empty", "xpu", "ipu", "_apply"), _same
    ),
    **dict.fromkeys(
        (
            "register_forward_hook",
            "register_forward_pre_hook",
            "register_full_backward_hook",
            "register_full_backward_pre_hook",
            "register_backward_hook",
            "register_state_dict_pre_hook",
            "register_state_dict_post_hook",
            "register_load_state_dict_pre_hook",
            "register_load_state_dict_post_hook",
            "_register_state_dict_hook",
            "_register_load_state_dict_pre_hook",
        ),
        _hook,
    ),
}


def layer_class(
    machine: Machine,
    name: str,
    function: Callable[..., None],
    module: str = "torch.nn",
    bases: tuple[Class, ...] | None = None,
    methods: Mapping[str, Callable[..., Value]] | None = None,
) -> Class:
    """A layer whose ``__init__`` is ours: ``function(machine, self, ...)`` runs after ``Module.__init__``."""
    import functools

    @functools.wraps(function)
    def begin(machine: Machine, self: Instance, *args: Value, **kwargs: Value) -> None:
        initialize(machine, self)
        function(machine, self, *args, **kwargs)

    namespace: dict[str, Value] = {"__init__": method("__init__", begin)}
    namespace.update({key: method(key, value) for key, value in (methods or {}).items()})
    return Class(machine, name, bases or (module_class(machine),), namespace, module)
