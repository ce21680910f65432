"""What a test of a real editor needs: without it the test is skipped, but fails where ``EDITORS_REQUIRED`` is set."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest


def missing(what: str) -> NoReturn:
    if os.environ.get("EDITORS_REQUIRED"):
        pytest.fail(f"{what} (EDITORS_REQUIRED is set)")
    pytest.skip(what)
