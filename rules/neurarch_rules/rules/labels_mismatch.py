from __future__ import annotations

from collections.abc import Iterator, Mapping

from neurarch_rules.engine.context import Context
from neurarch_rules.engine.finding import Finding, Place, Related
from neurarch_rules.engine.rule import RuleInfo
from neurarch_rules.facts.fixes import remove, replace_value
from neurarch_rules.facts.words import either, quoted
from neurarch_schemas.documents.json_value import JSONValue
from neurarch_schemas.documents.pointer import join_pointer

RULE = RuleInfo(
    name="labels-mismatch",
    severity="error",
    category="correctness",
    summary="num_labels, id2label and label2id describe different sets of labels",
    needs=("id2label", "num_labels", "problem_type"),
)


def check(context: Context) -> Iterator[Finding]:
    data = context.analysis.document.data
    if not isinstance(data, dict):
        return
    yield from _problem_type(data)
    model_type = data.get("model_type")
    count, names, ids = data.get("num_labels"), data.get("id2label"), data.get("label2id")
    yield from _ids(names)
    yield from _single_label(data)
    if "num_labels" in data and (problem := _no_count(count, names, model_type)) is not None:
        yield Finding(problem, Place("/num_labels"))
    elif type(count) is int and isinstance(names, dict) and len(names) != count:
        yield _replaced(context, count, names, model_type)
    elif isinstance(names, dict) and 0 < len(names) <= 5000:
        numbers = sorted(int(key) for key in names if key.lstrip("-").isdecimal())
        if len(numbers) == len(names) and numbers != list(range(len(numbers))):
            yield Finding(
                f"id2label has {len(numbers):,} entries whose ids are not 0 to {len(numbers) - 1:,} "
                f"({numbers[0]} to {numbers[-1]}): the head has {len(numbers):,} outputs, numbered from 0",
                Place("/id2label"),
                severity="warning",
            )
    if isinstance(names, dict) and isinstance(ids, dict):
        yield from _inverse(names, ids)


def _no_count(count: JSONValue, names: JSONValue, model_type: JSONValue) -> str | None:
    """Why num_labels cannot be counted to; the base class counts to anything that ``range`` takes."""
    if type(count) is int or (isinstance(count, bool) and model_type != "pvt"):
        return None
    if isinstance(count, float) and isinstance(names, dict) and count == len(names) and model_type != "pvt":
        return None
    if model_type == "openai_privacy_filter" and isinstance(names, dict):
        return None
    return f"num_labels must be a whole number, not {quoted(count)}: transformers refuses the file"


def _replaced(context: Context, count: int, names: Mapping[str, object], model_type: JSONValue) -> Finding:
    """num_labels and id2label of different lengths: which one counts depends on the class, see ``label_count``."""
    entries = f"the {len(names):,} entries of id2label"
    fixes = remove(context.analysis, "/num_labels", f"remove num_labels, so that {entries} count", "unsafe")
    if model_type == "pvt":
        message = (
            f"num_labels is {count:,}, beside {entries}: the head gets {count:,} rows, which id2label does not name"
        )
        fixes = replace_value(context.analysis, "/num_labels", len(names), f"num_labels = {len(names)}", "unsafe")
    elif model_type == "openai_privacy_filter":
        message = f"num_labels {count:,} is not used beside {entries}: the head gets {len(names):,} rows"
    else:
        message = (
            f"num_labels {count:,} replaces {entries}: the head gets {count:,} rows, and labels are called LABEL_0, "
            "LABEL_1 and so on"
        )
    related = Related(Place("/id2label"), f"id2label has {len(names):,} entries")
    return Finding(message, Place("/num_labels"), (related,), fixes, severity="warning")


PROBLEMS = ("regression", "single_label_classification", "multi_label_classification")


def _problem_type(data: Mapping[str, object]) -> Iterator[Finding]:
    value = data.get("problem_type")
    if value is not None and value not in PROBLEMS:
        yield Finding(
            f"problem_type is {either([quoted(name) for name in PROBLEMS])}, not {quoted(value)}: it is loaded as it "
            "is, and no loss is computed for it",
            Place("/problem_type"),
            severity="warning",
        )


def _ids(names: object) -> Iterator[Finding]:
    """JSON keys are strings; transformers turns each into a number."""
    if names is not None and not isinstance(names, dict):
        yield Finding(
            f"id2label must be an object from ids to names, not {quoted(names)}: transformers refuses the file",
            Place("/id2label"),
            severity="error",
        )
    elif isinstance(names, dict):
        wrong = [key for key in names if not key.strip().lstrip("+-").isdecimal()]
        if wrong:
            yield Finding(
                f"id2label has the key {quoted(wrong[0])}, where an id must stand: transformers turns each key into a "
                "number and refuses the file; are names and ids the wrong way round?",
                Place(join_pointer("/id2label", wrong[0]), on="key"),
                severity="error",
            )


def _single_label(data: Mapping[str, object]) -> Iterator[Finding]:
    names, count = data.get("id2label"), data.get("num_labels")
    labels = len(names) if isinstance(names, dict) else count
    if data.get("problem_type") == "single_label_classification" and labels == 1:
        yield Finding(
            "single_label_classification with one label: its probability is always 1 and the loss 0, and transformers "
            "5.24 refuses the file; two labels, or problem_type regression, say what is meant",
            Place("/problem_type"),
            (Related(Place("/id2label" if isinstance(names, dict) else "/num_labels"), "one label"),),
            severity="warning",
        )


def _inverse(names: Mapping[str, object], ids: Mapping[str, object]) -> Iterator[Finding]:
    if len(ids) != len(set(map(str, names.values()))):
        yield Finding(
            f"id2label has {len(names):,} entries and label2id {len(ids):,}: one label cannot be turned back into "
            "its id",
            Place("/label2id"),
            (Related(Place("/id2label"), f"id2label has {len(names):,} entries"),),
            severity="warning",
        )
        return
    for key, label in names.items():
        other = ids.get(label) if isinstance(label, str) else None
        if isinstance(other, int) and key.lstrip("-").isdecimal() and other != int(key):
            if sum(value == label for value in names.values()) > 1:
                continue
            yield Finding(
                f"id2label says {key} is {quoted(label)}, label2id says {quoted(label)} is {other}: predictions and "
                "training "
                "labels disagree",
                Place(f"/label2id/{str(label).replace('~', '~0').replace('/', '~1')}"),
                (Related(Place(f"/id2label/{key}"), f"id2label says {quoted(label)}"),),
                severity="warning",
            )
            return
