"""The arrays of a small valid forest, for Forest.from_arrays."""

from __future__ import annotations

from typing import Any

VALID_ARRAYS: dict[str, Any] = {
    "edge_offsets": [0, 1, 3],
    "tail_offsets": [0, 0, 1, 3],
    "tails": [0, 0, 0],
    "words": ["a", "b"],
    "edge_targets": [0, 1, 2],
    "target_offsets": [0, 1, 2, 5],
    "target_symbols": [0, -1, -2, 1, -1],
    "features": [[1.0], [0.0], [-2.0]],
    "feature_names": ["f"],
}
