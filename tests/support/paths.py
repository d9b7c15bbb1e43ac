"""Paths of the folders that tests read."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
DOCS = ROOT / "docs"
DEMO = ROOT / "data" / "demo"
# A small system from French into English, written by hand.
FRENCH = TESTS / "french"
# Real corpora and prepared systems beside the repository. Tests that need them skip where they are missing.
SHARED = ROOT.parent / "shared" / "data"
