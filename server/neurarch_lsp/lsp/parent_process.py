"""Watches the editor's process: a server whose editor died without closing the pipe must not live on."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable

SECONDS_BETWEEN_LOOKS = 3.0


def is_alive(process_id: int) -> bool:
    """Whether a process exists. When that cannot be known, True: ending without need is the worse mistake."""
    if process_id <= 0:
        return True
    if sys.platform == "win32":
        return _is_alive_on_windows(process_id)
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def watch(process_id: int, loop: asyncio.AbstractEventLoop, ended: Callable[[], None]) -> None:
    """Call ``ended`` on the loop once the process is gone."""

    def look() -> None:
        if is_alive(process_id):
            loop.call_later(SECONDS_BETWEEN_LOOKS, look)
        else:
            ended()

    loop.call_later(SECONDS_BETWEEN_LOOKS, look)


def _is_alive_on_windows(process_id: int) -> bool:
    import ctypes

    synchronize, wait_timeout = 0x00100000, 0x102
    kernel = ctypes.windll.kernel32  # type: ignore[attr-defined]  # exists on Windows only
    handle = kernel.OpenProcess(synchronize, False, process_id)
    if not handle:
        return False
    try:
        return bool(kernel.WaitForSingleObject(handle, 0) == wait_timeout)
    finally:
        kernel.CloseHandle(handle)
