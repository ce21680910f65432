"""Sequential, ModuleList, ModuleDict, ParameterList and ParameterDict."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from neurarch_schemas.interpreter.torch_nn.base import (
    add_module,
    is_parameter,
    layer_class,
    new_parameter,
    register_parameter,
)
from neurarch_schemas.interpreter.torch_nn.tensor import Tensor
from neurarch_schemas.interpreter.values import Class, Instance, Unknown, UnknownTruth, Value

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine


def _pairs(machine: Machine, source: Value) -> list[tuple[Value, Value]]:
    if isinstance(source, dict):
        return list(dict.items(source))
    if isinstance(source, Instance):
        found = machine.find_attr(source, "items")
        return [tuple(machine.iterate(pair)) for pair in machine.iterate(machine.call(found, [], {}))]
    return [tuple(machine.iterate(pair)) for pair in machine.iterate(source)]


def sequential(machine: Machine, self: Instance, *args: Value) -> None:
    if len(args) == 1 and isinstance(args[0], dict):
        for name, module in args[0].items():
            machine.call(machine.get_attr(self, "add_module"), [name, module], {})
    else:
        for index, module in enumerate(args):
            machine.call(machine.get_attr(self, "add_module"), [str(index), module], {})


def module_list(machine: Machine, self: Instance, modules: Value = None) -> None:
    if modules is not None:
        _extend(machine, self, modules)


def _extend(machine: Machine, self: Instance, modules: Value) -> Value:
    try:
        items = list(machine.iterate(modules))
    except UnknownTruth as error:
        machine.taint(f"a list of modules is unknown: {error.unknown.reason}")
        return self
    start = len(self.attrs["_modules"])
    for index, module in enumerate(items):
        add_module(machine, self, str(start + index), module)
    return self


def _append(machine: Machine, self: Instance, module: Value) -> Value:
    add_module(machine, self, str(len(self.attrs["_modules"])), module)
    return self


def _insert(machine: Machine, self: Instance, index: Value, module: Value) -> Value:
    items = list(self.attrs["_modules"].values())
    items.insert(index, module)
    self.attrs["_modules"] = {str(place): item for place, item in enumerate(items)}
    return self


def _place(machine: Machine, self: Instance, index: Value) -> str:
    names = list(self.attrs["_modules"])
    if isinstance(index, Tensor):
        index = index.interpreted_item(machine)
    if type(index) is Unknown:
        raise UnknownTruth(index)
    if not isinstance(index, int):
        machine.fail("TypeError", "indices must be integers or slices")
    if not -len(names) <= index < len(names):
        machine.fail("IndexError", f"index {index} is out of range")
    return str(names[index])


def _get(machine: Machine, self: Instance, index: Value) -> Value:
    modules = self.attrs["_modules"]
    if isinstance(index, slice):
        if any(type(part) is Unknown for part in (index.start, index.stop, index.step)):
            return Unknown("a slice of modules")
        chosen = list(modules.items())[index]
        if any(base.name == "Sequential" for base in self.cls.mro):
            from collections import OrderedDict

            return machine.call(self.cls, [OrderedDict(chosen)], {})
        return machine.call(self.cls, [[module for _, module in chosen]], {})
    if isinstance(index, str) and index in modules:
        return modules[index]
    return modules[_place(machine, self, index)]


def _set(machine: Machine, self: Instance, index: Value, module: Value) -> None:
    name = index if isinstance(index, str) else _place(machine, self, index)
    machine.set_attr(self, name, module)


def _delete(machine: Machine, self: Instance, index: Value) -> None:
    modules = self.attrs["_modules"]
    if isinstance(index, slice):
        for name in list(modules)[index]:
            del modules[name]
    else:
        del modules[_place(machine, self, index)]
    self.attrs["_modules"] = {str(place): module for place, module in enumerate(modules.values())}


def _pop(machine: Machine, self: Instance, key: Value = -1) -> Value:
    found = _get(machine, self, key)
    _delete(machine, self, key)
    return found


def _add(machine: Machine, self: Instance, other: Value) -> Value:
    items = [*self.attrs["_modules"].values(), *machine.iterate(other)]
    cls = self.cls
    if any(base.name == "Sequential" for base in cls.mro):
        return machine.call(cls, items, {})
    return machine.call(cls, [items], {})


def _iterate(machine: Machine, self: Instance) -> Value:
    return iter(list(self.attrs["_modules"].values()))


def _length(machine: Machine, self: Instance) -> int:
    return len(self.attrs["_modules"])


def _sequential_forward(machine: Machine, self: Instance, value: Value) -> Value:
    for module in self.attrs["_modules"].values():
        value = machine.call(module, [value], {})
    return value


# ModuleDict


def module_dict(machine: Machine, self: Instance, modules: Value = None) -> None:
    if modules is not None:
        _dict_update(machine, self, modules)


def _dict_update(machine: Machine, self: Instance, modules: Value) -> None:
    if type(modules) is Unknown:
        machine.taint(f"a dictionary of modules is unknown: {modules.reason}")
        return
    for name, module in _pairs(machine, modules):
        add_module(machine, self, name, module)


def _dict_get(machine: Machine, self: Instance, key: Value) -> Value:
    if type(key) is Unknown:
        return Unknown(key.reason)
    if key not in self.attrs["_modules"]:
        machine.fail("KeyError", str(key))
    return self.attrs["_modules"][key]


def _dict_pop(machine: Machine, self: Instance, key: Value) -> Value:
    found = _dict_get(machine, self, key)
    del self.attrs["_modules"][key]
    return found


_DICT: dict[str, Callable[..., Value]] = {
    "__getitem__": _dict_get,
    "__setitem__": lambda machine, self, key, module: add_module(machine, self, key, module),
    "__delitem__": lambda machine, self, key: _dict_pop(machine, self, key) and None,
    "__len__": _length,
    "__iter__": lambda machine, self: iter(list(self.attrs["_modules"])),
    "__contains__": lambda machine, self, key: key in self.attrs["_modules"],
    "keys": lambda machine, self: list(self.attrs["_modules"]),
    "values": lambda machine, self: list(self.attrs["_modules"].values()),
    "items": lambda machine, self: list(self.attrs["_modules"].items()),
    "update": _dict_update,
    "pop": _dict_pop,
    "clear": lambda machine, self: self.attrs["_modules"].clear(),
}

_LIST: dict[str, Callable[..., Value]] = {
    "__getitem__": _get,
    "__setitem__": _set,
    "__delitem__": _delete,
    "__len__": _length,
    "__iter__": _iterate,
    "__contains__": lambda machine, self, item: any(item is each for each in self.attrs["_modules"].values()),
    "__add__": _add,
    "__iadd__": lambda machine, self, other: _extend(machine, self, other),
    "append": _append,
    "extend": _extend,
    "insert": _insert,
    "pop": _pop,
}


# parameters


def parameter_list(machine: Machine, self: Instance, values: Value = None) -> None:
    self.attrs["_size"] = 0
    if values is not None:
        _parameters_extend(machine, self, values)


def _as_parameter(machine: Machine, value: Value) -> Value:
    """Plain tensors become parameters when put into a list of them."""
    if isinstance(value, Tensor) and not is_parameter(value):
        return new_parameter(machine, value.shape, value.reason)
    return value


def _parameters_append(machine: Machine, self: Instance, value: Value) -> Value:
    index = self.attrs["_size"]
    self.attrs["_size"] = index + 1
    machine.set_attr(self, str(index), _as_parameter(machine, value))
    return self


def _parameters_extend(machine: Machine, self: Instance, values: Value) -> Value:
    if type(values) is Unknown:
        machine.taint(f"a list of parameters is unknown: {values.reason}")
        return self
    for value in list(machine.iterate(values)):
        _parameters_append(machine, self, value)
    return self


def _parameters_get(machine: Machine, self: Instance, index: Value) -> Value:
    size = self.attrs["_size"]
    if isinstance(index, slice):
        return [machine.get_attr(self, str(place)) for place in range(size)[index]]
    if not -size <= index < size:
        machine.fail("IndexError", f"index {index} is out of range")
    return machine.get_attr(self, str(index % size))


_PARAMETERS: dict[str, Callable[..., Value]] = {
    "__getitem__": _parameters_get,
    "__setitem__": lambda machine, self, index, value: machine.set_attr(
        self, str(index), _as_parameter(machine, value)
    ),
    "__len__": lambda machine, self: self.attrs["_size"],
    "__iter__": lambda machine, self: iter([machine.get_attr(self, str(i)) for i in range(self.attrs["_size"])]),
    "__iadd__": _parameters_extend,
    "append": _parameters_append,
    "extend": _parameters_extend,
}


def parameter_dict(machine: Machine, self: Instance, parameters: Value = None) -> None:
    self.attrs["_keys"] = {}
    if parameters is not None:
        for key, value in _pairs(machine, parameters):
            _parameter_set(machine, self, key, value)


def _parameter_set(machine: Machine, self: Instance, key: Value, value: Value) -> None:
    value = _as_parameter(machine, value)
    self.attrs["_keys"][key] = None
    if is_parameter(value):
        self.attrs["_parameters"].pop(str(key), None)
        register_parameter(machine, self, str(key), value)
    else:
        machine.set_attr(self, str(key), value)


def _parameters_update(machine: Machine, self: Instance, other: Value) -> None:
    for key, value in _pairs(machine, other):
        _parameter_set(machine, self, key, value)


_PARAMETER_DICT: dict[str, Callable[..., Value]] = {
    "__getitem__": lambda machine, self, key: machine.get_attr(self, str(key)),
    "__setitem__": _parameter_set,
    "__len__": lambda machine, self: len(self.attrs["_keys"]),
    "__iter__": lambda machine, self: iter(list(self.attrs["_keys"])),
    "__contains__": lambda machine, self, key: key in self.attrs["_keys"],
    "keys": lambda machine, self: list(self.attrs["_keys"]),
    "values": lambda machine, self: [machine.get_attr(self, str(key)) for key in self.attrs["_keys"]],
    "items": lambda machine, self: [(key, machine.get_attr(self, str(key))) for key in self.attrs["_keys"]],
    "update": lambda machine, self, other: _parameters_update(machine, self, other),
}


def container_classes(machine: Machine) -> dict[str, Class]:
    return {
        "Sequential": layer_class(machine, "Sequential", sequential, methods={"forward": _sequential_forward, **_LIST}),
        "ModuleList": layer_class(machine, "ModuleList", module_list, methods=_LIST),
        "ModuleDict": layer_class(machine, "ModuleDict", module_dict, methods=_DICT),
        "ParameterList": layer_class(machine, "ParameterList", parameter_list, methods=_PARAMETERS),
        "ParameterDict": layer_class(machine, "ParameterDict", parameter_dict, methods=_PARAMETER_DICT),
        "Container": layer_class(machine, "Container", lambda machine, self: None),
    }
