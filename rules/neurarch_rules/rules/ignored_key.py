from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.keys import partner, unread
from neurarch_rules.facts.places import configs
from neurarch_rules.facts.sources import config_type
from neurarch_rules.facts.words import quoted

RULE = RuleInfo(
    name="ignored-key",
    severity="info",
    category="correctness",
    summary="A key with a large effect elsewhere that this model type does not read",
)

CHANGES_MUCH = {
    "sliding_window": "attention is over the whole context",
    "num_key_value_heads": "every head has its own keys and values",
    "rope_scaling": "positions are not scaled",
    "layer_types": "all layers are alike",
    "num_local_experts": "there are no experts",
    "num_experts": "there are no experts",
    "n_routed_experts": "there are no experts",
    "num_experts_per_tok": "there are no experts",
    "attention_bias": "its projections are fixed",
    "attn_logit_softcapping": "attention scores are not capped",
    "final_logit_softcapping": "logits are not capped",
    "qk_layernorm": "queries and keys are not normalised by it",
    "use_qk_norm": "queries and keys are not normalised by it",
    "kv_lora_rank": "attention is not latent",
    "parallel_attn": "the blocks are in their fixed order",
    "alibi": "positions are fixed by the family",
}


def check(context: Context) -> Iterator[Finding]:
    for config in configs(context):
        record = config_type(config)
        if record is None:
            continue
        for key, value in unread(context, config):
            effect = CHANGES_MUCH.get(key)
            if effect is None or value in (None, False, 0, 1) or partner(record, key) is not None:
                continue
            if any(key in nested for nested in config.nested.values()) or value == config.get("num_attention_heads"):
                continue
            yield Finding(
                f"{config.model_type} does not read {key} ({quoted(value)}): {effect}",
                Place(f"{config.pointer}/{key}", on="key"),
                tags=("unnecessary",),
            )
