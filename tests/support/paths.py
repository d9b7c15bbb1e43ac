"""Folders that tests read."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
DOCS = ROOT / "docs"
DEMO = ROOT / "data" / "demo"
# A small system from French into English, written by hand.
FRENCH = TESTS / "french"
# Real corpora and prepared systems, which are not part of the repository.
SHARED = ROOT.parent / "shared" / "data"
