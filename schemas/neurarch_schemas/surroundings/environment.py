"""Folders of installed Python packages, to be read as text."""

from __future__ import annotations

import os
import sys
from glob import glob


def installed_packages() -> tuple[str, ...]:
    """The active virtual environment's site-packages, then those of the interpreter that runs us."""
    active = os.environ.get("VIRTUAL_ENV")
    folders = glob(os.path.join(active, "lib", "python*", "site-packages")) if active else []
    folders += [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
    return tuple(dict.fromkeys(folder for folder in folders if os.path.isdir(folder)))
