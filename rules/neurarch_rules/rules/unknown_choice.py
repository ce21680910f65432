from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.allowed import guess, requirement
from neurarch_rules.facts.data import facts
from neurarch_rules.facts.fixes import replace_value
from neurarch_rules.facts.places import configs, place
from neurarch_rules.facts.sources import config_type
from neurarch_rules.facts.words import quoted
from neurarch_schemas.config.model_config import ModelConfig

RULE = RuleInfo(
    name="unknown-choice",
    severity="error",
    category="correctness",
    summary="A value the model class has no code for, of a key that chooses between a few ways to build it",
    needs=(
        *('"attention_type"', "ctc_loss_reduction", "depth_estimation_type", "distribution_output"),
        *("encoder_attention_type", "feat_extract_norm", "global_padding", '"layer_type"', '"loss"', "norm_type"),
        *("pooling_type", "position_embedding_type", "readout_type", "summary_type", "time_step_rank", "topk_method"),
        *("vision_feature_select_strategy", "visual_prompter_apply", "dbrx", "csm", "router_weight_on_input"),
        *("audio_channels", "query_dim", "scoring_func"),
    ),
    about="key",
)


def check(context: Context) -> Iterator[Finding]:
    for config in configs(context):
        record = config_type(config)
        if record is None:
            continue
        for key, entries in facts("choices")["keys"].items():
            setting = config.setting(key)
            if setting is None or setting.pointer is None:
                continue
            allowed = _entry(entries, config, known=record.knows(key))
            if allowed is None or not (isinstance(setting.value, str) or allowed.get("any")):
                continue
            must = requirement(setting.value, allowed)
            if must is None:
                continue
            meant = guess(setting.value, allowed)
            yield Finding(
                f"{key} of {config.model_type} must be {must}, not {quoted(setting.value)}: "
                + allowed.get("consequence", "the model cannot be built"),
                place(config, key),
                fixes=replace_value(context.analysis, setting.pointer, meant, f'{key} = "{meant}"', "unsafe")
                if meant
                else (),
                severity=allowed.get("severity"),
            )


def _entry(entries: list[Mapping[str, Any]], config: ModelConfig, *, known: bool) -> Mapping[str, Any] | None:
    """What this type may say; an entry for all types holds for those that have the key.

    "unread" entries are of keys that only serving engines read: the class does always the one thing.
    """
    for entry in entries:
        if config.model_type in entry["types"] if entry["types"] != "*" else known:
            return entry
    return None
