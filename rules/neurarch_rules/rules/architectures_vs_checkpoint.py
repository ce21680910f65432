from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place, Related
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.data import facts
from neurarch_rules.facts.sources import config_type
from neurarch_schemas.catalogue.load import ConfigType

RULE = RuleInfo(
    name="architectures-vs-checkpoint",
    severity="warning",
    category="correctness",
    summary="The tensors beside the config belong to another class of the family than architectures names",
    aliases=("architectures-wrong",),
    when="checkpoint",
)


def check(context: Context) -> Iterator[Finding]:
    config, tensors = context.analysis.config, context.analysis.folder.checkpoint
    record = None if config is None else config_type(config)
    data = context.analysis.document.data
    if config is None or record is None or not tensors or not isinstance(data, dict) or not data.get("architectures"):
        return
    names = [tensor.name for tensor in tensors]
    found = _by_prefix(record, config.architecture, names) or _by_head(record, config.architecture, names)
    if found is None:
        return
    example, better = found
    file = next((name for name in sorted(context.analysis.folder.listing or ()) if name.endswith(".index.json")), None)
    yield Finding(
        f"architectures names {config.architecture}, but the checkpoint holds {example}"
        + (f": its class is {better}" if better else "")
        + "; loading leaves that part of the model at random numbers",
        Place("/architectures"),
        (Related(Place("", file=file), f"{example} is here"),),
    )


def _by_prefix(record: ConfigType, architecture: str, names: list[str]) -> tuple[str, str | None] | None:
    """The first part of the tensor names is the base prefix of another class."""
    prefixes: dict[str, str] = facts("class_prefixes")["prefixes"]
    own = prefixes.get(architecture)
    if own is None:
        return None
    first = Counter(name.partition(".")[0] for name in names).most_common(1)[0][0]
    better = [name for name in record.classes if prefixes.get(name) == first]
    if first == own or not better or any(name.startswith(own + ".") for name in names):
        return None
    return f"{first}.*", better[0]


HEADS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("ForSequenceClassification", ("score.", "classifier.", "classification_head.")),
    ("ForQuestionAnswering", ("qa_outputs.",)),
    ("ForMaskedLM", ("cls.predictions.", "lm_head.", "vocab_transform.", "generator_lm_head.")),
    ("ForCausalLM", ("lm_head.", "embed_out.", "output.", "cls.predictions.", "output_projection.")),
)
"""Where each kind of head keeps its tensors."""


def _by_head(record: ConfigType, architecture: str, names: list[str]) -> tuple[str, str | None] | None:
    """The checkpoint has the head of another task and not the one architectures names."""
    own = next((heads for suffix, heads in HEADS if architecture.endswith(suffix)), None)
    if own is None or any(name.startswith(own) for name in names) or len(names) < 2:
        return None
    for suffix, heads in HEADS:
        example = next((name for name in names if name.startswith(heads)), None)
        if example is not None and suffix not in ("ForMaskedLM", "ForCausalLM"):
            return example, next((name for name in record.classes if name.endswith(suffix)), None)
    return None
