from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.decoder import attention_layers, decoder_config
from neurarch_rules.facts.places import integer, place

RULE = RuleInfo(
    name="classifier-pad-missing",
    severity="warning",
    category="correctness",
    summary="A classifier on a decoder has no padding token, so it cannot tell where a text ends",
    needs=("ForSequenceClassification",),
)


def check(context: Context) -> Iterator[Finding]:
    config, decoder = context.analysis.config, decoder_config(context)
    if config is None or decoder is None or not config.is_native:
        return
    if not (config.architecture or "").endswith("ForSequenceClassification") or not attention_layers(context):
        return
    if any(integer(owner, "pad_token_id") is not None for owner in (config, decoder)):
        return
    yield Finding(
        "pad_token_id is not given: the label is read at the last token that is no padding, so batches of more than "
        "one text are refused and a single padded text is judged by its padding; name the padding token, which may be "
        "the end token",
        place(config, "pad_token_id"),
    )
