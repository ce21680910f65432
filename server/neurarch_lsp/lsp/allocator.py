"""Keeps the server's memory flat: by default glibc keeps a heap for each thread, each as large as it ever was."""

from __future__ import annotations

import sys

M_MMAP_THRESHOLD, M_ARENA_MAX = -3, -8
"""Of glibc's malloc.h."""
LARGE = 256 * 1024
"""Bytes from which on a block is given back as soon as it is free; left alone, glibc raises this with every one."""


def set_up() -> None:
    """Called before other threads begin. One heap will do, since Python's threads run in turns. Elsewhere than on Linux
    with glibc nothing happens."""
    if sys.platform != "linux":
        return
    import ctypes

    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_ARENA_MAX, 1)
        mallopt(M_MMAP_THRESHOLD, LARGE)
