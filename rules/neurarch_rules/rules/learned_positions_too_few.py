from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place, Related
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts import geometry
from neurarch_rules.facts.data import fact_set
from neurarch_rules.facts.places import integer, place, related, whole_number
from neurarch_schemas.config.model_config import ModelConfig

RULE = RuleInfo(
    name="learned-positions-too-few",
    severity="warning",
    category="correctness",
    summary="The tokenizer allows more tokens than the learned position table has rows for",
    aliases=("learned-positions",),
    when="tokenizer",
)

SENTENCES = "sentence_bert_config.json"
LIMITS = (("tokenizer_config.json", "model_max_length"), (SENTENCES, "max_seq_length"))
"""Where the longest input is written; sentence-transformers has a limit of its own, which it sets last."""
UNLIMITED = 1_000_000
"""Tokenizers write a huge number when they have no limit of their own."""


def check(context: Context) -> Iterator[Finding]:
    config = context.analysis.config
    file, key = LIMITS[0] if SENTENCES not in context.analysis.folder.json_files else LIMITS[1]
    tokenizer = context.analysis.folder.json_files.get(file)
    if config is None or not config.is_native or not isinstance(tokenizer, dict):
        return
    allowed = whole_number(tokenizer.get(key))
    rows = geometry.positions(config)
    if allowed is None or rows is None or not 0 < allowed < UNLIMITED or not _has_table(config):
        return
    who = "the tokenizer" if file != SENTENCES else file
    offset = 0
    padding = integer(config, "pad_token_id")
    if config.model_type in fact_set("learned_positions", "after_padding") and padding is not None:
        offset = padding + 1
    usable = rows.value - offset
    if allowed <= usable:
        return
    where: tuple[Related, ...] = (Related(Place(f"/{key}", file=file), f"{key} is {allowed:,}"),)
    if offset:
        message = (
            f"positions start at pad_token_id + 1 = {offset}, so {rows.value} rows hold {usable} tokens, but "
            f"{who} allows {allowed}: longer inputs crash; {rows.key} must be {allowed + offset}, or {who} must stop "
            f"at {usable}"
        )
        where = (*where, related(config, "pad_token_id"))
    else:
        message = f"{rows.value} learned positions, but {who} allows {allowed} tokens: longer inputs crash"
    yield Finding(message, place(config, rows.key), where)


def _has_table(config: ModelConfig) -> bool:
    """The family looks positions up in a table of ``max_position_embeddings`` rows."""
    if config.get("position_embedding_type") not in (None, "absolute"):
        return False
    return config.model_type in fact_set("learned_positions", "after_padding") | fact_set(
        "learned_positions", "from_zero"
    )
