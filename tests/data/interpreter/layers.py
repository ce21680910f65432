"""Every layer of torch.nn that holds tensors, one construction a line of CONSTRUCTIONS. Recorded by tools/record_python.py."""

import copy
from collections import OrderedDict

import torch
from torch import nn
from torch.nn.utils import parametrizations, parametrize, spectral_norm, weight_norm


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(11, 4)
        self.head = nn.Linear(4, 11, bias=False)
        self.head.weight = self.embed.weight


class Shared(nn.Module):
    def __init__(self):
        super().__init__()
        block = nn.Linear(3, 3)
        self.layers = nn.ModuleList([block] * 4)
        self.copies = nn.ModuleList([copy.deepcopy(block) for _ in range(3)])


class Registers(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("kept", torch.zeros(3, 4))
        self.register_buffer("dropped", torch.ones(5), persistent=False)
        self.register_buffer("none", None)
        self.register_parameter("absent", None)
        self.register_parameter("scale", nn.Parameter(torch.ones(7)))
        self.add_module("inner", nn.Linear(2, 2))
        self.late = nn.Linear(1, 1)
        self.late = None
        self.gone = nn.Linear(9, 9)
        del self.gone
        self.plain = [nn.Linear(8, 8)]
        self.tensor = torch.randn(6)


class Negative(nn.Module):
    def forward(self, value):
        return -value


def doubled():
    layer = nn.Linear(3, 5)
    parametrize.register_parametrization(layer, "weight", Negative())
    return layer


CONSTRUCTIONS = [
    "nn.Linear(3, 5)",
    "nn.Linear(3, 5, bias=False)",
    "nn.Bilinear(3, 4, 5)",
    "nn.Embedding(10, 4, padding_idx=-1)",
    "nn.EmbeddingBag(10, 4)",
    "nn.Conv1d(4, 8, 3, groups=2)",
    "nn.Conv2d(4, 8, (3, 5), bias=False)",
    "nn.Conv3d(4, 8, 3, groups=4, dilation=2)",
    "nn.ConvTranspose1d(4, 8, 3, groups=2)",
    "nn.ConvTranspose2d(4, 8, 2, 2)",
    "nn.ConvTranspose3d(4, 6, 3, bias=False)",
    "nn.BatchNorm1d(6)",
    "nn.BatchNorm2d(6, affine=False)",
    "nn.BatchNorm3d(6, track_running_stats=False)",
    "nn.SyncBatchNorm(6)",
    "nn.BatchNorm2d(6, bias=False)",
    "nn.BatchNorm1d(6, affine=False, bias=True)",
    "nn.SyncBatchNorm(6, bias=False, track_running_stats=False)",
    "nn.InstanceNorm2d(6, affine=True, bias=False)",
    "nn.GroupNorm(2, 6, bias=False)",
    "nn.ParameterDict(parameters={'a': nn.Parameter(torch.ones(3))})",
    "nn.InstanceNorm1d(6)",
    "nn.InstanceNorm2d(6, affine=True)",
    "nn.InstanceNorm3d(6, affine=True, track_running_stats=True)",
    "nn.GroupNorm(2, 6)",
    "nn.LayerNorm(6)",
    "nn.LayerNorm((2, 3), bias=False)",
    "nn.LayerNorm(6, elementwise_affine=False)",
    "nn.RMSNorm(6)",
    "nn.PReLU(4)",
    "nn.RNN(3, 5, num_layers=2, nonlinearity='relu')",
    "nn.LSTM(3, 5, num_layers=2, bidirectional=True)",
    "nn.LSTM(3, 6, proj_size=2, bias=False)",
    "nn.GRU(3, 5, 2, batch_first=True)",
    "nn.RNNCell(3, 5)",
    "nn.LSTMCell(3, 5, bias=False)",
    "nn.GRUCell(3, 5)",
    "nn.MultiheadAttention(8, 2)",
    "nn.MultiheadAttention(8, 2, bias=False, add_bias_kv=True)",
    "nn.MultiheadAttention(8, 2, kdim=5, vdim=6)",
    "nn.TransformerEncoderLayer(8, 2, 16)",
    "nn.TransformerDecoderLayer(8, 2, 16, bias=False)",
    "nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 3, nn.LayerNorm(8))",
    "nn.Transformer(8, 2, 2, 1, 16)",
    "nn.Sequential(OrderedDict(a=nn.Linear(2, 3), b=nn.ReLU(), c=nn.Linear(3, 2)))",
    "nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 4), nn.Linear(4, 5))[1:]",
    "nn.ModuleDict({'x': nn.Linear(2, 2), 'y': nn.ModuleList([nn.Linear(1, 1)])})",
    "nn.ParameterList([nn.Parameter(torch.zeros(2)), torch.zeros(3)])",
    "nn.ParameterDict({'a': nn.Parameter(torch.zeros(2, 2)), 'b': torch.ones(1)})",
    "nn.CrossEntropyLoss(weight=torch.ones(3))",
    "nn.BCEWithLogitsLoss(pos_weight=torch.ones(4))",
    "weight_norm(nn.Linear(3, 5))",
    "weight_norm(nn.Conv1d(2, 4, 3), dim=None)",
    "spectral_norm(nn.Linear(3, 5))",
    "spectral_norm(nn.ConvTranspose2d(2, 4, 3))",
    "parametrizations.weight_norm(nn.Linear(3, 5))",
    "parametrizations.spectral_norm(nn.Conv2d(2, 4, 3))",
    "parametrizations.orthogonal(nn.Linear(4, 4))",
    "doubled()",
    "Tied()",
    "Shared()",
    "Registers()",
]
