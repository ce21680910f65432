"""What a key does to the numbers of this very model: a sentence, and the neighbouring values beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neurarch_lsp.render.key_facts import KeyFacts, owner_of, value_at, value_text
from neurarch_lsp.render.markup import Block, Table, Text, code
from neurarch_lsp.render.model_numbers import ModelNumbers, attention_kinds, numbers, tokens
from neurarch_lsp.render.variants import Variants, variants
from neurarch_schemas.accounting.dtypes import BITS, size_in_bytes, torch_dtype
from neurarch_schemas.accounting.quantities import binary_bytes, count, decimal_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

    from neurarch_rules.engine.options import Options
    from neurarch_schemas.analysis import Analysis
    from neurarch_schemas.documents.json_value import JSONScalar, JSONValue

NOUNS = {
    "num_hidden_layers": "layers",
    "num_attention_heads": "attention heads",
    "num_key_value_heads": "KV heads",
    "num_local_experts": "routed experts",
    "num_experts": "routed experts",
    "n_routed_experts": "routed experts",
    "num_experts_per_tok": "experts per token",
    "vocab_size": "tokens in the vocabulary",
}
HEADS = ("num_attention_heads", "num_key_value_heads", "n_head", "num_heads", "num_kv_heads", "multi_query")
CONTEXT = ("max_position_embeddings", "n_positions", "max_sequence_length", "max_seq_len", "seq_length")
DTYPES = ("float32", "bfloat16", "float8_e4m3fn")
MOST_HEADS = 1_024
"""Divisors are looked for up to here: no model has more heads."""
LENGTHS = (8_192, 32_768, 131_072, 1_048_576)


def of_key(analysis: Analysis, pointer: str, found: KeyFacts, options: Options) -> list[Block]:
    """[] for a key that changes no number, or where the numbers are not known."""
    name = found.name
    cache_dtype = options.serving.kv_cache_dtype
    value = found.setting.value if found.setting is not None else None
    if name in ("dtype", "torch_dtype") and torch_dtype(value):
        return _dtype(analysis)
    blocks: list[Block] = []
    if name in CONTEXT and isinstance(value, int) and not isinstance(value, bool):
        blocks += _context(analysis, value, cache_dtype)
    if value is None:
        value = value_at(analysis.document.data, pointer)
    return [*blocks, *of_values(analysis, pointer, name, value, cache_dtype, _divisors(analysis, pointer, name, value))]


def _divisors(analysis: Analysis, pointer: str, name: str, value: JSONValue) -> tuple[int, ...] | None:
    """For KV heads the next smaller and larger number that divides the heads; None for other keys, or without any."""
    owner = owner_of(analysis.config, pointer) if analysis.config is not None else None
    heads = owner.get("num_attention_heads") if owner is not None and name == "num_key_value_heads" else None
    if not isinstance(heads, int) or not isinstance(value, int) or not 0 < value <= heads <= MOST_HEADS:
        return None
    near = [number for number in range(1, heads + 1) if heads % number == 0 and number != value]
    smaller, larger = [number for number in near if number < value], [number for number in near if number > value]
    return (*smaller[-1:], *larger[:1]) or None


def of_values(
    analysis: Analysis,
    pointer: str,
    name: str,
    value: JSONValue,
    cache_dtype: str | None,
    candidates: tuple[JSONScalar, ...] | None = None,
) -> list[Block]:
    """The sentence and the table; [] where no neighbouring value changes a number."""
    changes = variants(analysis, pointer, name, value, cache_dtype, candidates)
    if changes is None:
        return []
    present = next(row.numbers for row in changes.rows if row.is_present)
    return [Text(_sentence(analysis, name, value, present, changes)), _table(name, changes)]


def _sentence(analysis: Analysis, name: str, value: object, present: ModelNumbers, changes: Variants) -> str:
    """ "8 KV heads: GQA 6:1, 248 KiB/token, 16.6 GB at 64k tokens" """
    parts = []
    if name in HEADS:
        parts += [kind for kind, _ in attention_kinds(analysis)[:2]]
    if "cache_per_token" in changes.varies or "cache_at_context" in changes.varies:
        if present.cache_per_token:
            parts.append(f"{binary_bytes(present.cache_per_token)}/token")
        if present.cache_at_context is not None:
            parts.append(f"{decimal_bytes(present.cache_at_context)} at {tokens(present.context)} tokens")
    if "total" in changes.varies:
        parts.append(f"{count(present.total)} parameters")
    if "active" in changes.varies and present.is_sparse:
        parts.append(f"{count(present.active)} active")
    noun = NOUNS.get(name)
    shown = f"{value:,} {noun}" if noun and isinstance(value, int) else f"{code(name)} {value_text(value)}"
    return f"**{shown}**: " + ", ".join(parts)


def _table(name: str, changes: Variants) -> Table:
    sparse = any(row.numbers.is_sparse for row in changes.rows)
    columns = [
        (title, show)
        for field, title, show in _COLUMNS
        if field in changes.varies and (sparse or not field.startswith("active"))
    ]
    context = changes.rows[0].numbers.context
    rows = tuple((value_text(row.value), *(show(row.numbers) for _, show in columns)) for row in changes.rows)
    header = (code(name), *(title.format(context=tokens(context)) for title, _ in columns))
    return Table(header, rows, next(at for at, row in enumerate(changes.rows) if row.is_present))


_COLUMNS: tuple[tuple[str, str, Callable[[ModelNumbers], str]], ...] = (
    ("total", "parameters", lambda item: f"{item.total:,}"),
    ("active", "active", lambda item: f"{item.active:,}"),
    ("cache_per_token", "KV cache/token", lambda item: binary_bytes(item.cache_per_token or 0)),
    ("cache_at_context", "at {context}", lambda item: decimal_bytes(item.cache_at_context or 0)),
    ("cache_constant", "state", lambda item: decimal_bytes(item.cache_constant)),
)


def _dtype(analysis: Analysis) -> list[Block]:
    """Weights and cache in other number formats."""
    found = numbers(analysis)
    if found is None:
        return []
    names = [*DTYPES, *([found.weights_dtype] if found.weights_dtype not in DTYPES else [])]
    names.sort(key=lambda name: -BITS[name])
    rows = tuple((name, decimal_bytes(size_in_bytes(found.stored, name))) for name in names)
    sentence = f"**{found.weights_dtype}**: {decimal_bytes(found.weights_bytes)} of weights"
    return [Text(sentence), Table(("dtype", "weights"), rows, names.index(found.weights_dtype))]


def _context(analysis: Analysis, declared: int, cache_dtype: str | None) -> list[Block]:
    """The cache of one sequence at some lengths up to the declared one."""
    cache = analysis.kv_cache
    if cache is None or declared <= 0:
        return []
    dtype = analysis.cache_dtype(cache_dtype)
    lengths = sorted({length for length in LENGTHS if length < declared} | {declared})[-4:]
    sizes = [decimal_bytes(size_in_bytes(cache.at(length), dtype)) for length in lengths]
    rows = tuple((tokens(length), size) for length, size in zip(lengths, sizes, strict=True))
    sentence = f"**{tokens(declared)} tokens**: {sizes[-1]} of KV cache for one sequence"
    return [Text(sentence), Table(("tokens", "KV cache"), rows, len(rows) - 1)]
