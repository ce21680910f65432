"""VibeVoice: convolutional tokenizers of waveforms around a language model; speech comes out of a diffusion head."""

from __future__ import annotations

from neurarch_schemas.architectures.composite import projector, text_model, tower, with_output_head
from neurarch_schemas.config.errors import CannotBuild
from neurarch_schemas.config.model_config import ModelConfig
from neurarch_schemas.modules.assembly import in_part, uniform
from neurarch_schemas.modules.feed_forward import gated_mlp, mlp
from neurarch_schemas.modules.layers import convolution, linear, rms_norm, transposed_convolution
from neurarch_schemas.modules.tree import Module, Stack, Tensor, children, stack

MODEL_TYPES = (
    "vibevoice",
    "vibevoice_asr",
    "vibevoice_acoustic_tokenizer",
    "vibevoice_acoustic_tokenizer_encoder",
    "vibevoice_acoustic_tokenizer_decoder",
)


def causal_convolution(inputs: int, outputs: int, kernel: int, groups: int = 1) -> Module:
    return Module("CausalConv1d", children=children(conv=convolution(inputs, outputs, (kernel,), groups=groups)))


def block(config: ModelConfig, width: int) -> Module:
    """A ConvNeXt block (arXiv:2201.03545): a depthwise convolution and an MLP, both scaled by learned vectors."""
    return Module(
        "ConvNextLayer",
        (Tensor("gamma", (width,)), Tensor("ffn_gamma", (width,))),
        children(
            norm=rms_norm(width),
            ffn_norm=rms_norm(width),
            ffn=mlp(width, config.integer("ffn_expansion") * width, names=("linear1", "linear2")),
            mixer=causal_convolution(width, width, config.integer("kernel_size"), groups=width),
        ),
    )


def stage_depths(config: ModelConfig, count: int) -> tuple[int, ...]:
    depths = config.counts("depths")
    if len(depths) <= count:
        raise CannotBuild("depths must have one entry more than downsampling_ratios", ("depths", "downsampling_ratios"))
    return depths


def tokenizer_encoder(config: ModelConfig) -> Module:
    ratios, base, kernel = (
        config.integers("downsampling_ratios"),
        config.integer("num_filters"),
        config.integer("kernel_size"),
    )
    depths = stage_depths(config, len(ratios))

    def entrance(inputs: int, width: int, size: int, depth: int) -> Module:
        return Module(
            "Stage",
            children=children(conv=causal_convolution(inputs, width, size), stage=uniform(block(config, width), depth)),
        )

    steps = [
        entrance(base * 2**index, base * 2 ** (index + 1), 2 * ratio, depths[index + 1])
        for index, ratio in enumerate(ratios)
    ]
    return Module(
        "WaveformEncoder",
        children=children(
            stem=entrance(config.integer("channels"), base, kernel, depths[0]),
            conv_layers=stack(*steps),
            head=causal_convolution(base * 2 ** len(ratios), config.integer("hidden_size"), kernel),
        ),
    )


def tokenizer_decoder(config: ModelConfig, depths: tuple[int, ...]) -> Module:
    ratios, base, kernel = (
        config.integers("downsampling_ratios")[::-1],
        config.integer("num_filters"),
        config.integer("kernel_size"),
    )
    top = len(depths) - 1
    widths = [base * 2 ** (top - index) for index in range(len(depths))]
    steps = [
        Module(
            "Stage",
            children=children(
                convtr=Module(
                    "CausalConvTranspose1d",
                    children=children(convtr=transposed_convolution(widths[index], widths[index + 1], (2 * ratio,))),
                ),
                stage=uniform(block(config, widths[index + 1]), depths[index + 1]),
            ),
        )
        for index, ratio in enumerate(ratios)
    ]
    stem = Module(
        "Stage",
        children=children(
            conv=causal_convolution(config.integer("hidden_size"), widths[0], kernel),
            stage=uniform(block(config, widths[0]), depths[0]),
        ),
    )
    return Module(
        "WaveformDecoder",
        children=children(
            stem=stem, conv_layers=stack(*steps), head=causal_convolution(base, config.integer("channels"), kernel)
        ),
    )


def tokenizer(config: ModelConfig) -> Module:
    depths = stage_depths(config, len(config.integers("downsampling_ratios")))
    if config.model_type.endswith("_encoder"):
        return tokenizer_encoder(config)
    if config.model_type.endswith("_decoder"):
        return tokenizer_decoder(config, depths)
    return Module(
        "WaveformTokenizer",
        children=children(encoder=tokenizer_encoder(config), decoder=tokenizer_decoder(config, depths[::-1])),
    )


def diffusion_head(config: ModelConfig, hidden: int, latent: int) -> Module:
    """Layers modulated by the time step and the language model's state."""
    layer = Module(
        "DiffusionLayer",
        children=children(
            ffn=gated_mlp(hidden, config.integer("intermediate_size"), config.flag("mlp_bias")),
            norm=rms_norm(hidden),
            linear=linear(hidden, 3 * hidden, bias=False),
        ),
    )
    time = Module(
        "TimeEmbedding",
        children=children(
            fc1=linear(config.integer("frequency_embedding_size"), hidden, bias=False),
            fc2=linear(hidden, hidden, bias=False),
        ),
    )
    final = Module(
        "FinalLayer",
        children=children(linear_1=linear(hidden, 2 * hidden, bias=False), linear_2=linear(hidden, latent, bias=False)),
    )
    return Module(
        "DiffusionHead",
        children=children(
            noisy_images_proj=linear(latent, hidden, bias=False),
            cond_proj=linear(hidden, hidden, bias=False),
            timestep_proj=time,
            layers=uniform(layer, config.integer("num_hidden_layers")),
            final_layer=final,
        ),
    )


def connector(inputs: int, outputs: int) -> Module:
    return projector(
        {"linear_1": linear(inputs, outputs), "act": rms_norm(outputs), "linear_2": linear(outputs, outputs)}
    )


def speaking(config: ModelConfig) -> Module:
    text = config.nested_config("text_config")
    hidden, latent = text.integer("hidden_size"), config.nested_config("audio_config").integer("hidden_size")
    meaning = config.nested_config("semantic_model_config").integer("hidden_size")
    head = diffusion_head(config.nested_config("diffusion_head_config"), hidden, latent)
    parts: dict[str, Module | Stack | None] = {
        "audio_tower": tower(config, "audio_config", "audio"),
        "language_model": text_model(config),
        "multi_modal_projector": connector(latent, hidden),
        "semantic_tokenizer_encoder": tower(config, "semantic_model_config", "audio"),
        "semantic_connector": connector(meaning, hidden),
        "diffusion_head": in_part(head, "head"),
    }
    scales = (Tensor("latent_scaling_factor", ()), Tensor("latent_bias_factor", ()))
    return with_output_head(config, parts, tensors=scales, tied=text.flag("tie_word_embeddings"))


def listening(config: ModelConfig) -> Module:
    hidden = config.nested_config("text_config").integer("hidden_size")
    bridge: dict[str, Module | Stack | None] = {}
    towers: dict[str, Module | Stack | None] = {}
    for kind in ("acoustic", "semantic"):
        name = f"{kind}_tokenizer_encoder"
        towers[name] = tower(config, f"{name}_config", "audio")
        features = config.nested_config(f"{name}_config").integer("hidden_size")
        bridge[f"{kind}_linear_1"] = linear(features, hidden)
        bridge[f"{kind}_norm"] = rms_norm(hidden)
        bridge[f"{kind}_linear_2"] = linear(hidden, hidden)
    parts = {**towers, "multi_modal_projector": projector(bridge), "language_model": text_model(config)}
    return with_output_head(config, parts, tied=False)


def build(config: ModelConfig) -> Module:
    if "_tokenizer" in config.model_type:
        return tokenizer(config)
    return speaking(config) if config.model_type == "vibevoice" else listening(config)
