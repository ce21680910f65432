from __future__ import annotations

from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place, Related
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.fixes import replace_value, set_value
from neurarch_rules.facts.places import as_written, is_written, place, related
from neurarch_rules.facts.sources import config_type
from neurarch_schemas.catalogue.load import ConfigType
from neurarch_schemas.config.model_config import ModelConfig

RULE = RuleInfo(
    name="decoder-flag-missing",
    severity="warning",
    category="correctness",
    summary="A causal head on an encoder whose is_decoder is not true: attention sees the future",
    needs=("LMHeadModel", "ForCausalLM", "add_cross_attention", "is_encoder_decoder"),
    about="file",
)


def check(context: Context) -> Iterator[Finding]:
    config = context.analysis.config
    record = None if config is None else config_type(config)
    if config is not None and record is not None:
        yield from _cross_attention(config, record)
        yield from _encoder_decoder(context, config, record)
    if config is None or record is None or not config.architecture.endswith(("LMHeadModel", "ForCausalLM")):
        return
    if "is_decoder" not in record.properties or record.declared.get("is_decoder") is not False:
        return
    if not any(name.endswith("ForMaskedLM") for name in record.classes) or config.get("is_decoder") is True:
        return
    yield Finding(
        f"{config.architecture} without is_decoder attends in both directions: a causal language model that sees the "
        "tokens it "
        "has to predict",
        place(config, "is_decoder"),
        (Related(Place("/architectures"), f"architectures names {config.architecture}"),),
        set_value(context.analysis, "", "is_decoder", True, "is_decoder = true", "unsafe"),
    )


def _cross_attention(config: ModelConfig, record: ConfigType) -> Iterator[Finding]:
    if (
        config.get("add_cross_attention") is True
        and config.get("is_decoder") is not True
        and is_written(config, "add_cross_attention")
    ):
        if record.declared.get("is_decoder") is not False or record.declared.get("add_cross_attention") is True:
            return  # a class that cross-attends by default sets the flag itself
        yield Finding(
            "add_cross_attention needs is_decoder: the model refuses to be built without it",
            place(config, "add_cross_attention"),
            (related(config, "is_decoder"),),
            severity="error",
        )


def _encoder_decoder(context: Context, config: ModelConfig, record: ConfigType) -> Iterator[Finding]:
    """The flag that generate looks at, against what the family is."""
    usual = record.declared.get("is_encoder_decoder")
    setting = as_written(config, "is_encoder_decoder")
    if not isinstance(usual, bool) or setting is None or setting.pointer is None or setting.value is usual:
        return
    if setting.value is False and config.architecture.endswith(("EncoderModel", "ForCausalLM", "Decoder", "Model")):
        return
    if setting.value is True and usual is False and not config.nested:
        message = (
            f"is_encoder_decoder is true, but {config.model_type} has no encoder: generate looks for one and fails"
        )
    elif setting.value is False:
        message = f"is_encoder_decoder is false, but {config.architecture} is one: generate feeds it as a decoder alone"
    else:
        return
    fixes = replace_value(
        context.analysis, setting.pointer, usual, f"is_encoder_decoder = {str(usual).lower()}", "unsafe"
    )
    yield Finding(message, place(config, "is_encoder_decoder"), fixes=fixes)
