"""MultiheadAttention and the Transformer layers of torch.nn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurarch_schemas.interpreter.libraries.copying import deep_copy
from neurarch_schemas.interpreter.torch_nn.base import layer_class
from neurarch_schemas.interpreter.torch_nn.layers.common import optional, parameter
from neurarch_schemas.interpreter.values import Class, Instance, Unknown, Value

if TYPE_CHECKING:
    from neurarch_schemas.interpreter.machine import Machine


def _make(machine: Machine, name: str, *args: Value, **kwargs: Value) -> Value:
    return machine.call(machine.lookup_class(f"torch.nn.{name}"), list(args), kwargs)


def attention(
    machine: Machine,
    self: Instance,
    embed_dim: Value,
    num_heads: Value,
    dropout: Value = 0.0,
    bias: Value = True,
    add_bias_kv: Value = False,
    add_zero_attn: Value = False,
    kdim: Value = None,
    vdim: Value = None,
    batch_first: Value = False,
    device: Value = None,
    dtype: Value = None,
) -> None:
    if isinstance(embed_dim, int) and isinstance(num_heads, int):
        if embed_dim <= 0 or num_heads <= 0:
            machine.fail("ValueError", "embed_dim and num_heads must be greater than 0")
        if embed_dim % num_heads:
            machine.fail("AssertionError", "embed_dim must be divisible by num_heads")
    key = embed_dim if kdim is None else kdim
    value = embed_dim if vdim is None else vdim
    same = key == embed_dim and value == embed_dim
    self.attrs.update(
        embed_dim=embed_dim, num_heads=num_heads, kdim=key, vdim=value, batch_first=batch_first, dropout=dropout
    )
    self.attrs["head_dim"] = embed_dim // num_heads
    self.attrs["_qkv_same_embed_dim"] = same
    parameters = self.attrs["_parameters"]
    if not same:
        parameter(machine, self, "q_proj_weight", embed_dim, embed_dim)
        parameter(machine, self, "k_proj_weight", embed_dim, key)
        parameter(machine, self, "v_proj_weight", embed_dim, value)
        parameters["in_proj_weight"] = None
    else:
        parameter(machine, self, "in_proj_weight", 3 * embed_dim, embed_dim)
        parameters.update(q_proj_weight=None, k_proj_weight=None, v_proj_weight=None)
    optional(machine, self, "in_proj_bias", bias, 3 * embed_dim)
    self.attrs["_modules"]["out_proj"] = _make(
        machine, "NonDynamicallyQuantizableLinear", embed_dim, embed_dim, bias=bias
    )
    optional(machine, self, "bias_k", add_bias_kv, 1, 1, embed_dim)
    optional(machine, self, "bias_v", add_bias_kv, 1, 1, embed_dim)


def _common(
    machine: Machine,
    self: Instance,
    d_model: Value,
    feed_forward: Value,
    dropout: Value,
    eps: Value,
    bias: Value,
    norms: int,
) -> None:
    modules = self.attrs["_modules"]
    modules["linear1"] = _make(machine, "Linear", d_model, feed_forward, bias=bias)
    modules["dropout"] = _make(machine, "Dropout", dropout)
    modules["linear2"] = _make(machine, "Linear", feed_forward, d_model, bias=bias)
    for index in range(1, norms + 1):
        modules[f"norm{index}"] = _make(machine, "LayerNorm", d_model, eps=eps, bias=bias)
    for index in range(1, norms + 1):
        modules[f"dropout{index}"] = _make(machine, "Dropout", dropout)


def _activation(machine: Machine, self: Instance, activation: Value) -> None:
    if machine.is_module(activation):
        self.attrs["_modules"]["activation"] = activation
    else:
        self.attrs["activation"] = activation


def encoder_layer(
    machine: Machine,
    self: Instance,
    d_model: Value,
    nhead: Value,
    dim_feedforward: Value = 2048,
    dropout: Value = 0.1,
    activation: Value = "relu",
    layer_norm_eps: Value = 1e-5,
    batch_first: Value = False,
    norm_first: Value = False,
    bias: Value = True,
    device: Value = None,
    dtype: Value = None,
) -> None:
    self.attrs["_modules"]["self_attn"] = _make(
        machine, "MultiheadAttention", d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first
    )
    self.attrs["norm_first"] = norm_first
    _common(machine, self, d_model, dim_feedforward, dropout, layer_norm_eps, bias, 2)
    _activation(machine, self, activation)


def decoder_layer(
    machine: Machine,
    self: Instance,
    d_model: Value,
    nhead: Value,
    dim_feedforward: Value = 2048,
    dropout: Value = 0.1,
    activation: Value = "relu",
    layer_norm_eps: Value = 1e-5,
    batch_first: Value = False,
    norm_first: Value = False,
    bias: Value = True,
    device: Value = None,
    dtype: Value = None,
) -> None:
    for name in ("self_attn", "multihead_attn"):
        self.attrs["_modules"][name] = _make(
            machine, "MultiheadAttention", d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first
        )
    self.attrs["norm_first"] = norm_first
    _common(machine, self, d_model, dim_feedforward, dropout, layer_norm_eps, bias, 3)
    _activation(machine, self, activation)


def _copies(machine: Machine, layer: Value, count: Value) -> Value:
    if type(count) is Unknown or type(layer) is Unknown:
        machine.taint("the layers of a Transformer are unknown")
        return _make(machine, "ModuleList")
    machine.meter.size(count)
    return _make(machine, "ModuleList", [deep_copy(machine, layer, {}) for _ in range(count)])


def encoder(
    machine: Machine,
    self: Instance,
    encoder_layer: Value,
    num_layers: Value,
    norm: Value = None,
    enable_nested_tensor: Value = True,
    mask_check: Value = True,
) -> None:
    self.attrs["_modules"]["layers"] = _copies(machine, encoder_layer, num_layers)
    self.attrs["num_layers"] = num_layers
    machine.set_attr(self, "norm", norm)


def decoder(machine: Machine, self: Instance, decoder_layer: Value, num_layers: Value, norm: Value = None) -> None:
    self.attrs["_modules"]["layers"] = _copies(machine, decoder_layer, num_layers)
    self.attrs["num_layers"] = num_layers
    machine.set_attr(self, "norm", norm)


def transformer(
    machine: Machine,
    self: Instance,
    d_model: Value = 512,
    nhead: Value = 8,
    num_encoder_layers: Value = 6,
    num_decoder_layers: Value = 6,
    dim_feedforward: Value = 2048,
    dropout: Value = 0.1,
    activation: Value = "relu",
    custom_encoder: Value = None,
    custom_decoder: Value = None,
    layer_norm_eps: Value = 1e-5,
    batch_first: Value = False,
    norm_first: Value = False,
    bias: Value = True,
    device: Value = None,
    dtype: Value = None,
) -> None:
    options = {"layer_norm_eps": layer_norm_eps, "batch_first": batch_first, "norm_first": norm_first, "bias": bias}
    modules = self.attrs["_modules"]
    for part, count, custom in (
        ("Encoder", num_encoder_layers, custom_encoder),
        ("Decoder", num_decoder_layers, custom_decoder),
    ):
        if custom is not None:
            modules[part.lower()] = custom
            continue
        layer = _make(
            machine, f"Transformer{part}Layer", d_model, nhead, dim_feedforward, dropout, activation, **options
        )
        norm = _make(machine, "LayerNorm", d_model, eps=layer_norm_eps, bias=bias)
        modules[part.lower()] = _make(machine, f"Transformer{part}", layer, count, norm)
    self.attrs.update(d_model=d_model, nhead=nhead, batch_first=batch_first)


def transformer_classes(machine: Machine) -> dict[str, Class]:
    return {
        "MultiheadAttention": layer_class(machine, "MultiheadAttention", attention),
        "TransformerEncoderLayer": layer_class(machine, "TransformerEncoderLayer", encoder_layer),
        "TransformerDecoderLayer": layer_class(machine, "TransformerDecoderLayer", decoder_layer),
        "TransformerEncoder": layer_class(machine, "TransformerEncoder", encoder),
        "TransformerDecoder": layer_class(machine, "TransformerDecoder", decoder),
        "Transformer": layer_class(machine, "Transformer", transformer),
    }
