"""Tests of many seeds, a block of them as one test: pytest takes longer for a test than most seeds do."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import pytest

BLOCK = 25

Test = Callable[..., None]


def each_seed(seeds: Sequence[int]) -> Callable[[Test], Test]:
    """Runs a test for each of the seeds; what fails says of which one."""
    blocks = [seeds[begin : begin + BLOCK] for begin in range(0, len(seeds), BLOCK)]

    def decorate(test: Test) -> Test:
        def run(block: Sequence[int], **others: Any) -> None:
            for seed in block:
                try:
                    test(seed=seed, **others)
                except BaseException as error:
                    error.add_note(f"with seed {seed}")
                    raise

        parameters = inspect.signature(test).parameters
        kept = [each for name, each in parameters.items() if name != "seed"]
        block = inspect.Parameter("block", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        run.__signature__ = inspect.Signature([block, *kept])  # type: ignore[attr-defined]
        run.__name__, run.__doc__, run.__module__ = test.__name__, test.__doc__, test.__module__
        # Marks of the test, such as other parameters.
        run.pytestmark = getattr(test, "pytestmark", [])  # type: ignore[attr-defined]
        names = [f"{block[0]}-{block[-1]}" for block in blocks]
        return pytest.mark.parametrize("block", blocks, ids=names)(run)

    return decorate
