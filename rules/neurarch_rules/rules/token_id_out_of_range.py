from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Severity
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.defaults import are_defaults
from neurarch_rules.facts.places import configs, integer, is_written, place, related, whole_number
from neurarch_rules.facts.sources import config_type, readers, reads
from neurarch_schemas.analysis import Analysis
from neurarch_schemas.config.language_model import LANGUAGE_CONFIGS
from neurarch_schemas.config.model_config import ModelConfig

RULE = RuleInfo(
    name="token-id-out-of-range",
    severity="error",
    category="correctness",
    summary="A special token's id lies outside the rows of the embedding that reads it",
    aliases=("token-id-range",),
)

IDS = (
    "pad_token_id",
    "bos_token_id",
    "eos_token_id",
    "sep_token_id",
    "cls_token_id",
    "mask_token_id",
    "unk_token_id",
    "decoder_start_token_id",
    "forced_bos_token_id",
    "forced_eos_token_id",
)
PLACEHOLDERS = ("image_token_id", "image_token_index", "video_token_id", "video_token_index", "audio_token_index")
LOOKED_UP = frozenset(
    (
        "aria",
        "aya_vision",
        "cohere2_vision",
        "fast_vlm",
        "glm4v",
        "glm4v_moe",
        "got_ocr2",
        "idefics2",
        "idefics3",
        "internvl",
        "llava",
        "llava_next",
        "llava_next_video",
        "llava_onevision",
        "mistral3",
        "qwen2_5_vl",
        "qwen2_audio",
        "qwen2_vl",
        "qwen3_5",
        "qwen3_5_moe",
        "qwen3_vl",
        "qwen3_vl_moe",
        "smolvlm",
        "video_llava",
        "vipllava",
    )
)
"""Families that look placeholders up like any token before features take their place; others spare them."""
ROWS = ("vocab_size", "n_vocab", "padded_vocab_size")
OTHER_ROWS = ("text_vocab_size", "codebook_vocab_size", "audio_vocab_size")
"""Speech models that have one table for several vocabularies, or several tables: which id is whose differs."""
FOREIGN = (
    "talker_config",
    "code_predictor_config",
    "code2wav_config",
    "token2wav_config",
    "audio_encoder",
    "codec_config",
)
"""Nested configs whose text ids belong to another model's vocabulary."""


def check(context: Context) -> Iterator[Finding]:
    for config in configs(context):
        if any(part in FOREIGN for part in config.pointer.split("/")):
            continue
        owner = _embedding_owner(context.analysis, config)
        rows = None if owner is None else integer(owner, *ROWS)
        if owner is None or rows is None or rows <= 0:
            continue
        if any(integer(owner, name) is not None for name in OTHER_ROWS):
            continue
        key = next(name for name in ROWS if integer(owner, name) is not None)
        names = dict.fromkeys(IDS)
        if config.is_native and config.model_type in LOOKED_UP:
            names.update(dict.fromkeys(config.synonyms.get(name, name) for name in PLACEHOLDERS))
        for name in names:
            yield from _check(config, owner, key, rows, name)


def _embedding_owner(analysis: Analysis, config: ModelConfig) -> ModelConfig | None:
    """The config whose embedding these ids index: its own, else that of its text model."""
    own = next((name for name in ROWS if integer(config, name) is not None and is_written(config, name)), None)
    if own is not None and reads(config, own):
        return config
    for key in LANGUAGE_CONFIGS:
        inner = config.nested.get(key)
        if inner is not None:
            return _embedding_owner(analysis, inner)
    return config if integer(config, *ROWS) is not None else None


def _check(config: ModelConfig, owner: ModelConfig, key: str, rows: int, name: str) -> Iterator[Finding]:
    setting = config.setting(name)
    if setting is None or setting.value is None:
        return
    if not is_written(config, name) and not (name == "pad_token_id" and is_written(owner, key)):
        return
    values = setting.value if isinstance(setting.value, list) else [setting.value]
    for at, value in enumerate(values):
        number = whole_number(value)
        if number is None or 0 <= number < rows or number == -1:
            continue
        # Looked up at the first image: the defaults of LLaVA, 32,000 of 32,000, fail as any other values do.
        is_looked_up = name in PLACEHOLDERS and is_written(config, name)
        is_default = config.is_native and are_defaults(config, name) and are_defaults(owner, key)
        if is_default and not is_looked_up:
            continue
        severity: Severity = "error" if name == "pad_token_id" and _pads(config, rows, number) else "warning"
        if name.startswith("image_token") and not is_default:
            severity = "error"
        what = f"{name} {number}" + ("" if is_written(config, name) else " (the default)")
        is_built = severity != "error" or name != "pad_token_id"
        consequence = "looking it up crashes" if is_built else "the embedding cannot be built"
        if name in ("eos_token_id",) and severity == "warning":
            consequence = "the model can never produce it, so generation does not stop"
        yield Finding(
            f"{what} is outside the {rows:,} rows of the embedding (0 to {rows - 1:,}): {consequence}",
            place(config, name, at) if isinstance(setting.value, list) else place(config, name),
            (related(owner, key),),
            severity=severity,
        )


def _pads(config: ModelConfig, rows: int, number: int) -> bool:
    """Model code of the family passes pad_token_id to its embedding, which refuses ids beyond its rows."""
    if number < -rows or number >= rows:
        found = readers(config, "pad_token_id")
        record = config_type(config)
        return bool(found) and record is not None
    return False
