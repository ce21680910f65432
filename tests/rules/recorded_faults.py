"""Faults to make in recorded models: for each rule what to change, in which model types, and what lies beside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

DENSE = ("llama", "qwen3", "olmo2")
ENCODERS = ("bert", "roberta", "electra")
EXPERTS = ("mixtral", "qwen3_moe", "olmoe")
LATENT = ("deepseek_v3", "deepseek_v2", "glm4_moe_lite")
WINDOWED = ("gemma3_text", "gpt_oss", "olmo3")
COMPOSITE = ("gemma3", "llava", "paligemma")
STATE_SPACE = ("mamba2", "bamba", "falcon_h1")
Data = dict[str, Any]
SIZE_KEYS = (
    "num_hidden_layers",
    "hidden_size",
    "num_attention_heads",
    "num_key_value_heads",
    "head_dim",
    "intermediate_size",
    "vocab_size",
)
NULL = object()
"""Writes null where None takes the key out."""


@dataclass(frozen=True)
class Fault:
    """``keys`` (dots lead inside) are set, or a function of the config changes it; ``text`` changes the file's text.

    ``beside`` are files in the folder; ``settings`` is the folder's neurarch-lsp.toml; ``saved`` takes the small model
    of which all tensors are recorded, and lays them beside the config after ``tensors`` has changed their names.
    ``name`` is the file to lint where it is another one than the model's config, which is then not changed.
    """

    rule: str
    types: tuple[str, ...]
    keys: Data | Callable[[Data], Data] = field(default_factory=dict)
    text: Callable[[str], str] | None = None
    beside: Data = field(default_factory=dict)
    settings: str = ""
    saved: bool = False
    tensors: Callable[[str], str | None] = lambda name: name
    name: str = "config.json"
    content: Data = field(default_factory=dict)


def rope(**block: Any) -> Data:
    return {"rope_parameters": block}


def adapter(rule: str, **block: Any) -> Fault:
    content = {"peft_type": "LORA", "r": 8, "base_model_name_or_path": "..", "target_modules": ["q_proj"], **block}
    return Fault(rule, DENSE, name="adapter/adapter_config.json", content=content)


def generation(rule: str, **block: Any) -> Fault:
    return Fault(rule, DENSE, name="generation_config.json", content=block)


AWQ = {"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True, "version": "gemm"}
AUTO_MAP = {"auto_map": {"AutoConfig": "configuration_own.OwnConfig", "AutoModel": "modeling_own.OwnModel"}}
END = {"eos_token": "<|end|>", "added_tokens_decoder": {"7": {"content": "<|end|>"}}}
WEIGHTS = {"model.safetensors": ""}
TOKENIZER = {"model": {"type": "BPE", "vocab": {"a": 0, "b": 10_000_000}, "merges": []}}

FAULTS = (
    adapter("adapter-base-local-path", base_model_name_or_path="/data/llama"),
    adapter("adapter-newer-peft-keys", eva_config=None),
    Fault("architectures-mismatch", DENSE, {"architectures": ["BertForMaskedLM"]}),
    Fault("architectures-missing", DENSE, {"architectures": None}),
    Fault(
        "architectures-vs-checkpoint",
        ("dpr", "dpr", "dpr"),
        {"architectures": ["DPRQuestionEncoder"]},
        beside={"model.safetensors.index.json": {"weight_map": {"ctx_encoder.bert_model.pooler.dense.bias": "a"}}},
    ),
    Fault("attention-dtype-mismatch", DENSE, {"dtype": "float32", "_attn_implementation": "flash_attention_2"}),
    Fault("auto-map-missing-file", DENSE, AUTO_MAP, beside=WEIGHTS),
    Fault("checkpoint-mismatch", DENSE, saved=True, tensors=lambda name: None if "1.mlp.up_proj" in name else name),
    Fault(
        "classifier-pad-missing",
        DENSE,
        lambda c: {"architectures": [CLASSIFIER[c["model_type"]]], "pad_token_id": NULL},
    ),
    Fault("decoder-flag-missing", ENCODERS, lambda c: {"architectures": [CAUSAL[c["model_type"]]]}),
    Fault(
        "decoder-start-missing",
        ("bart", "marian", "whisper"),
        lambda c: {
            "decoder_start_token_id": NULL,
            "architectures": [SEQ_TO_SEQ[c["model_type"]]],
        },
    ),
    Fault("deep-attention-default-init", DENSE, {"num_hidden_layers": 60, "layer_types": None}),
    Fault("experts-per-token-out-of-range", EXPERTS, {"num_experts_per_tok": 500}),
    Fault("feature-layer-out-of-range", ("llava", "convnext", "internvl"), lambda c: {STATES[c["model_type"]]: [90]}),
    Fault("end-token-mismatch", DENSE, {"eos_token_id": 2}, beside={"tokenizer_config.json": END}),
    Fault("full-mha-serving-cost", DENSE, lambda c: {"num_key_value_heads": c["num_attention_heads"], "head_dim": 128}),
    generation("generation-flag-ignored", temperature=0.9),
    generation("generation-misspelled-key", do_sample=False, max_new_tokesn=20),
    generation("generation-token-id-mismatch", eos_token_id=10_000_000),
    generation("generation-value-out-of-range", temperature=-1.0, do_sample=True),
    Fault("heads-indivisible", ("llama", "olmo2", "bert"), {"num_attention_heads": 13, "num_key_value_heads": 13}),
    Fault("ignored-key", ("llama", "olmo2", "gpt2"), {"sliding_window": 4096}),
    Fault("json-bom", DENSE, text=lambda text: "\ufeff" + text),
    Fault("json-comment", DENSE, text=lambda text: text.replace("{", "{ // as published", 1)),
    Fault("json-duplicate-key", DENSE, text=lambda text: text.replace("{", '{ "vocab_size": 10,', 1)),
    Fault("config-class-refuses", DENSE, {"rope_parameters": {"rope_type": "default", "rope_theta": "10000"}}),
    Fault("json-nonfinite", DENSE, {"initializer_range": float("nan")}),
    Fault("json-syntax", DENSE, text=lambda text: text.rstrip().removesuffix("}") + ",}"),
    Fault("key-newer-than-version", DENSE, settings='transformers-version = "4.51"'),
    Fault(
        "kv-cache-context-budget",
        ("llama", "olmo2", "granite"),
        {"num_key_value_heads": 64, "num_attention_heads": 64, "head_dim": 256},
    ),
    Fault("kv-heads-indivisible", DENSE, {"num_key_value_heads": 5}),
    Fault("labels-mismatch", ENCODERS, {"num_labels": 40, "id2label": {"0": "no", "1": "yes"}}),
    Fault("latent-kv-heads-mismatch", LATENT, lambda c: {"num_key_value_heads": c["num_attention_heads"] // 2}),
    Fault("layer-count-out-of-range", LATENT, {"first_k_dense_replace": 900, "mlp_layer_types": None}),
    Fault("layer-count-vs-checkpoint", DENSE, lambda c: {"num_hidden_layers": c["num_hidden_layers"] + 1}, saved=True),
    Fault("layer-list-length", WINDOWED, lambda c: {"layer_types": c["layer_types"][:-1]}),
    Fault("layer-list-values", WINDOWED, lambda c: {"layer_types": ["global", *c["layer_types"][1:]]}),
    Fault("layer-step-out-of-range", ("qwen3_moe", "qwen2_moe", "jamba"), lambda c: {STEP[c["model_type"]]: 0}),
    Fault("learned-positions-too-few", ENCODERS, beside={"tokenizer_config.json": {"model_max_length": 4000}}),
    Fault("leftover-runtime-flag", DENSE, {"use_cache": False}),
    Fault("legacy-key", DENSE, {"torch_dtype": "bfloat16"}),
    adapter("lora-names-match-nothing", rank_pattern={"k_proj": 16}),
    adapter("lora-regex-in-list", target_modules=[".*self_attn.*q_proj"]),
    adapter("lora-target-missing", target_modules=["c_attn"]),
    Fault(
        "lora-tied-head",
        ("gemma2", "gemma", "gpt2"),
        name="adapter/adapter_config.json",
        content={"peft_type": "LORA", "r": 8, "base_model_name_or_path": "..", "target_modules": ["lm_head"]},
    ),
    adapter("lora-value-out-of-range", r=0),
    Fault("misplaced-key", COMPOSITE, {"rms_norm_eps": 1e-5, "text_config.rms_norm_eps": None}),
    Fault("misspelled-key", DENSE, {"attention_dropuot": 0.1}),
    Fault("model-newer-than-version", ("qwen3", "olmo2", "gemma3"), settings='transformers-version = "4.40"'),
    Fault("moe-group-topology", LATENT, {"n_group": 7, "topk_group": 1, "topk_method": "noaux_tc"}),
    Fault("moe-no-aux-loss", EXPERTS, {"output_router_logits": False, "router_aux_loss_coef": 0.02}),
    Fault("overridden-value", ("gemma", "gemma", "gemma"), {"hidden_act": "gelu", "hidden_activation": None}),
    Fault("nested-value-conflict", COMPOSITE, {"max_position_embeddings": 77}),
    Fault("paired-sizes-differ", ("deepseek_v3", "axk1", "youtu"), {"head_dim": 200}),
    Fault(
        "parallel-lists-mismatch",
        ("segformer", "wav2vec2", "swin"),
        lambda c: {p: c[p][:-1] for p in PARALLEL & set(c)},
    ),
    Fault(
        "pipeline-stage-empty",
        DENSE,
        {"num_hidden_layers": 2, "layer_types": None},
        settings="[serving]\npipeline-parallel = 4",
    ),
    Fault(
        "preprocessor-mismatch",
        ("whisper", "speech_to_text", "vit"),
        beside={"preprocessor_config.json": {"feature_size": 60, "size": {"height": 60, "width": 60}}},
    ),
    Fault(
        "published-size-changed",
        ("llama", "mistral", "phi3"),
        lambda c: {"num_key_value_heads": c["num_key_value_heads"] // 2},
    ),
    Fault("published-theta-lost", DENSE, lambda c: {**PUBLISHED[c["model_type"]], "rope_parameters": None}),
    Fault("quant-contradiction", DENSE, {"quantization_config": {"load_in_4bit": True, "load_in_8bit": True}}),
    Fault("quant-kernel-shape", DENSE, {"intermediate_size": 10944, "quantization_config": {**AWQ, "group_size": 64}}),
    Fault("quant-method-missing", DENSE, {"quantization_config": {"bits": 4, "group_size": 128, "desc_act": False}}),
    Fault(
        "quant-names-match-nothing",
        DENSE,
        {
            "quantization_config": {
                "quant_method": "modelopt",
                "quant_algo": "FP8",
                "exclude_modules": ["transformer.h.0*"],
            }
        },
    ),
    Fault("quant-value-out-of-range", DENSE, {"quantization_config": {**AWQ, "bits": 3}}),
    Fault("remote-code", DENSE, AUTO_MAP),
    Fault("renamed-key", DENSE, {"n_kv_heads": 2}),
    Fault(
        "rope-factor-length",
        DENSE,
        rope(
            rope_type="longrope",
            rope_theta=1e4,
            short_factor=[1.0],
            long_factor=[1.0],
            original_max_position_embeddings=64,
        ),
    ),
    Fault(
        "rope-key-newer-than-file",
        ("llama", "llama", "llama"),
        {"rope_parameters": None, "rope_theta": 1e6, "transformers_version": "4.31.0"},
    ),
    Fault(
        "rope-layer-type-missing",
        ("gemma3_text", "olmo_hybrid", "laguna"),
        {"rope_parameters": {"sliding_attention": {"rope_type": "default", "rope_theta": 1e4}}},
    ),
    Fault("rope-legacy-key", DENSE, {"rope_parameters": None, "rope_scaling": {"type": "linear", "factor": 2.0}}),
    Fault("rope-missing-field", DENSE, rope(rope_type="linear", rope_theta=1e4)),
    Fault(
        "rope-mrope-section",
        ("qwen2_vl", "qwen2_5_vl", "qwen3_vl"),
        {"text_config.rope_parameters.mrope_section": [3, 4, 5]},
    ),
    Fault("rope-odd-rotary-dim", DENSE, {"head_dim": 127}),
    Fault("rope-original-length-missing", DENSE, rope(rope_type="yarn", rope_theta=1e4, factor=2.0)),
    Fault(
        "rope-scaling-on-long-window",
        DENSE,
        {"max_position_embeddings": 131072, **rope(rope_type="dynamic", rope_theta=5e5, factor=8.0)},
    ),
    Fault("rope-theta-conflict", DENSE, {"rope_theta": 5e5, **rope(rope_type="default", rope_theta=1e4)}),
    Fault("rope-unknown-field", DENSE, rope(rope_type="default", rope_theta=1e4, beta_fsat=32)),
    Fault("rope-unknown-type", DENSE, rope(rope_type="ntk-by-parts", rope_theta=1e4)),
    Fault("rope-value-out-of-range", DENSE, rope(rope_type="linear", rope_theta=1e4, factor=0.5)),
    Fault(
        "rope-window-arithmetic",
        DENSE,
        {
            "max_position_embeddings": 9000,
            **rope(rope_type="yarn", rope_theta=1e4, factor=4.0, original_max_position_embeddings=4096),
        },
    ),
    Fault(
        "sentence-modules-mismatch",
        ENCODERS,
        beside={
            "modules.json": [{}, {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}],
            "1_Pooling/config.json": {"word_embedding_dimension": 77},
        },
    ),
    Fault("size-key-missing", DENSE, {"hidden_size": None, "transformers_version": "5.0.0"}),
    Fault(
        "sliding-window-ineffective", WINDOWED, lambda c: {"layer_types": ["full_attention"] * len(c["layer_types"])}
    ),
    Fault("ssm-heads-mismatch", STATE_SPACE, lambda c: {k: c[k] + 1 for k in ("num_heads", "mamba_n_heads") if k in c}),
    Fault("strict-type-versioned", ENCODERS, {"hidden_dropout_prob": 0}, settings='transformers-version = "5.2.0"'),
    Fault("tensor-parallel-indivisible", DENSE, settings="[serving]\ntensor-parallel = 7"),
    Fault(
        "tensor-parallel-quantization",
        DENSE,
        {"intermediate_size": 29568, "quantization_config": AWQ},
        settings="[serving]\ntensor-parallel = 2",
    ),
    Fault("tie-nested-conflict", COMPOSITE, {"tie_word_embeddings": False, "text_config.tie_word_embeddings": True}),
    Fault(
        "tie-vs-checkpoint",
        DENSE,
        {"tie_word_embeddings": False},
        saved=True,
        tensors=lambda name: None if "lm_head" in name else name,
    ),
    Fault("token-id-out-of-range", DENSE, {"eos_token_id": 10_000_000}),
    Fault("tokenizer-larger-than-vocab", DENSE, beside={"tokenizer.json": TOKENIZER}),
    Fault(
        "tower-width-mismatch",
        ("qwen2_5_vl", "paligemma", "qwen3_vl"),
        {"text_config.hidden_size": 640},
    ),
    Fault("unknown-activation", DENSE, {"hidden_act": "quad"}),
    Fault("unknown-choice", ("resnet", "regnet", "dpt"), lambda c: {CHOICE[c["model_type"]]: "twisted"}),
    Fault("unknown-dtype", DENSE, {"dtype": "torch.float16"}),
    Fault(
        "unknown-model-type",
        ("mistral", "persimmon", "gpt_neox"),
        lambda c: {"model_type": c["model_type"][:2] + c["model_type"][3:]},
    ),
    Fault("value-out-of-range", DENSE, {"vocab_size": 0}),
    Fault("weights-exceed-memory", DENSE, settings="[serving]\ngpu-memory-gib = 0.5"),
    Fault(
        "width-indivisible",
        ("wav2vec2", "swin", "qwen3_next"),
        lambda c: {GROUPED[c["model_type"]]: [3, 6, 12, 25] if c["model_type"] == "swin" else 5},
    ),
    Fault("wrong-type", DENSE, {"hidden_size": "4096"}),
)

CAUSAL = {"bert": "BertLMHeadModel", "roberta": "RobertaForCausalLM", "electra": "ElectraForCausalLM"}
CLASSIFIER = {
    "llama": "LlamaForSequenceClassification",
    "qwen3": "Qwen3ForSequenceClassification",
    "olmo2": "Olmo2ForSequenceClassification",
}
SEQ_TO_SEQ = {
    "bart": "BartForConditionalGeneration",
    "marian": "MarianMTModel",
    "whisper": "WhisperForConditionalGeneration",
}
STEP = {"qwen3_moe": "decoder_sparse_step", "qwen2_moe": "decoder_sparse_step", "jamba": "expert_layer_period"}
CHOICE = {"resnet": "layer_type", "regnet": "layer_type", "dpt": "readout_type"}
GROUPED = {
    "wav2vec2": "num_conv_pos_embedding_groups",
    "swin": "num_heads",
    "qwen3_next": "linear_num_key_heads",
}
PUBLISHED = {
    model_type: dict(zip(SIZE_KEYS, sizes, strict=True))
    for model_type, sizes in {
        "llama": (16, 2048, 32, 8, 64, 8192, 128256),
        "olmo2": (32, 4096, 32, 32, 128, 11008, 100352),
        "qwen3": (36, 4096, 32, 8, 128, 12288, 151936),
    }.items()
}
"""Sizes of Llama 3.2 1B, OLMo 2 7B and Qwen3 8B."""
STATES = {"llava": "vision_feature_layer", "convnext": "out_indices", "internvl": "vision_feature_layer"}
PARALLEL = {"hidden_sizes", "conv_stride", "num_heads"}
