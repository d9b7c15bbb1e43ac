"""The option of commands that can work on a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from hiero import Cluster

ClusterAddress = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS",
        help="Address of a cluster of ray to work on, or auto on a machine that is part of one"
        " (docs/cluster.md); the result does not depend on it.",
    ),
]


@contextmanager
def on_cluster(address: str | None) -> Iterator[None]:
    """Has work done on a cluster until the block ends, or without an address on threads. Raises Error if ray
    is not installed or there is no cluster."""
    if address is None:
        yield
        return
    with Cluster(address):
        yield


def check_cluster(address: str | None) -> None:
    """Raises what ``on_cluster`` raises, for work that comes later."""
    with on_cluster(address):
        pass
