"""Constructors that use much of the language. Recorded by tools/record_python.py."""

from __future__ import annotations

import enum
import functools
import math
from abc import ABC, abstractmethod
from collections import namedtuple
from contextlib import contextmanager
from dataclasses import InitVar, dataclass, field
from functools import partial, wraps
from itertools import chain, islice, product
from typing import NamedTuple, Optional

import torch
import torch.nn.functional as F  # noqa: F401
from torch import nn

try:
    import a_package_that_is_absent as fast
except ImportError:
    fast = None


class Kind(str, enum.Enum):
    DENSE = "dense"
    SPARSE = "sparse"


class Size(enum.IntEnum):
    SMALL = 8
    LARGE = 32


class Stage(NamedTuple):
    width: int
    depth: int = 2


Pair = namedtuple("Pair", "left right")


@dataclass
class Base:
    width: int = 16
    kinds: list[str] = field(default_factory=lambda: ["dense", "sparse"])

    @property
    def inner(self):
        return find_multiple(int(8 * self.width / 3), 8)


@dataclass
class Config(Base):
    depth: int = 3
    ratio: InitVar[float] = 2.0
    experts: Optional[int] = None
    hidden: int = field(init=False)

    def __post_init__(self, ratio):
        self.hidden = round(self.width * ratio)

    @classmethod
    def named(cls, name, **changes):
        return cls(**{**PRESETS[name], **changes})


PRESETS = {"tiny": dict(width=8, depth=1), "small": {"width": 24, "depth": 2, "experts": 3}}


def find_multiple(n, k):
    return n if n % k == 0 else n + k - (n % k)


REGISTRY = {}


def register(name=None, *, bias=True):
    def wrap(cls):
        REGISTRY[name or cls.__name__.lower()] = partial(cls, bias=bias)
        return cls

    return wrap


def logged(function):
    @wraps(function)
    def inner(*args, **kwargs):
        return function(*args, **kwargs)

    return inner


class Layer(nn.Module, ABC):
    count = 0

    def __init__(self, width, **kwargs):
        super().__init__()
        type(self).count += 1
        self.width = width
        self.build(**kwargs)

    @abstractmethod
    def build(self, **kwargs): ...

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        cls.tag = cls.__name__.lower()


@register("dense")
class Dense(Layer):
    def build(self, bias=True, hidden=None):
        hidden = hidden or 4 * self.width
        self.up, self.down = nn.Linear(self.width, hidden, bias), nn.Linear(hidden, self.width, bias)


@register(bias=False)
class Sparse(Layer):
    def build(self, bias=True, experts=4, **unused):
        self.gate = nn.Parameter(torch.empty(experts, self.width))
        self.experts = nn.ModuleList(Dense(self.width, bias=bias, hidden=2 * self.width) for _ in range(experts))
        nn.init.kaiming_uniform_(self.gate, a=math.sqrt(5))


class Model(nn.Module):
    def __init__(self, config: Config, norm=partial(nn.LayerNorm, eps=1e-6)):
        super().__init__()
        self.config = config
        rates = [rate.item() for rate in torch.linspace(0, 0.1, config.depth)]
        layers = []
        for index, rate in enumerate(rates):
            kind = Kind(config.kinds[index % len(config.kinds)])
            layer = REGISTRY[kind.value](config.width)
            layers += [nn.Dropout(rate) if rate > 0.0 else nn.Identity(), layer]
            if (last := index == config.depth - 1) and not fast:
                layers.append(norm(config.width))
        self.layers = nn.Sequential(*layers)
        for name, size in zip(("q", "k"), (config.inner, config.hidden), strict=True):
            setattr(self, f"{name}_proj", nn.Linear(config.width, size, bias=last))
        self.apply(self._init)

    @torch.no_grad()
    def _init(self, module):
        if isinstance(module, nn.Linear):
            module.weight.normal_(0, 0.02)


class Walker(nn.Module):
    """Generators, closures, exceptions, comprehensions."""

    def __init__(self, *sizes, limit=None, **extra):
        super().__init__()

        def pairs():
            previous = None
            try:
                for size in sizes:
                    if previous is not None:
                        yield Pair(previous, size)
                    previous = size
            finally:
                self.done = True

        self.steps = nn.ModuleList([nn.Linear(*pair) for pair in islice(pairs(), limit)])
        total = 0

        def add(value):
            nonlocal total
            total += value
            return total

        self.sums = nn.ParameterList(nn.Parameter(torch.zeros(add(size))) for size in sizes)
        try:
            width = extra["width"]
        except KeyError as error:
            width = len(error.args[0])
        else:
            width *= 2
        with self.scope() as bonus:
            width += bonus
        match sizes:
            case [first, *_, final] if first < final:
                shape = (final, first)
            case _:
                shape = (1,)
        self.last = nn.Parameter(torch.cat([torch.zeros(width, 2), torch.ones(1, 2)]))
        self.matched = nn.Parameter(torch.randn(shape))
        self.grid = nn.ModuleDict({f"{a}{b}": nn.Linear(a, b) for a, b in product((1, 2), repeat=2) if a != b})
        head, *middle, tail = [*sizes, 5]
        self.rest = nn.Linear(head + sum(middle), tail)
        while width > 3:
            width //= 2
        else:
            self.loop = nn.Linear(width, width)

    @contextmanager
    def scope(self):
        yield 3


class Meta(nn.Module):
    def __new__(cls, kind, *args):
        return super().__new__(Special if kind == "special" else cls)

    def __init__(self, kind, width):
        super().__init__()
        self.inner = nn.Linear(width, self.factor * width)

    factor = 2

    def __getattr__(self, name):
        if name == "alias":
            return self.inner
        return super().__getattr__(name)


class Special(Meta):
    factor = 3

    def __init__(self, kind, width):
        super().__init__(kind, width)
        self.extra = nn.Linear(self.alias.out_features, 1)


class Reuses(nn.Module):
    def __init__(self, stages=(Stage(4), Stage(8, 3))):
        super().__init__()
        self.stages = nn.ModuleList()
        for width, depth in stages:
            self.stages.append(nn.Sequential(*(nn.Conv2d(width, width, 3) for _ in range(depth))))
        self.flat = nn.ModuleList(chain.from_iterable(self.stages))
        self.size = nn.Linear(Size.SMALL, Size.LARGE)
        self.big = nn.Linear(max(Size), functools.reduce(lambda a, b: a * b, [2, 3, 4]))
        hooks = list(map(lambda m: m.kernel_size, filter(lambda m: isinstance(m, nn.Conv2d), self.modules())))
        self.count = nn.Linear(len(hooks), sum(p.numel() for p in self.parameters() if p.ndim > 1) % 97)


CONSTRUCTIONS = [
    "Model(Config())",
    "Model(Config(width=12, ratio=1.5))",
    "Model(Config.named('tiny'))",
    "Model(Config.named('small', kinds=['sparse']), norm=nn.RMSNorm)",
    "Walker(2, 3, 4)",
    "Walker(5, 3, 4, limit=1, width=4)",
    "Meta('plain', 3)",
    "Meta('special', 3)",
    "Reuses()",
    "Reuses([Stage(2, depth=1)])",
    "REGISTRY['sparse'](6, experts=2)",
    "nn.Sequential(*[Dense(w) for w in range(1, 4)], nn.Identity())",
]
