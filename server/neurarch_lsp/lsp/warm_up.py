"""Imports, after ``initialize`` was answered and off the event loop, what the first document will need."""

from __future__ import annotations

import gc
import importlib
import logging
import threading

from neurarch_lsp.lsp import registration

logger = logging.getLogger(__name__)

GARBAGE_THRESHOLDS = (2_000, 10, 30)
"""An analysis leaves next to no cycles behind, and a look through all objects of a large document takes 30 ms."""
MODULES = ("neurarch_lsp.lsp.job", "neurarch_lsp.lsp.publisher", "neurarch_lsp.render.hover")


def start() -> threading.Thread:
    thread = threading.Thread(target=_run, name="neurarch-warm-up", daemon=True)
    thread.start()
    return thread


def _run() -> None:
    from neurarch_rules.engine import discovery

    try:
        for name in MODULES:
            importlib.import_module(name)
        discovery.all_rules()
        for feature in registration.FEATURES:
            registration.load(feature.module)
        # What has been imported stays: the garbage collector need not look through it while somebody types.
        gc.freeze()
        gc.set_threshold(*GARBAGE_THRESHOLDS)
    except Exception:
        logger.exception("warm-up failed")
