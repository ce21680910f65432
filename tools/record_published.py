"""Write rules/neurarch_rules/facts/published_sizes.tsv: the sizes of published models, facts without their files.

Usage: python tools/record_published.py [--database SOURCE=FILE] [--configs SOURCE=FOLDER] [--list SOURCE=FILE] ...

FOLDER holds published config.json files, named ORG__NAME.json or ORG--NAME_config.json; a list is shaped as
known_models.json beside this file (name, settings); a database as the one of llmfit (name, architecture,
num_hidden_layers, ..., release_date, hf_likes, from the config.json files on the hub). What the table holds already and
what the card's catalogue of models knows is kept, so a new source only adds. SOURCE is recorded with each line.

There is a line for each geometry and model type. What one unknown model alone has is left out: it must be shared by two
models or liked by some people. A line carries the name of the first model of a known lab (releases.toml) that has these
sizes, else of the most liked one, and every rope_theta that files or lists give for them.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from neurarch_rules.engine.analyse import analyse_text
from neurarch_rules.facts.decoder import innermost_decoder
from neurarch_rules.facts.published import Sizes, measured, model_types
from neurarch_rules.facts.rope import gives_theta, rope_theta
from neurarch_schemas.catalogue.load import config_type

ROOT = Path(__file__).resolve().parent
TARGET = ROOT.parent / "rules" / "neurarch_rules" / "facts" / "published_sizes.tsv"
PROFILES = ROOT.parent / "server" / "neurarch_lsp" / "card" / "profiles.json"

OWN = "config.json"
"""The source of lines that nothing but a published file at hand tells; without them the table is independent of it."""
NEEDED = frozenset({"layers", "hidden_size", "heads", "vocab_size"})
"""What a file must give itself: defaults are the class's, not the model's."""
FEWEST_LAYERS = 4
"""Draft heads for speculative decoding and models for tests have fewer."""
NARROW = 1024
"""Many narrower ones are exercises, alike by chance: they count where a known lab made them."""
FEWEST_LIKES = 10
FEWEST_MODELS = 2
CERTAIN = 10**6
"""Likes of a model that was recorded by hand or from its file."""
COPY = re.compile(r"\.(rev-\w+|llmviz|ome|xft|ktransformers|llm-tpu)$")
"""What tells copies of one file apart in a folder."""
UNSUITED = ("nsfw", "uncensored", "heretic", "abliterated", "unfiltered")
"""Names that no message should show; what they vary is in the table under its own name."""


class Model(NamedTuple):
    sizes: Sizes
    type: str
    name: str
    source: str
    released: str
    likes: int
    thetas: frozenset[float] = frozenset()


def of_settings(name: str, settings: dict[str, Any], source: str, *, is_whole: bool = False) -> Iterator[Model]:
    """``is_whole``: the settings are those of a file, in which what is not given is the default."""
    analysis = analyse_text("config.json", json.dumps(settings))
    if analysis is None or analysis.config is None:
        return
    config = innermost_decoder(analysis.config)
    found = measured(config, analysis.config)
    if found is None or not found.written >= NEEDED:
        return
    theta = rope_theta(config)
    thetas = frozenset() if theta is None or not (is_whole or gives_theta(config)) else frozenset({theta})
    for model_type in model_types(config, analysis.config):
        yield Model(found.sizes, model_type, name, source, released(name), CERTAIN, thetas)


def of_folder(folder: Path, source: str) -> Iterator[Model]:
    for path in sorted(folder.glob("*.json")):
        stem = path.stem.removesuffix("_config")
        organisation, found, name = stem.partition("__" if "__" in stem else "--")
        name = COPY.sub("", name)
        if not found or any(mark in name for mark in ("generation_config", "adapter_", "params", "encoder", "quant_")):
            continue
        settings = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(settings, dict) and settings.get("model_type"):
            yield from of_settings(f"{organisation}/{name}", settings, source, is_whole=True)


def of_database(path: Path, source: str) -> Iterator[Model]:
    """Latent attention is left out: the database gives it a head size that no projection has."""
    latent = {"kimi_k2", "kimi_k25", "kimi_linear", "kimi_vl", "gigachat3_5", "bailing_hybrid", "gravity_moe", "axk2"}
    for entry in json.loads(path.read_text(encoding="utf-8")):
        numbers = [
            entry.get(key)
            for key in (
                "num_hidden_layers",
                "hidden_size",
                "num_attention_heads",
                "num_key_value_heads",
                "head_dim",
                "moe_intermediate_size",
                "vocab_size",
            )
        ]
        model_type = entry["architecture"]
        record = config_type(model_type)
        if model_type in latent or model_type == "unknown" or (record is not None and record.knows("kv_lora_rank")):
            continue
        if any(word in entry["name"].lower() for word in UNSUITED):
            continue
        if not all(isinstance(number, int) and number > 0 for number in numbers):
            continue
        sizes = Sizes(*numbers)
        if may_be_filled_in(model_type, sizes):
            continue
        yield Model(
            sizes,
            model_type.removesuffix("_text"),
            entry["name"],
            source,
            entry.get("release_date") or released(entry["name"]),
            entry.get("hf_likes") or 0,
        )


def may_be_filled_in(model_type: str, sizes: Sizes) -> bool:
    """Whether a number may not come from the file.

    The database fills in hidden_size / heads for a missing head size and the heads for missing KV heads. That is right
    where the class does the same; of foreign code only KV heads that differ from the heads are believed.
    """
    usual = as_built(model_type, sizes)
    if usual is None:
        return sizes.kv_heads == sizes.heads
    plain = sizes.hidden_size // sizes.heads
    return (sizes.head_dim == plain != usual.head_dim) or (sizes.kv_heads == sizes.heads != usual.kv_heads)


@cache
def as_built(model_type: str, sizes: Sizes) -> Sizes | None:
    """What the class makes of a file that gives neither; None for foreign code."""
    settings = {
        "model_type": model_type,
        "hidden_size": sizes.hidden_size,
        "num_attention_heads": sizes.heads,
        "num_hidden_layers": sizes.layers,
        "vocab_size": sizes.vocab_size,
    }
    if config_type(model_type) is None:
        return None
    return next((model.sizes for model in of_settings("", settings, "")), None)


def of_table() -> Iterator[Model]:
    for line in TARGET.read_text(encoding="utf-8").splitlines()[1:] if TARGET.exists() else ():
        *sizes, thetas, model_type, name, source = line.split("\t")
        known = frozenset(map(float, thetas.split(","))) if thetas else frozenset()
        yield Model(Sizes(*map(int, sizes)), model_type, name, source, released(name), CERTAIN, known)


RELEASES = tomllib.loads((ROOT / "releases.toml").read_text(encoding="utf-8"))


def released(name: str) -> str:
    prefixes = [prefix for prefix in RELEASES["released"] if name.startswith(prefix)]
    return RELEASES["released"][max(prefixes, key=len)] if prefixes else ""


def grouped(models: Iterable[Model]) -> list[list[Model]]:
    """Models of the same type and sizes together; a vocabulary with added tokens counts as the same."""
    groups: dict[tuple[object, ...], list[list[Model]]] = {}
    for model in sorted(models, key=rank):
        alike = groups.setdefault((model.type, *model.sizes[:-1]), [])
        group = next((group for group in alike if group[0].sizes.has_vocabulary_of(model.sizes)), None)
        if group is None:
            alike.append([model])
        else:
            group.append(model)
    return [group for alike in groups.values() for group in alike]


def is_of_known_lab(model: Model) -> bool:
    return model.name.split("/")[0] in RELEASES["labs"]


def rank(model: Model) -> tuple[bool, str, int, int, str]:
    """A known lab's first model stands for its sizes, else the most liked one."""
    is_known = is_of_known_lab(model)
    return (not is_known, (model.released or "9") if is_known else "", -model.likes, len(model.name), model.name)


def is_published(group: list[Model]) -> bool:
    sizes = group[0].sizes
    if sizes.layers < FEWEST_LAYERS or (sizes.hidden_size < NARROW and not is_of_known_lab(group[0])):
        return False
    return len({model.name for model in group}) >= FEWEST_MODELS or max(model.likes for model in group) >= FEWEST_LIKES


def main() -> int:
    parser = argparse.ArgumentParser()
    for option in ("--database", "--configs", "--list"):
        parser.add_argument(option, action="append", default=[], metavar="SOURCE=PATH")
    arguments = parser.parse_args()
    models = list(of_table())
    for profile in json.loads(PROFILES.read_text(encoding="utf-8")):
        models += of_settings(profile["name"], profile["settings"], OWN)
    for source, path in (item.split("=", 1) for item in arguments.configs):
        models += of_folder(Path(path), source)
    for source, path in (item.split("=", 1) for item in arguments.list):
        for entry in json.loads(Path(path).read_text(encoding="utf-8")):
            models += of_settings(entry["name"], entry["settings"], source)
    for source, path in (item.split("=", 1) for item in arguments.database):
        models += of_database(Path(path), source)
    lines = []
    for group in sorted(filter(is_published, grouped(models)), key=lambda group: group[0][:3]):
        first = group[0]
        source = min(group, key=lambda model: model.source == OWN).source
        thetas = ",".join(f"{theta:.12g}" for theta in sorted(set().union(*(model.thetas for model in group))))
        lines.append("\t".join([*map(str, first.sizes), thetas, first.type, first.name, source]))
    head = "\t".join([*Sizes._fields, "rope_theta", "model_type", "name", "source"])
    TARGET.write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")
    sources = Counter(line.rpartition("\t")[2] for line in lines)
    print(f"{len(lines)} lines, {TARGET.stat().st_size:,} bytes; {dict(sources)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
