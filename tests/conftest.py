"""Paths shared by the tests."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DEMO = ROOT / "data" / "demo"
SHARED = ROOT.parent / "shared" / "data"


@pytest.fixture(scope="session")
def demo() -> Path:
    """The demo's folder."""
    return DEMO


@pytest.fixture(scope="session")
def shared() -> Path:
    """Real corpora and prepared systems; tests that want them skip where they are missing."""
    if not (SHARED / "ja-en" / "system").is_dir():
        pytest.skip("no prepared systems beside the repository")
    return SHARED
