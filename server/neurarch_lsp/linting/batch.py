"""Lint many files: from the cache where nothing has changed, in several processes where asked for."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

from neurarch_lsp.linting.lint import CannotRead, Outcome, lint, read_text
from neurarch_lsp.linting.repeats import Repeats
from neurarch_rules.engine.finding import Applicability
from neurarch_rules.engine.options import Options
from neurarch_schemas.surroundings.folders_above import FoldersAbove

if TYPE_CHECKING:
    from neurarch_lsp.linting.cache import Cache

WORTH_IT = 16
"""Runs over fewer files are faster without looking anything up."""


class Task(NamedTuple):
    """One file with what applies to it; ``path`` is where it is read, ``document_path`` where it belongs."""

    name: str
    path: str
    document_path: str
    options: Options
    applicabilities: tuple[Applicability, ...] = ()
    timed: bool = False
    given: bool = False
    """Named on the command line, not met while walking a folder."""


class Done(NamedTuple):
    """``problem`` says why a file could not be read; then there is no outcome."""

    task: Task
    outcome: Outcome | None
    problem: str | None = None


def run(tasks: Iterable[Task], jobs: int = 1, cache_folder: str | None = None) -> Iterator[Done]:
    """The outcomes in the order of the tasks. ``jobs`` 0 means one process for each processor."""
    iterator = iter(tasks)
    first = list(islice(iterator, WORTH_IT))
    everything = chain(first, iterator)
    cache = _open(cache_folder) if cache_folder is not None and len(first) == WORTH_IT else None
    jobs = jobs or os.cpu_count() or 1
    above = FoldersAbove()
    if jobs == 1 or len(first) < 2:
        repeats = Repeats(above) if len(first) == WORTH_IT else None
        for task in everything:
            yield one(task, cache, above, repeats)
        return
    from concurrent.futures import ProcessPoolExecutor
    from functools import partial

    with ProcessPoolExecutor(max_workers=jobs) as pool:
        yield from pool.map(partial(one, cache=cache, folders_above=above), everything, chunksize=8)


def _open(folder: str) -> Cache:
    from neurarch_lsp.linting.cache import Cache

    return Cache(folder)


def one(
    task: Task,
    cache: Cache | None = None,
    folders_above: FoldersAbove | None = None,
    repeats: Repeats | None = None,
) -> Done:
    try:
        text = read_text(task.path)
    except CannotRead as error:
        return Done(task, None, str(error))
    clock = time.perf_counter if task.timed else None
    if task.applicabilities or task.timed or task.path == "-" or (cache is None and repeats is None):
        found = lint(task.name, task.document_path, text, task.options, task.applicabilities, clock, folders_above)
        return Done(task, found)
    if cache is None:
        return Done(task, _repeated(task, text, folders_above, repeats))
    key = cache.key(task.document_path, text, task.options, folders_above)
    known = cache.get(key, task.name, task.document_path, text)
    if known is None:
        known = lint(task.name, task.document_path, text, task.options, folders_above=folders_above)
        cache.put(key, known)
    return Done(task, known)


def _repeated(task: Task, text: str, folders_above: FoldersAbove | None, repeats: Repeats | None) -> Outcome:
    key = None if repeats is None else repeats.key(task.document_path, text)
    if repeats is None or key is None:
        return lint(task.name, task.document_path, text, task.options, folders_above=folders_above)
    known = repeats.get(key, task.options, task.name, task.document_path)
    if known is None:
        known = lint(task.name, task.document_path, text, task.options, folders_above=folders_above)
        repeats.put(key, task.options, known)
    return known
