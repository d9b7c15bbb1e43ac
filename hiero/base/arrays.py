"""Files of named NumPy arrays with a checksum: reading returns what was written, or raises FormatError.

A file is an ``.npz`` archive, which ``np.load`` can read too, followed by the SHA-256 of its bytes.

>>> save_arrays("block.npz", ids=np.arange(3))  # doctest: +SKIP
>>> with load_arrays("block.npz", "delete it") as arrays:  # doctest: +SKIP
...     ids = arrays["ids"]
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hiero._core import FormatError
from hiero.base.files import replacing
from hiero.base.lines import PathLike

_DIGEST = hashlib.sha256().digest_size


def save_arrays(path: PathLike, **arrays: npt.ArrayLike) -> None:
    """Writes compressed arrays. The file appears only when it is complete."""
    archive = io.BytesIO()
    np.savez_compressed(archive, **arrays)  # type: ignore[arg-type]  # a name may be an option's
    content = archive.getbuffer()
    with replacing(path) as temporary, temporary.open("wb") as file:
        file.write(content)
        file.write(hashlib.sha256(content).digest())


@contextlib.contextmanager
def load_arrays(path: PathLike, remedy: str) -> Iterator[Mapping[str, npt.NDArray[Any]]]:
    """Yields the arrays that ``save_arrays`` wrote, after verifying the checksum.

    The ``with`` block should also check that the arrays have the expected names, types and shapes. A
    KeyError, ValueError, TypeError or IndexError that it raises is reported as damage of the file.
    Raises FormatError, naming the file, the damage and ``remedy``, which says what the user can do; OSError.
    """
    try:
        content = Path(path).read_bytes()
    except FileNotFoundError:
        raise FormatError(f"{os.fspath(path)}: missing; {remedy}") from None
    try:
        archive, digest = content[:-_DIGEST], content[-_DIGEST:]
        if hashlib.sha256(archive).digest() != digest:
            raise ValueError("wrong checksum")
        with np.load(io.BytesIO(archive), allow_pickle=False) as arrays:
            yield dict(arrays)
    except (KeyError, ValueError, TypeError, IndexError) as error:
        where = f"{os.fspath(path)}: damaged, or of another version"
        raise FormatError(f"{where}: {error}; {remedy}") from None
