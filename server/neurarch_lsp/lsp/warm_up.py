"""Imports, after ``initialize`` was answered and off the event loop, what the first document will need."""

from __future__ import annotations

import gc
import importlib
import logging
import threading

logger = logging.getLogger(__name__)

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
        # What has been imported stays: the garbage collector need not look through it while somebody types.
        gc.freeze()
    except Exception:
        logger.exception("warm-up failed")
