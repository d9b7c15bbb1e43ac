"""A decorator for tests with many seeds. A block of seeds is one test, since pytest takes longer to begin a
test than most seeds take to run."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import pytest

BLOCK = 25

Test = Callable[..., None]


def each_seed(seeds: Sequence[int]) -> Callable[[Test], Test]:
    """Makes a test run for each of the seeds. A failure names the seed."""
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
        other_parameters = [parameter for name, parameter in parameters.items() if name != "seed"]
        block = inspect.Parameter("block", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        run.__signature__ = inspect.Signature([block, *other_parameters])  # type: ignore[attr-defined]
        run.__name__, run.__doc__, run.__module__ = test.__name__, test.__doc__, test.__module__
        # The marks of the test, such as other parameters.
        run.pytestmark = getattr(test, "pytestmark", [])  # type: ignore[attr-defined]
        names = [f"{block[0]}-{block[-1]}" for block in blocks]
        return pytest.mark.parametrize("block", blocks, ids=names)(run)

    return decorate
