"""NumPy arrays by name in a file with a checksum: reading gives what was written, or FormatError.

The file is an ``.npz`` archive, which ``np.load`` reads too, and behind it the SHA-256 of its bytes.

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
    """Writes compressed arrays, whole or not at all."""
    archive = io.BytesIO()
    np.savez_compressed(archive, **arrays)  # type: ignore[arg-type]  # a name may be an option's
    content = archive.getbuffer()
    with replacing(path) as temporary, temporary.open("wb") as file:
        file.write(content)
        file.write(hashlib.sha256(content).digest())


@contextlib.contextmanager
def load_arrays(path: PathLike, remedy: str) -> Iterator[Mapping[str, npt.NDArray[Any]]]:
    """Yields the arrays that ``save_arrays`` wrote, after verifying the checksum.

    The block checks that they are what it needs: KeyError, ValueError, TypeError and IndexError there say
    that they are not. Raises FormatError naming the file and ``remedy``, what to do, for that and for any
    damage; OSError.
    """
    content = Path(path).read_bytes()
    try:
        archive, digest = content[:-_DIGEST], content[-_DIGEST:]
        if hashlib.sha256(archive).digest() != digest:
            raise ValueError("wrong checksum")
        with np.load(io.BytesIO(archive), allow_pickle=False) as arrays:
            yield dict(arrays)
    except (KeyError, ValueError, TypeError, IndexError) as error:
        where = f"{os.fspath(path)}: damaged, or of another version"
        raise FormatError(f"{where}: {error}; {remedy}") from None
