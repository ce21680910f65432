"""CvT (arXiv:2103.15808): Vision Transformer stages whose projections are depth-wise convolutions."""

from __future__ import annotations

from neurarch_schemas.architectures.image_heads import classifier
from neurarch_schemas.architectures.language_heads import head_name, unknown_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import uniform
from neurarch_schemas.modules.convolution_stages import convolution_norm
from neurarch_schemas.modules.layers import convolution, layer_norm, linear
from neurarch_schemas.modules.tree import AttentionShape, Module, Stack, Tensor, named, stack

MODEL_TYPES = ("cvt",)

MOST_STAGES = 32
KEYS = ("embed_dim", "num_heads", "patch_sizes", "kernel_qkv")


def items(config: ModelConfig, key: str, count: int) -> list[object]:
    values = list(config.items(key))
    if len(values) < count:
        raise CannotBuild(f"{key} has {len(values)} values for {count} stages", (key, "depth"))
    return [*values]


def layer(width: int, heads: int, kernel: int, bias: bool, method: str, ratio: float) -> Module:
    """``qkv_projection_method`` "dw_bn" convolves before each projection, "avg" pools keys and values."""
    if method not in ("dw_bn", "avg", "linear"):
        raise CannotBuild(f"projection method {method!r} is not known", ("qkv_projection_method",))
    inner = int(width * ratio)
    parts: dict[str, Module | Stack | None] = {}
    for name in ("query", "key", "value"):
        if method == "dw_bn":
            path = f"attention.convolution_projection_{name}.convolution_projection"
            parts[path] = convolution_norm(width, width, kernel, groups=width)
        parts[f"attention.projection_{name}"] = linear(width, width, bias)
    parts["output.dense"] = linear(width, width)
    dim = width // heads
    attention = Module(
        "Attention",
        children=named(parts),
        part="attention",
        attention=AttentionShape(heads, heads, dim, dim, "encoder", causal=False, position="convolution"),
        width_in=width,
        width_out=width,
    )
    children: dict[str, Module | Stack | None] = {
        "attention": attention,
        "intermediate.dense": linear(width, inner, part="feed-forward"),
        "output.dense": linear(inner, width, part="feed-forward"),
        "layernorm_before": layer_norm(width),
        "layernorm_after": layer_norm(width),
    }
    return Module("CvtLayer", children=named(children))


def backbone(config: ModelConfig) -> Module:
    depths = config.counts("depth")
    count = len(depths)
    widths, heads, patches, kernels = (config.integers(key) for key in KEYS)
    if count > MOST_STAGES or min(map(len, (widths, heads, patches, kernels))) < count:
        raise CannotBuild(f"{', '.join(KEYS)} must be as long as depth", (*KEYS, "depth"))
    biases, tokens = items(config, "qkv_bias", count), items(config, "cls_token", count)
    methods, ratios = items(config, "qkv_projection_method", count), items(config, "mlp_ratio", count)
    stages, inputs = [], config.integer("num_channels")
    for index, depth in enumerate(depths):
        width, ratio = widths[index], ratios[index]
        if not isinstance(ratio, int | float):
            raise CannotBuild("mlp_ratio must be a list of numbers", ("mlp_ratio",))
        block = layer(width, heads[index], kernels[index], bool(biases[index]), str(methods[index]), float(ratio))
        parts: dict[str, Module | Stack | None] = {
            "embedding.convolution_embeddings.projection": convolution(inputs, width, (patches[index],) * 2),
            "embedding.convolution_embeddings.normalization": layer_norm(width),
            "layers": uniform(block, depth),
        }
        # The class token is as wide as the last stage, wherever it stands.
        own = (Tensor("cls_token", (1, 1, widths[-1])),) if tokens[index] else ()
        stages.append(Module("Stage", own, named(parts)))
        inputs = width
    return Module("Model", children=named({"encoder.stages": stack(*stages)}))


def build(config: ModelConfig) -> Module:
    head, model = head_name(config.architecture), backbone(config)
    if head == "Model":
        return model
    if head != "ForImageClassification":
        raise unknown_head(config.architecture)
    width = config.integers("embed_dim")[-1]
    parts: dict[str, Module | Stack | None] = {
        "cvt": model,
        "layernorm": layer_norm(width),
        "classifier": classifier(config, width),
    }
    return Module(config.architecture, children=named(parts))
