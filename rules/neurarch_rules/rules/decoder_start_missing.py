from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.places import integer, place
from neurarch_schemas.config.model_config import ModelConfig

RULE = RuleInfo(
    name="decoder-start-missing",
    severity="warning",
    category="correctness",
    summary="An encoder-decoder model does not say with which token its decoder starts",
    needs=("ForConditionalGeneration", "EncoderDecoder", "MTModel"),
)

PAIRED = ("encoder-decoder", "speech-encoder-decoder", "vision-encoder-decoder")
"""Any encoder with any decoder: the class cannot know the token."""
SHIFTED = (
    *PAIRED,
    "bart",
    "blenderbot",
    "blenderbot-small",
    "led",
    "longt5",
    "marian",
    "mt5",
    "mvp",
    "pegasus",
    "pegasus_x",
    "pop2piano",
    "switch_transformers",
    "t5",
    "udop",
    "umt5",
    "whisper",
)
"""Families that shift the labels to the right behind this token, and refuse to without it."""
HEADS = ("ForConditionalGeneration", "EncoderDecoderModel", "MTModel")


def check(context: Context) -> Iterator[Finding]:
    config, data = context.analysis.config, context.analysis.document.data
    if config is None or not config.is_native or config.model_type not in SHIFTED:
        return
    if not isinstance(data, dict) or "architectures" not in data or not (config.architecture or "").endswith(HEADS):
        return
    decoder = config.nested.get("decoder")
    beside = context.analysis.folder.json_files.get("generation_config.json")
    generation = beside if isinstance(beside, dict) else {}
    for name, what in _needed(config):
        if any(owner is not None and integer(owner, name) is not None for owner in (config, decoder)):
            continue
        if generation.get(name) is not None:
            continue
        yield Finding(
            f"{name} is not given: {what}, so training fails at the first batch"
            + ("" if integer(config, "bos_token_id") is not None else ", and generation cannot start"),
            place(config, name),
        )


def _needed(config: ModelConfig) -> Iterator[tuple[str, str]]:
    yield "decoder_start_token_id", "the decoder's input is the labels shifted to the right behind this token"
    if config.model_type in PAIRED:
        yield "pad_token_id", "ignored labels are replaced by it"
