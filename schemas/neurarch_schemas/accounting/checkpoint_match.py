"""A checkpoint held against the tree, tensor by tensor; multi-token prediction is told apart."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from math import prod

from neurarch_schemas.accounting.checkpoint_names import MTP, NOT_LOADED, QUANTIZED, canonical, first_index, layer_stack
from neurarch_schemas.modules.tree import Module, Stack
from neurarch_schemas.record import Record
from neurarch_schemas.surroundings.folder import CheckpointTensor

MOST_TENSORS = 200_000
COUNTER = "num_batches_tracked"
"""A scalar that batch norm keeps and nobody needs: present or not, it is no mismatch."""


class WrongShape(Record):
    name: str
    stored: tuple[int, ...]
    expected: tuple[int, ...]


class CheckpointMatch(Record):
    """``expected_scalars`` are those of the tree, ``stored_scalars`` what the files hold without multi-token prediction
    (None where only names are known). ``quantized``: the files hold packed weights, so counts and shapes say nothing.
    """

    missing: tuple[str, ...]
    unexpected: tuple[str, ...]
    wrong_shape: tuple[WrongShape, ...]
    expected_scalars: int
    stored_scalars: int | None
    mtp_scalars: int
    quantized: bool

    @property
    def agrees(self) -> bool:
        return not (self.missing or self.unexpected or self.wrong_shape)


def match(tree: Module, stored: tuple[CheckpointTensor, ...]) -> CheckpointMatch | None:
    """None where the model or the checkpoint is too large to hold name against name.

    Stored layers beyond the tree's last one belong to multi-token prediction. Tensors that only one side has, but that
    weigh the same on both in the same layer, are taken for another naming.
    """
    expected = list(_expected(tree))
    if len(expected) > MOST_TENSORS or len(stored) > MOST_TENSORS:
        return None
    last = _last_layers(name for name, _, _ in expected)
    quantized = any(QUANTIZED.search(tensor.name) for tensor in stored)
    tied = {canonical(name) for name, _, is_tied in expected if is_tied}
    wanted: dict[str, list[tuple[str, tuple[int, ...]]]] = defaultdict(list)
    for name, shape, is_tied in expected:
        if not is_tied and not name.endswith(COUNTER):
            wanted[_slot(name, quantized)].append((name, shape))
    held: dict[str, list[CheckpointTensor]] = defaultdict(list)
    mtp = 0
    for tensor in stored:
        if tensor.name.endswith(COUNTER):
            continue
        slot = _slot(tensor.name, quantized)
        if slot in wanted:
            held[slot].append(tensor)
            continue
        if NOT_LOADED.search(tensor.name) or canonical(tensor.name) in tied:
            continue
        stack, index = layer_stack(tensor.name)
        if MTP.search(tensor.name) or index > last.get(stack, index):
            mtp += prod(tensor.shape) if tensor.shape is not None else 0
            continue
        held[slot].append(tensor)
    missing = {slot: wanted[slot] for slot in wanted.keys() - held.keys()}
    unexpected = {slot: held[slot] for slot in held.keys() - wanted.keys()}
    same = _same_patterns(wanted, held)
    if same:
        missing, unexpected = {}, {}
    _drop_other_naming(missing, unexpected, quantized)
    known = [tensor for tensors in held.values() for tensor in tensors]
    return CheckpointMatch(
        missing=tuple(sorted(name for entries in missing.values() for name, _ in entries)),
        unexpected=tuple(sorted(tensor.name for tensors in unexpected.values() for tensor in tensors)),
        wrong_shape=() if quantized or same else tuple(_wrong_shapes(wanted, held)),
        expected_scalars=sum(prod(shape) for entries in wanted.values() for _, shape in entries),
        stored_scalars=None
        if any(tensor.shape is None for tensor in known)
        else sum(prod(tensor.shape) for tensor in known if tensor.shape is not None),
        mtp_scalars=mtp,
        quantized=quantized,
    )


def _last_layers(names: Iterable[str]) -> dict[str, int]:
    """The last index of every list of layers, by its name."""
    last: dict[str, int] = {}
    for name in names:
        stack, index = layer_stack(name)
        if index >= 0:
            last[stack] = max(index, last.get(stack, 0))
    return last


def _same_patterns(
    wanted: dict[str, list[tuple[str, tuple[int, ...]]]], held: dict[str, list[CheckpointTensor]]
) -> bool:
    """The same tensors but for how their indices are counted (nested lists of stages written as one)."""
    ours = Counter((_pattern(slot), shape) for slot, entries in wanted.items() for _, shape in entries)
    theirs = Counter((_pattern(slot), tensor.shape) for slot, tensors in held.items() for tensor in tensors)
    return ours == theirs


def _pattern(slot: str) -> str:
    return ".".join("{}" if piece.isdecimal() else piece for piece in slot.split("."))


def _slot(name: str, quantized: bool) -> str:
    """What a tensor is compared by: its name, or that of its module where packed tensors stand for a weight."""
    text = canonical(name)
    if not quantized:
        return text
    packed = QUANTIZED.sub("", text)
    return packed.removesuffix(".weight")


def _wrong_shapes(
    wanted: dict[str, list[tuple[str, tuple[int, ...]]]], held: dict[str, list[CheckpointTensor]]
) -> Iterator[WrongShape]:
    for slot in sorted(wanted.keys() & held.keys()):
        entries, tensors = wanted[slot], held[slot]
        shapes = [tensor.shape for tensor in tensors]
        if any(shape is None for shape in shapes):
            continue
        ours = sum(prod(shape) for _, shape in entries)
        theirs = sum(prod(shape) for shape in shapes if shape is not None)
        one_to_one = len(entries) == len(tensors) == 1
        if ours != theirs or (one_to_one and not _alike(entries[0][1], shapes[0] or ())):
            yield WrongShape(tensors[0].name, shapes[0] or (), entries[0][1])


def _alike(expected: tuple[int, ...], stored: tuple[int, ...]) -> bool:
    """Equal up to sizes of one and order (transposed layouts of the same matrix)."""
    return sorted(size for size in expected if size != 1) == sorted(size for size in stored if size != 1)


def _drop_other_naming(
    missing: dict[str, list[tuple[str, tuple[int, ...]]]],
    unexpected: dict[str, list[CheckpointTensor]],
    quantized: bool,
) -> None:
    """Leftovers that weigh the same on both sides, in one layer or in all, are the same tensors under other names."""
    _drop_equal_groups(missing, unexpected, quantized, first_index)
    _drop_equal_groups(missing, unexpected, quantized, lambda _: None)


def _drop_equal_groups(
    missing: dict[str, list[tuple[str, tuple[int, ...]]]],
    unexpected: dict[str, list[CheckpointTensor]],
    quantized: bool,
    group: Callable[[str], int | None],
) -> None:
    left: dict[int | None, list[str]] = defaultdict(list)
    right: dict[int | None, list[str]] = defaultdict(list)
    for slot in missing:
        left[group(slot)].append(slot)
    for slot in unexpected:
        right[group(slot)].append(slot)
    for index in left.keys() & right.keys():
        ours = sum(prod(shape) for slot in left[index] for _, shape in missing[slot])
        shapes = [tensor.shape for slot in right[index] for tensor in unexpected[slot]]
        known = (
            None
            if any(shape is None for shape in shapes)
            else sum(prod(shape) for shape in shapes if shape is not None)
        )
        if known == ours or known is None or quantized:
            for slot in left[index]:
                del missing[slot]
            for slot in right[index]:
                del unexpected[slot]


def _expected(tree: Module) -> Iterator[tuple[str, tuple[int, ...], bool]]:
    """(name, shape, tied) of every tensor, one by one; stops beyond MOST_TENSORS."""
    budget = [MOST_TENSORS + 1]
    yield from _walk(tree, "", budget)


def _walk(module: Module, path: str, budget: list[int]) -> Iterator[tuple[str, tuple[int, ...], bool]]:
    for tensor in module.tensors:
        budget[0] -= 1
        yield (f"{path}.{tensor.name}" if path else tensor.name), tensor.shape, tensor.tied_to is not None
    for name, child in module.children:
        if budget[0] < 0:
            return
        inner = f"{path}.{name}" if path else name
        if isinstance(child, Stack):
            index = child.first_index
            for run in child.runs:
                for offset in range(run.length):
                    if budget[0] < 0:
                        return
                    yield from _walk(run.modules[offset % len(run.modules)], f"{inner}.{index + offset}", budget)
                index += run.length
        else:
            yield from _walk(child, inner, budget)
