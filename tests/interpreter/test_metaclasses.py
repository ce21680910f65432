"""What a metaclass does when a class is made: tables of classes, of instances by name."""

from __future__ import annotations

from neurarch_schemas.interpreter import interpret

MODEL = """
import inspect
import torch
import torch.nn as nn


class Named(type):
    def __init__(cls, *args):
        cls.made = {}
        assert "name" in inspect.getfullargspec(cls)[0]
        super().__init__(*args)

    def __call__(cls, *args, **kwargs):
        instance = super().__call__(*args, **kwargs)
        cls.made[instance.name] = instance
        return instance


class Plain:
    def __init__(self, name):
        self.name = name


class Mixin(metaclass=Named):
    def __init__(self, name="", **options):
        pass


class Log(Plain, Mixin):
    def __init__(self, name):
        Plain.__init__(self, name)
        Mixin.__init__(self, name)


class Registering(type):
    kinds = {}

    def __init__(cls, name, bases, namespace, prefix="", **options):
        super().__init__(name, bases, namespace)
        Registering.kinds[prefix + name.lower()] = cls


class Block(nn.Module, metaclass=Registering):
    def __init__(self, width):
        super().__init__()
        self.inner = nn.Linear(width, width, bias=False)


class Wide(Block, prefix="very_"):
    def __init__(self, width):
        super().__init__(2 * width)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        Log("first")
        Log("second")
        self.block = Registering.kinds["very_wide"](len(Log.made))


class Unfinished(nn.Module):
    def __init__(self, sizes=torch.load("sizes.pt")):
        for size in sizes:
            super().__init__()
        self.inner = nn.Linear(1, 1)
"""


def test_the_metaclass_initializes_its_classes() -> None:
    found = interpret(MODEL, "Model()")
    assert found.exact, found.reason
    assert found.tree is not None
    assert found.tree.children[0][1].children[0][1].tensors[0].shape == (4, 4)


def test_an_error_that_follows_from_something_unknown_names_both() -> None:
    reason = interpret(MODEL, "Unfinished()").reason or ""
    assert "a loop over an unknown value" in reason
    assert reason.index("loop") < reason.index("AttributeError")


SLOTTED = """
from dataclasses import dataclass
import attr
import torch.nn as nn


class Configured(nn.Module):
    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        if "Config" in cls.__dict__ and "__slots__" not in cls.__dict__["Config"].__dict__:
            raise TypeError("Config must have slots")


class Model(Configured):
    @dataclass(kw_only=True, slots=True)
    class Config:
        width: int = 3

    def __init__(self, config=None):
        super().__init__()
        self.inner = nn.Linear((config or self.Config()).width, 1)


@attr.s
class Attributes(nn.Module):
    width = attr.ib()
"""


def test_a_dataclass_with_slots_says_so() -> None:
    found = interpret(SLOTTED, "Model()")
    assert found.exact, found.reason


def test_a_reason_names_no_file_of_ours() -> None:
    reason = interpret(SLOTTED, "Attributes()").reason or ""
    assert "'width'" in reason
    assert ".txt" not in reason
