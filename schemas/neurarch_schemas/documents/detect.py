"""Is this file ours, and what kind? Its content decides; many tools name a file config.json."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

from neurarch_schemas.documents.document import FileKind
from neurarch_schemas.documents.json_value import JSONValue

Listing = Collection[str] | Callable[[], Collection[str] | None] | None

_NAMED: dict[str, FileKind] = {
    "generation_config.json": "generation_config",
    "adapter_config.json": "adapter_config",
    "config.json": "config",
    "config.jsonc": "config",
}
_NEVER = frozenset(
    (
        "package.json", "package-lock.json", "tsconfig.json", "jsconfig.json", "composer.json", "manifest.json",
        "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "vocab.json",
        "preprocessor_config.json", "processor_config.json", "image_processor_config.json", "model_index.json",
        "video_preprocessor_config.json", "feature_extractor_config.json", "scheduler_config.json",
        "trainer_state.json", "all_results.json", "chat_template.json", "dataset_info.json", "dataset_infos.json",
        "modules.json", "config_sentence_transformers.json", "sentence_bert_config.json", "quantize_config.json",
        "hf_quant_config.json", "recipe.json",
    )
)  # fmt: skip
"""Names with a fixed meaning of their own."""
_FOREIGN = frozenset(("_class_name", "_diffusers_version", "input_features", "output_features", "compilerOptions"))
"""Keys of diffusers, LeRobot and TypeScript; no model configuration of transformers has them."""
_TRAINING = frozenset(
    (
        "learning_rate", "lr", "batch_size", "train_batch_size", "per_device_train_batch_size", "epochs", "num_epochs",
        "num_train_epochs", "max_epochs", "n_epochs", "optimizer", "optim", "weight_decay", "scheduler", "lr_scheduler",
        "warmup_steps", "dataset", "dataset_name", "data_path", "data_dir", "train_file", "output_dir", "save_dir",
        "checkpoint_dir", "wandb_project", "objective", "num_leaves", "n_estimators", "max_depth", "num_boost_round",
        "host", "port", "apiKey", "api_key", "endpoint", "baseUrl", "base_url",
    )
)  # fmt: skip
"""Keys of training scripts, of other learning libraries and of applications."""
_ARCHITECTURE = re.compile(r"[A-Z]\w*(?:For[A-Z]|Model|LM|Head|Transformer|Encoder|Decoder|GPT|Bert|Net)\w*")
_SIZES = (
    ("hidden_size", "n_embd", "d_model", "dim", "hidden_dim"),
    ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers"),
    ("num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_attention_heads"),
)
_GENERATION = frozenset(
    (
        "max_length", "max_new_tokens", "min_length", "min_new_tokens", "do_sample", "num_beams", "temperature",
        "top_k", "top_p", "min_p", "typical_p", "repetition_penalty", "length_penalty", "no_repeat_ngram_size",
        "bos_token_id", "eos_token_id", "pad_token_id", "decoder_start_token_id", "forced_bos_token_id",
        "forced_eos_token_id", "suppress_tokens", "begin_suppress_tokens", "cache_implementation", "use_cache",
        "chat_format", "_from_model_config", "transformers_version", "num_return_sequences", "penalty_alpha",
        "max_window_size", "stop_strings", "return_timestamps", "is_multilingual", "lang_to_id", "task_to_id",
        "user_token_id", "assistant_token_id", "trust_remote_code", "bad_words_ids", "sequence_bias", "force_words_ids",
        "forced_decoder_ids", "early_stopping", "num_beam_groups", "diversity_penalty", "encoder_repetition_penalty",
        "encoder_no_repeat_ngram_size", "exponential_decay_length_penalty", "guidance_scale", "renormalize_logits",
        "remove_invalid_values", "epsilon_cutoff", "eta_cutoff", "top_h", "max_time", "token_healing",
        "watermarking_config", "return_dict_in_generate", "cache_config", "max_cache_len", "no_timestamps_token_id",
        "alignment_heads", "prompt_lookup_num_tokens", "assistant_early_exit", "num_assistant_tokens",
    )
)  # fmt: skip
_WEIGHTS = (".safetensors", ".bin", ".gguf", ".pt", ".pth", ".ckpt", ".h5", ".msgpack", ".index.json")
_TOKENIZERS = frozenset(("tokenizer.json", "tokenizer.model", "tokenizer_config.json", "vocab.json", "vocab.txt"))


def detect(file_name: str, data: JSONValue, folder_listing: Listing = None, text: str | None = None) -> FileKind | None:
    """The kind of a JSON file; None when it is none of ours.

    ``data`` is the document's value as far as it could be read, None where nothing could. An empty file, told by
    ``text``, is ours only where the folder (a listing, or what gives one) holds weights or a tokenizer.
    """
    name = file_name.replace("\\", "/").rpartition("/")[2].lower()
    if name in _NEVER:
        return None
    named = next((kind for ending, kind in _NAMED.items() if name == ending or name.endswith("." + ending)), None)
    if data is None or data == {}:
        empty = data == {} or (text is not None and not text.strip("\ufeff \t\r\n"))
        if named is None or (text is not None and text.strip() == "null"):
            return None
        if named == "config" and text is not None and '"model_type"' in text:
            return named  # the key is there, its value is damaged
        return named if not empty or (named != "config" and data == {}) or _is_repository(folder_listing) else None
    if not isinstance(data, dict) or not _FOREIGN.isdisjoint(data):
        return None
    if name.endswith(".index.json"):
        return "index" if isinstance(data.get("weight_map"), dict) else None
    if _is_adapter(data, named):
        return "adapter_config"
    if named == "generation_config":
        return None if _GENERATION.isdisjoint(data) else "generation_config"
    if named == "adapter_config":
        return None
    if _is_config(data, plainly_named=named == "config" or "config" in name):
        return "config"
    return "params" if _is_params(data, name) else None


def _is_adapter(data: dict[str, JSONValue], named: FileKind | None) -> bool:
    if isinstance(data.get("peft_type"), str):
        return named != "config" or "base_model_name_or_path" in data
    return named == "adapter_config" and "base_model_name_or_path" in data and ("r" in data or "target_modules" in data)


def _is_config(data: dict[str, JSONValue], plainly_named: bool) -> bool:
    architectures = data.get("architectures")
    classes = [item for item in architectures if isinstance(item, str)] if isinstance(architectures, list) else []
    auto_map = data.get("auto_map")
    if any(_ARCHITECTURE.fullmatch(item) for item in classes):
        return True
    if isinstance(auto_map, dict) and any(key == "AutoConfig" or key.startswith("AutoModel") for key in auto_map):
        return True
    model_type = data.get("model_type")
    if isinstance(model_type, str) and ("transformers_version" in data or _has_sizes(data)):
        return _TRAINING.isdisjoint(data) or "transformers_version" in data
    if not plainly_named or not _TRAINING.isdisjoint(data):
        return False
    if isinstance(model_type, str) or (model_type is None and "model_type" in data):
        return True
    return "vocab_size" in data and _has_sizes(data)


def _has_sizes(data: dict[str, JSONValue]) -> bool:
    """A width, a depth and a number of heads."""
    return all(any(type(data.get(key)) is int for key in keys) for keys in _SIZES)


def _is_params(data: dict[str, JSONValue], name: str) -> bool:
    """The params.json of Mistral's and Meta's own code."""
    if not all(type(data.get(key)) is int for key in ("dim", "n_layers", "n_heads")):
        return False
    return _TRAINING.isdisjoint(data) and (name.endswith("params.json") or "norm_eps" in data)


def _is_repository(listing: Listing) -> bool:
    names = listing() if callable(listing) else listing
    return any(name.endswith(_WEIGHTS) or name in _TOKENIZERS for name in names or ())
