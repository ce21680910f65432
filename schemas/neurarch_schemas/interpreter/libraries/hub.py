"""huggingface_hub: downloads are off; its strict dataclasses check types, which changes no shape."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurarch_schemas.interpreter.libraries.dataclass import _find
from neurarch_schemas.interpreter.libraries.library import module, unknown_data
from neurarch_schemas.interpreter.values import MISSING, Builtin, Class, Instance, PythonModule, Unknown, Value

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine


def build(machine: Machine, name: str) -> PythonModule:
    if name == "huggingface_hub.dataclasses":
        return module(
            name,
            {
                "strict": _strict,
                "as_validated_field": lambda machine, validator: Builtin("validated_field", _validated_field),
                "validated_field": _validated_field,
                "validate_typed_dict": lambda machine, *args, **kwargs: None,
                "StrictDataclassError": machine.builtins["ValueError"],
            },
        )
    if name == "huggingface_hub.constants":
        return module(
            name,
            {"HF_HUB_OFFLINE": True, "HF_HOME": "/", "HF_HUB_CACHE": "/", "HF_TOKEN_PATH": "/"},
            unknown_data(name),
        )
    mixin = Class(machine, "PyTorchModelHubMixin", (), {}, "huggingface_hub")
    for key in ("save_pretrained", "push_to_hub", "_save_pretrained", "generate_model_card"):
        mixin.namespace[key] = Builtin(key, lambda machine, self, *args, **kwargs: None, binds=True)
    for key in ("from_pretrained", "_from_pretrained"):
        mixin.namespace[key] = Builtin(key, lambda machine, *args, **kwargs: Unknown("a downloaded model"))
    mixin.namespace["_hub_mixin_config"] = Unknown("the arguments of the constructor", data=True)
    return module(
        name, {"PyTorchModelHubMixin": mixin, "ModelHubMixin": mixin, "__version__": "2.4.0"}, unknown_data(name)
    )


def _validated_field(machine: Machine, *args: Value, **kwargs: Value) -> Value:
    field = machine.module_attr(machine.import_module("dataclasses"), "field")
    allowed = ("default", "default_factory", "init", "repr", "hash", "compare", "metadata", "kw_only")
    return machine.call(field, [], {key: value for key, value in kwargs.items() if key in allowed})


def _strict(machine: Machine, cls: Value = None, *, accept_kwargs: Value = False) -> Value:
    if cls is None:
        return Builtin("strict", lambda machine, cls: _strict(machine, cls, accept_kwargs=accept_kwargs))
    if not isinstance(cls, Class) or not accept_kwargs:
        return cls
    own = cls.namespace.get("__init__", MISSING)
    if own is MISSING:
        return cls

    def initialize(machine: Machine, self: Instance, *args: Value, **kwargs: Value) -> None:
        layout = _find(machine, self.cls)
        names = set(layout.fields) if layout is not None else set(kwargs)
        known = {key: value for key, value in kwargs.items() if key in names}
        extra = {key: value for key, value in kwargs.items() if key not in names}
        after = self.cls.lookup("__post_init__")
        if after is MISSING or not extra:
            machine.call_method(self, own, list(args), known)
        else:
            # the fields first, then __post_init__ with what is left over
            self.attrs["<extra>"] = extra
            machine.call_method(self, own, list(args), known)
        for key, value in extra.items():
            if key not in self.attrs:
                machine.set_attr(self, key, value)

    cls.namespace["__init__"] = Builtin("__init__", initialize, binds=True)
    return cls
