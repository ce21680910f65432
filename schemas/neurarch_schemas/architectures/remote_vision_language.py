"""What vision-language models with code of their own share: a whole causal model inside, fused vision layers."""

from __future__ import annotations

from neurarch_schemas.architectures import build_nested
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.feed_forward import mlp
from neurarch_schemas.modules.layers import layer_norm, linear
from neurarch_schemas.modules.tree import AttentionShape, Module, Stack, Tensor, children


def below(model: Module, prefix: str) -> Module:
    """``model`` as the child ``prefix`` of another: the matrices that its heads share are called by their new name."""

    def renamed(tensor: Tensor) -> Tensor:
        return tensor if tensor.tied_to is None else tensor._replace(tied_to=f"{prefix}.{tensor.tied_to}")

    def head(child: Module | Stack) -> Module | Stack:
        return child.with_(tensors=tuple(map(renamed, child.tensors))) if isinstance(child, Module) else child

    return model.with_(children=tuple((name, head(child)) for name, child in model.children))


def causal_model(config: ModelConfig, name: str, prefix: str = "language_model", default: str = "") -> Module:
    """The language model of a nested config with its own head, as the child ``prefix``.

    Its class is the first of its ``architectures``, else ``default``. Raises CannotBuild where neither is given.
    """
    architecture = config.nested_config(name).architecture or default
    if not architecture.endswith("ForCausalLM"):
        raise CannotBuild(f"the class of the language model in {name} is not known", (name,))
    return below(build_nested(config, name, architecture), prefix)


def fused_attention(hidden: int, heads: int, *, bias: bool = True, names: tuple[str, str] = ("qkv", "proj")) -> Module:
    """Bidirectional attention with queries, keys and values out of one matrix; ``bias`` is that of this matrix."""
    dim, (fused, out) = hidden // heads, names
    return Module(
        "Attention",
        children=((fused, linear(hidden, 3 * hidden, bias)), (out, linear(hidden, hidden))),
        part="attention",
        attention=AttentionShape(heads, heads, dim, dim, "encoder", causal=False, position="learned"),
        width_in=hidden,
        width_out=hidden,
    )


def timm_block(hidden: int, heads: int, inner: int) -> Module:
    """A layer of timm's vision transformers."""
    return Module(
        "Block",
        children=children(
            norm1=layer_norm(hidden),
            attn=fused_attention(hidden, heads),
            norm2=layer_norm(hidden),
            mlp=mlp(hidden, inner),
        ),
        width_in=hidden,
        width_out=hidden,
    )
