"""Kimi K3 with the code that came with it: Kimi Linear with residual attention and latent experts.

Every sublayer weighs the outputs of blocks of earlier layers; routed experts work in a narrower space of their own.
The total is the one that the class, mlx-vlm and NeMo AutoModel build, 2,779,931,834,976. The published files
hold 2,208 numbers more: each of their 69 ``A_log`` is padded with zeros from 96 heads to 128.
"""

from __future__ import annotations

from neurarch_schemas.architectures.composite import projector
from neurarch_schemas.architectures.decoder import decoder_layer, from_layer, language_model
from neurarch_schemas.architectures.remote_vision_language import below
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.layer_pattern import LayerPattern
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import in_part, layers, uniform
from neurarch_schemas.modules.attention import latent_attention
from neurarch_schemas.modules.experts import shared_experts
from neurarch_schemas.modules.feed_forward import gated_mlp, mlp
from neurarch_schemas.modules.layers import convolution, linear, rms_norm
from neurarch_schemas.modules.linear_attention import linear_attention
from neurarch_schemas.modules.state_space import causal_convolution, state_caches
from neurarch_schemas.modules.tree import AttentionShape, Module, Routing, Tensor, children, named, stack
from neurarch_schemas.modules.vision import height_and_width
from neurarch_schemas.record import replace

MODEL_TYPES = ("kimi_k3",)


def size(config: ModelConfig, name: str) -> int:
    """A size inside ``linear_attn_config``."""
    value = config.mapping("linear_attn_config").get(name)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise CannotBuild(f"linear_attn_config.{name} must be a whole number", ("linear_attn_config",))
    return value


def full_attention_layers(config: ModelConfig) -> LayerPattern[bool]:
    """All but ``kda_layers``, which count from one."""
    chosen = config.mapping("linear_attn_config").get("kda_layers")
    if not isinstance(chosen, list):
        raise CannotBuild("linear_attn_config.kda_layers must be a list", ("linear_attn_config",))
    length = config.integer("num_hidden_layers")
    places = [number - 1 for number in chosen if isinstance(number, int) and 1 <= number <= length]
    if len(places) < len(chosen):
        raise CannotBuild("linear_attn_config.kda_layers names a layer there is not", ("linear_attn_config",))
    return LayerPattern.where(places, length).map(lambda delta: not delta)


def delta_attention(config: ModelConfig) -> Module:
    hidden, heads, dim = config.integer("hidden_size"), size(config, "num_heads"), size(config, "head_dim")
    width, kernel = heads * dim, size(config, "short_conv_kernel_size")
    if config.mapping("linear_attn_config").get("use_full_rank_gate"):
        gate = {"g_proj": linear(hidden, width, bias=False)}
    else:
        gate = {"g_a_proj": linear(hidden, dim, bias=False), "g_b_proj": linear(dim, width, bias=False)}
    convolutions = {f"{name}_conv1d": causal_convolution(width, kernel, bias=False) for name in ("q", "k", "v")}
    return linear_attention(
        (Tensor("A_log", (heads,)), Tensor("dt_bias", (width,))),
        {
            **{f"{name}_proj": linear(hidden, width, bias=False) for name in ("q", "k", "v")},
            **convolutions,
            "f_a_proj": linear(hidden, dim, bias=False),
            "f_b_proj": linear(dim, width, bias=False),
            "b_proj": linear(hidden, heads, bias=False),
            **gate,
            "o_norm": rms_norm(dim),
            "o_proj": linear(width, hidden, bias=False),
        },
        hidden=hidden,
        key_heads=heads,
        value_heads=heads,
        key_dim=dim,
        value_dim=dim,
        caches=state_caches(3 * width, kernel, heads * dim * dim),
        type="KimiDeltaAttention",
    )


def full_attention(config: ModelConfig) -> Module:
    hidden, heads, value = (config.integer(key) for key in ("hidden_size", "num_attention_heads", "v_head_dim"))
    gated = config.flag("mla_use_output_gate")
    return latent_attention(
        hidden,
        heads,
        q_lora_rank=config.optional_integer("q_lora_rank"),
        kv_lora_rank=config.integer("kv_lora_rank"),
        nope_dim=config.integer("qk_nope_head_dim"),
        rope_dim=config.integer("qk_rope_head_dim"),
        v_dim=value,
        position="none" if config.flag("mla_use_nope") else "rope",
        extra={"g_proj": linear(hidden, heads * value, bias=False) if gated else None},
    )


def mixture(config: ModelConfig) -> Module:
    hidden, latent = config.integer("hidden_size"), config.integer("routed_expert_hidden_size")
    inner, total = config.integer("moe_intermediate_size"), config.integer("num_experts")
    expert = gated_mlp(latent, inner, names=("w1", "w3", "w2"), part="experts")
    routed = expert.with_(routing=Routing(total, config.integer("num_experts_per_token"), fused=False))
    gate = Module(
        "Router",
        (Tensor("weight", (total, hidden)), Tensor("e_score_correction_bias", (total,))),
        part="router",
        multiply_accumulates=hidden * total,
        width_in=hidden,
    )
    shared = config.integer("num_shared_experts", 0)
    return Module(
        "MixtureOfExperts",
        children=children(
            gate=gate,
            experts=stack(routed, times=total),
            shared_experts=shared_experts(hidden, inner * shared) if shared else None,
            routed_expert_down_proj=linear(hidden, latent, bias=False, part="experts"),
            routed_expert_up_proj=linear(latent, hidden, bias=False, part="experts"),
            routed_expert_norm=rms_norm(latent) if config.flag("latent_moe_use_norm") else None,
        ),
        part="router",
        width_in=hidden,
        width_out=hidden,
    )


def layer(config: ModelConfig, full: bool, sparse: bool) -> Module:
    hidden = config.integer("hidden_size")
    mixer = full_attention(config) if full else delta_attention(config)
    transform = mixture(config) if sparse else gated_mlp(hidden, config.integer("intermediate_size"))
    name = "block_sparse_moe" if sparse else "mlp"
    block = decoder_layer(hidden, mixer, transform, names=("self_attn", name))
    return block.with_(tensors=residual_attention(config, "self_attention_res", "mlp_res"))


def residual_attention(config: ModelConfig, *names: str) -> tuple[Tensor, ...]:
    """The weights of a norm and of a score for each place that weighs the outputs of earlier blocks."""
    if config.optional_integer("attn_res_block_size") is None:
        return ()
    hidden = config.integer("hidden_size")
    shapes = (("norm", (hidden,)), ("proj", (1, hidden)))
    return tuple(Tensor(f"{name}_{kind}.weight", shape) for name in names for kind, shape in shapes)


def text_model(config: ModelConfig) -> Module:
    if config.integer("num_nextn_predict_layers", 0):
        raise CannotBuild("the prediction layers of this class are not known", ("num_nextn_predict_layers",))
    if config.integer("moe_layer_freq", 1) != 1:
        raise CannotBuild("only mixtures in every layer after the first dense ones are known", ("moe_layer_freq",))
    first, length = config.integer("first_k_dense_replace", 0), config.integer("num_hidden_layers")
    pattern = full_attention_layers(config).zip(from_layer(first, length))
    return language_model(
        config,
        layers(pattern, lambda kind: layer(config, *kind)),
        tensors=residual_attention(config, "output_attn_res"),
    )


def vision_block(config: ModelConfig) -> Module:
    hidden, width, heads = (
        config.integer(key) for key in ("vt_hidden_size", "qkv_hidden_size", "vt_num_attention_heads")
    )
    dim = width // heads
    return Module(
        "EncoderLayer",
        children=children(
            norm0=rms_norm(hidden),
            norm1=rms_norm(hidden),
            mlp=mlp(hidden, config.integer("vt_intermediate_size"), config.flag("linear_bias"), names=("fc0", "fc1")),
            wqkv=linear(hidden, 3 * width, config.flag("attn_bias")),
            wo=linear(width, hidden, config.flag("attn_bias")),
        ),
        attention=AttentionShape(heads, heads, dim, dim, "encoder", causal=False, position="rope"),
    )


def vision_model(config: ModelConfig) -> Module:
    if config.text("norm_type") != "rmsnorm" or config.text("pos_emb_type") != "divided_fixed":
        raise CannotBuild("only the form with RMSNorm and one table of positions is known", ("vision_config",))
    hidden = config.integer("vt_hidden_size")
    grid = (config.integer("init_pos_emb_height"), config.integer("init_pos_emb_width"), hidden)
    kernel = height_and_width(config, "patch_size")
    patches = Module(
        "PatchEmbedding",
        children=children(
            proj=convolution(3, hidden, kernel, bias=config.flag("patch_embed_proj_bias")),
            pos_emb=Module("Position", (Tensor("weight", grid),), part="position"),
        ),
    )
    blocks = uniform(vision_block(config), config.integer("vt_num_hidden_layers"))
    encoder = Module("Encoder", children=children(blocks=blocks, final_layernorm=rms_norm(hidden)))
    return in_part(Module("VisionModel", children=children(patch_embed=patches, encoder=encoder)), "vision")


def build(config: ModelConfig) -> Module:
    vision, text = config.nested_config("vision_config"), config.nested_config("text_config")
    if vision.text("mm_projector_type") != "patchmergerv2":
        raise CannotBuild("only the second patch merger is known", ("vision_config",))
    rows, columns = height_and_width(vision, "merge_kernel_size")
    joined, hidden = vision.integer("mm_hidden_size") * rows * columns, text.integer("hidden_size")
    maps = {"0": linear(joined, joined, bias=False), "2": linear(joined, hidden, bias=False)}
    merger = projector({"proj": Module("Sequential", children=named({**maps})), "post_norm": rms_norm(hidden)})
    language = text_model(replace(text, architecture="KimiLinearForCausalLM"))
    return Module(
        config.architecture,
        children=children(
            vision_tower=vision_model(vision),
            mm_projector=merger,
            language_model=below(language, "language_model"),
        ),
    )
