"""Models as single-file repositories write them: settings from a command line, a YAML file, a dictionary or a class."""

import argparse
import contextvars
import functools
import inspect
import json
import operator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

import attr
import attrs
import hydra.utils
import numpy as np
import torch
from addict import Dict as Addict
from easydict import EasyDict
from ml_collections import ConfigDict
from omegaconf import OmegaConf
from pydantic import BaseModel, Field, field_validator, model_validator
from torch import nn
from yacs.config import CfgNode as CN

T = TypeVar("T")

parser = argparse.ArgumentParser(description="a small model")
parser.add_argument("--d-model", type=int, default=24)
parser.add_argument("--layers", "-l", type=int, default="3", dest="n_layer")
parser.add_argument("--bias", action="store_true")
parser.add_argument("--no-norm", action="store_false", dest="norm")
group = parser.add_argument_group("sizes")
group.add_argument("--ratio", type=float, default=2.5)
group.add_argument("--dims", nargs="+", type=int, default=[4, 5])
parser.set_defaults(vocab=30)
args = parser.parse_args([])


class Namespace(dict[str, Any]):
    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


class Block(nn.Module, Generic[T]):
    def __init__(self, dim, hidden, bias=True):
        super().__init__()
        self.up = nn.Linear(dim, hidden, bias=bias)
        self.down = nn.Linear(hidden, dim, bias=bias)


class Wide(Block[int]):
    pass


class Model(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embed = nn.Embedding(config.vocab, config.d_model)
        hidden = int(config.d_model * config.ratio)
        self.blocks = nn.ModuleList(Wide(config.d_model, hidden, config.bias) for _ in range(config.n_layer))
        self.norm = nn.LayerNorm(config.d_model) if config.norm else None
        self.heads = nn.ModuleList(nn.Linear(config.d_model, size) for size in config.dims)


BASE = {"vocab": 20, "d_model": 16, "ratio": 2, "n_layer": 2, "bias": False, "norm": True, "dims": [3]}
yaml_text = """
size: 8
model:
  vocab: 50
  d_model: ${size}
  ratio: 1.5
  n_layer: 2
  bias: true
  norm: false
  dims: [2, "${model.vocab}"]
"""
open_conf = OmegaConf.create(yaml_text)
merged = OmegaConf.merge(open_conf, {"model": {"n_layer": 3}}, OmegaConf.from_dotlist(["size=12"]))


@dataclass
class Structured:
    vocab: int = 11
    d_model: int = 6
    ratio: float = 1.0
    n_layer: int = 1
    bias: bool = True
    norm: bool = True
    dims: list[int] = field(default_factory=lambda: [7])


class Sizes(BaseModel):
    vocab: int = Field(40, ge=1)
    dims: list[int] = Field(default_factory=lambda: [1, 2])


class Settings(Sizes):
    d_model: int = 10
    ratio: float = 3
    n_layer: int = 1
    bias: bool = False
    norm: bool = True
    inner: Sizes | None = None

    @field_validator("d_model")
    @classmethod
    def even(cls, value):
        return value + value % 2

    @model_validator(mode="after")
    def deepen(self):
        self.n_layer = self.n_layer + 1
        return self


@attr.s(auto_attribs=True)
class Old:
    d_model: int
    vocab: int = 9
    ratio: float = 2.0
    n_layer: int = attr.ib(default=2)
    bias: bool = True
    norm: bool = False
    dims: list = attr.Factory(lambda: [5, 6])


@attrs.define(kw_only=True)
class New(Old):
    extra: int = attrs.field(default=3, converter=int)

    def __attrs_post_init__(self):
        self.n_layer += self.extra


def collections(cls):
    made = cls(BASE) if cls is not Addict else cls(**BASE)
    made.d_model = 14
    made.inner = cls()
    made.inner.width = 4
    made.dims = [made.inner.width, made["vocab"]]
    return made


def tree():
    config = CN()
    config.MODEL = CN()
    config.MODEL.WIDTH = 5
    config.MODEL.DEPTH = 2
    config.merge_from_list(["MODEL.DEPTH", 3])
    return config.clone().MODEL


width = contextvars.ContextVar("width", default=6)


class Remembers(nn.Module):
    """Saves what it was called with, as training frameworks do."""

    def __init__(self, first=4, second=5, **rest):
        super().__init__()
        frame = inspect.currentframe()
        self.saved = {name: value for name, value in frame.f_locals.items() if name not in ("self", "__class__", "frame")}
        self.table = nn.Linear(self.saved["first"], self.saved["second"] + width.get() + len(frame.f_locals))


class Numeric(nn.Module):
    def __init__(self, size=12):
        super().__init__()
        spectrum = np.fft.rfft(np.eye(size))
        self.register_buffer("bank", torch.from_numpy(np.vstack([np.real(spectrum), np.imag(spectrum)])).float())
        self.register_buffer("window", torch.from_numpy(np.hanning(size + 1)[:-1]))
        frequencies = torch.linspace(0, 1, size)[:, None] * torch.ones(1, 4)
        best = frequencies.max(dim=1)
        self.register_buffer("best", best.values)
        self.complex = nn.Parameter(torch.view_as_real(torch.zeros(size, 3, dtype=torch.complex64)))
        self.picked = nn.Parameter(torch.zeros(size, 6)[:, [0, 2]])
        sizes = functools.reduce(operator.iconcat, [[2], [3, 4]], [])
        self.stack = nn.Sequential(*(nn.Linear(a, b) for a, b in zip(sizes[:-1], sizes[1:], strict=True)))
        turned = torch.zeros(2, 3)
        turned.t_()
        self.turned = nn.Parameter(turned)


class Planned(nn.Module):
    """Sizes chosen by arithmetic on small tensors."""

    def __init__(self, steps=4):
        super().__init__()
        h = torch.cumprod(torch.tensor([2, 3, 2]), dim=0)
        table = torch.stack([torch.ones_like(h), h, torch.full_like(h, h[-1])], dim=1)
        reduction = torch.log(torch.prod(table, dim=1).float())
        cost = torch.abs(torch.linspace(2, 5, steps).unsqueeze(1) - reduction.unsqueeze(0))
        picks = torch.argmin(cost, dim=1)
        picks[0] = 2
        chosen = table[picks]
        self.layers = nn.ModuleList(
            nn.Linear(int(a[1]), int(b[1]) + 1) for a, b in zip(chosen[:-1], chosen[1:], strict=True)
        )


class Focal(nn.modules.loss._WeightedLoss):
    def __init__(self, weight=None, gamma=2.0):
        super().__init__(weight)
        self.gamma = gamma


class Files(nn.Module):
    """Sizes from a file beside this one."""

    def __init__(self):
        super().__init__()
        folder = Path(__file__).resolve().parent
        names = sorted(each.stem for each in folder.iterdir() if each.is_file() and each.suffix == ".py")
        sizes = json.loads((folder / "sizes.json").read_text()) if (folder / "sizes.json").exists() else {}
        self.first = nn.Linear(sizes["first"], len([name for name in names if name in ("configured", "layers")]))


CONSTRUCTIONS = [
    "Model(args)",
    "Model(parser.parse_args(['--d-model', '12', '-l', '1', '--bias', '--no-norm', '--dims', '2', '3', '4']))",
    "Model(Namespace(BASE))",
    "Model(open_conf.model)",
    "Model(merged.model)",
    "Model(OmegaConf.structured(Structured))",
    "Model(OmegaConf.merge(OmegaConf.structured(Structured(n_layer=2)), {'d_model': 4}))",
    "Model(Settings())",
    "Model(Settings(d_model=7, inner={'vocab': 3}))",
    "nn.Linear(Settings(inner={'vocab': 3}).inner.vocab, Settings().model_dump()['vocab'])",
    "Model(Old(8))",
    "Model(New(d_model=4, vocab=3, extra='2'))",
    "Model(collections(EasyDict))",
    "Model(collections(Addict))",
    "Model(collections(ConfigDict))",
    "nn.Linear(tree().WIDTH, tree().DEPTH)",
    "hydra.utils.instantiate({'_target_': 'torch.nn.Sequential', '_args_': [{'_target_': 'torch.nn.Linear', "
    "'in_features': 3, 'out_features': 4}, {'_target_': 'torch.nn.Linear', 'in_features': 4, 'out_features': 5}]})",
    "Remembers()",
    "Remembers(second=8, other=1)",
    "Numeric()",
    "Numeric(9)",
    "Planned()",
    "Planned(6)",
    "Files()",
    "Block[int](3, 4)",
    "Focal(torch.ones(5))",
    "nn.NLLLoss(torch.ones(3))",
    "nn.BCELoss(weight=torch.ones(2))",
    "nn.MultiMarginLoss(1, 1.0, torch.ones(4))",
    "nn.BCEWithLogitsLoss(None, None, None, 'mean', torch.ones(6))",
    "nn.AdaptiveLogSoftmaxWithLoss(16, 100, [10, 40], div_value=2.0, head_bias=True)",
    "nn.Embedding.from_pretrained(torch.zeros(7, 3))",
]
