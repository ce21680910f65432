"""The hover of a place in a config: what the key does, its default, and its effect on this very model's numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurarch_lsp.render import effects, key_facts, model_card, sections
from neurarch_lsp.render.markup import Block, Text, code, escape, to_markdown, to_plain
from neurarch_schemas.catalogue import load as catalogue
from neurarch_schemas.record import Record

if TYPE_CHECKING:
    from neurarch_rules.engine.options import Options
    from neurarch_schemas.analysis import Analysis
    from neurarch_schemas.documents.document import Span


WITHOUT_DEFAULT = frozenset(
    {"model_type", "architectures", "auto_map", "transformers_version", "_name_or_path", "quantization_config"}
)
"""Keys that say what the file is: a default means nothing there."""

MAX_READERS = 6

LEGACY_ROPE = frozenset({"rope_theta", "rope_scaling", "partial_rotary_factor", "rotary_dim"})


class Hover(Record):
    span: Span
    blocks: tuple[Block, ...]

    def markdown(self) -> str:
        return to_markdown(self.blocks)

    def plain(self) -> str:
        return to_plain(self.blocks)


def hover(analysis: Analysis, offset: int, options: Options) -> Hover | None:
    """None where there is nothing to say."""
    document = analysis.document
    place = document.pointer_at(offset)
    on_key = place.part in ("key", "value") and place.pointer != ""
    if not on_key:
        whole = document.nearest_span("")
        if document.lines.line_of(offset) not in (0, document.lines.line_of(whole[0])):
            return None
        return Hover(whole, tuple(model_card.card(analysis.informed, options)))
    span = document.key_span(place.pointer) if place.part == "key" else document.value_span(place.pointer)
    blocks = of_pointer(analysis, place.pointer, options)
    return Hover(span or document.nearest_span(place.pointer), tuple(blocks)) if blocks else None


def of_pointer(analysis: Analysis, pointer: str, options: Options) -> list[Block]:
    """The blocks about one key, written or not; [] where nothing is known."""
    config = analysis.config
    found = key_facts.facts(config, pointer) if config is not None else None
    if found is None:
        return sections.inner(analysis, pointer, options)
    blocks: list[Block] = [Text(_title(found))]
    meaning = sections.meaning(found.name)
    if meaning:
        blocks.append(Text(meaning))
    if found.name not in WITHOUT_DEFAULT and found.name not in found.owner.nested:
        blocks.append(Text(_value(analysis, pointer, found)))
    if not meaning:
        blocks += _readers(found)
    blocks += effects.of_key(analysis, pointer, found, options)
    blocks += sections.of_key(analysis, found, pointer)
    return blocks


def _readers(found: key_facts.KeyFacts) -> list[Block]:
    """Which classes read a key that no sentence is written about."""
    from neurarch_schemas.catalogue.reads import classes_reading, is_read

    if found.record is None or found.schema is None:
        return []
    classes = classes_reading(found.record, found.name)
    if classes:
        more = f" and {len(classes) - MAX_READERS} more" if len(classes) > MAX_READERS else ""
        return [Text("Read by " + ", ".join(code(name) for name in classes[:MAX_READERS]) + more + ".")]
    return [Text("No class of this family reads it.")] if is_read(found.record, found.name) is False else []


def _title(found: key_facts.KeyFacts) -> str:
    title = f"**{code(found.key)}**"
    if found.name != found.key:
        title += f" ({code(found.name)} in transformers)"
    kind = key_facts.type_text(found.schema) if found.schema else ""
    return f"{title} {kind}".rstrip()


def _value(analysis: Analysis, pointer: str, found: key_facts.KeyFacts) -> str:
    """Where the value comes from, in one or two sentences."""
    class_name = found.record.config_class if found.record else ""
    written = analysis.document.value_span(pointer) is not None
    setting, default = found.setting, found.default
    if found.schema is None and found.record is not None and found.name not in found.record.keywords:
        if found.name in LEGACY_ROPE and "rope_parameters" in found.record.properties:
            return f"transformers 5 reads it into {code('rope_parameters')}."
        if found.name in catalogue.generation_keys():
            return "A key of generation_config.json: transformers does not use it from here."
        return f"Not a key of {code(class_name)}: transformers keeps it and does not read it."
    has_default = default is not key_facts.NO_DEFAULT
    if not written:
        shown = key_facts.value_text(setting.value) if setting else "nothing"
        return f"Not written: {code(shown)}" + (f" ({escape(setting.source)})." if setting and setting.source else ".")
    value = setting.value if setting else None
    overridden = found.owner.overridden.get(found.name)
    if overridden is not None and setting is not None:
        shown = key_facts.value_text(overridden.value)
        return f"Written as {code(shown)}, but {code(class_name)} makes it {code(key_facts.value_text(value))}."
    if not has_default and found.record is not None and found.name in found.record.keywords:
        return f"{code(class_name)} reads it and does not keep it."
    if not has_default:
        return "Has no default." if found.record else "The model type is not known, so neither is a default."
    if value == default and isinstance(value, bool) == isinstance(default, bool):
        return f"{code(key_facts.value_text(value))} is the default of {code(class_name)}."
    return f"Default of {code(class_name)}: {code(key_facts.value_text(default))}."
