"""Language models estimated from text by KenLM's lmplz, which is part of this package.

The models use interpolated modified Kneser-Ney smoothing (Chen and Goodman 1998, section 3; Heafield et al.
2013, "Scalable Modified Kneser-Ney Language Model Estimation"). They are not pruned. Unigrams are
interpolated with the uniform distribution over the vocabulary and ``<unk>``.

>>> from hiero.train import estimate_lm
>>> estimate = estimate_lm(["train.en"], "lm.binary", order=5)  # doctest: +SKIP
"""

from __future__ import annotations

import contextlib
import errno
import gzip
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Literal

from pydantic import Field

from hiero import _core
from hiero._core import Error, FormatError, LanguageModel
from hiero.base.directories import temporary_folder
from hiero.base.files import replacing
from hiero.base.lines import DAMAGE, PathLike, damage_error, open_source
from hiero.base.settings import Settings
from hiero.decode.model_files import is_arpa
from hiero.train.lm_text import LineCounts, checked_blocks
from hiero.train.shards import STEP_MEMORY

ORDERS = range(2, 7)
QUANTIZE_BITS = range(2, 26)
_MIN_MEMORY = 32 << 20
# The number of bytes of an invalid line that a message shows.
_LONGEST_SHOWN = 40
_SYSTEM_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.ENOMEM)


class LmSettings(Settings):
    """Settings of language model estimation."""

    order: int = Field(5, ge=ORDERS[0], le=ORDERS[-1], description="length of the longest n-grams, in words")
    binary: Literal["probing", "trie"] = Field(
        "probing", description="KenLM data structure: hash tables (probing), or a smaller and slower trie"
    )
    quantize: int | None = Field(
        None,
        ge=QUANTIZE_BITS[0],
        le=QUANTIZE_BITS[-1],
        description="bits of each number in a trie (default: exact numbers)",
    )


_DEFAULTS = LmSettings()


@dataclass(frozen=True)
class LmEstimate:
    """Counts from the estimation of a language model."""

    sentences: int
    """Number of lines that are not empty."""
    ngrams: tuple[int, ...]
    """Number of different n-grams of each order, starting at 1."""
    fallback_orders: tuple[int, ...]
    """Orders with too little text to estimate Kneser-Ney discounts; lmplz's default discounts were used."""
    reserved_words: int
    """Number of words ``<s>``, ``</s>``, ``<unk>`` and ``<UNK>`` that were skipped."""


def estimate_lm(
    texts: Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    order: int = _DEFAULTS.order,
    memory: int = STEP_MEMORY,
    binary: Literal["probing", "trie"] = _DEFAULTS.binary,
    quantize: int | None = _DEFAULTS.quantize,
    reserved_words: Literal["error", "skip"] = "error",
    progress: Callable[[int], object] | None = None,
) -> LmEstimate:
    """Estimates one language model from all ``texts`` and writes it to ``output``.

    - ``texts``: plain, gzip or xz files of tokenised sentences, one per line. Empty lines are skipped.
    - ``output``: an ARPA file if its name ends in ``.arpa`` or ``.arpa.gz``, else a KenLM binary. The file
      appears only when it is complete.
    - ``order``: the order of the n-gram model.
    - ``memory``: the maximum number of bytes for sorting n-grams. The rest is sorted in files beside
      ``output``. It does not change the result.
    - ``binary``: the data structure of a KenLM binary. Hash tables have rest costs as well, for which models
      of all lower orders are estimated.
    - ``quantize``: the number of bits for each probability and backoff of a trie, or None.
    - ``reserved_words``: whether ``<s>``, ``</s>``, ``<unk>`` and ``<UNK>`` in a text are errors or skipped.
    - ``progress``: called with the number of sentences read.

    Raises ValueError for invalid options, FormatError, naming file and line, for invalid text; OSError.
    """
    if not texts:
        raise ValueError("no text to estimate a language model from")
    check_options(order, memory, binary, quantize)
    output = Path(output)
    rest_costs = binary == "probing" and not output.name.endswith((".arpa", ".arpa.gz"))
    counts = LineCounts()
    blocks = _all_blocks(texts, counts, reserved_words == "skip", progress)
    # lmplz may leave temporary files behind if it is stopped, so it gets a folder for them.
    with replacing(output) as temporary, temporary_folder(output) as folder:
        arpa = temporary if output.suffix == ".arpa" else folder / "lm.arpa"
        run = partial(_run_lmplz, folder=folder, memory=_memory_for(texts, memory), output=output)
        lower_orders = [folder / f"{lower}.arpa" for lower in range(1, order)] if rest_costs else []
        if lower_orders:
            blocks = _kept(blocks, folder / "text")
        messages = run(blocks, arpa, order=order)
        ngrams = _ngram_counts(arpa)
        if output.name.endswith(".arpa.gz"):
            _compress(arpa, temporary)
        elif arpa != temporary:
            for lower, path in enumerate(lower_orders, 1):
                run(_file_blocks(folder / "text"), path, order=lower)
            LanguageModel.write_binary(
                str(arpa),
                str(temporary),
                trie=binary == "trie",
                quantize_bits=quantize or 0,
                memory=memory,
                lower_orders=list(map(str, lower_orders)),
            )
    # In this message lmplz counts orders from 0.
    fallback = re.findall(r"Substituting fallback discounts for order (\d+)", messages)
    fallback_orders = tuple(int(number) + 1 for number in fallback)
    return LmEstimate(counts.sentences, ngrams, fallback_orders, counts.reserved_words)


def check_options(order: int, memory: int, binary: str, quantize: int | None) -> None:
    """Raises ValueError for options that ``estimate_lm`` does not support."""
    if order not in ORDERS:
        raise ValueError(f"order {order}: expected {ORDERS[0]} to {ORDERS[-1]}")
    if memory < _MIN_MEMORY:
        raise ValueError(f"a language model needs {_MIN_MEMORY >> 20}M of memory or more")
    if binary not in ("probing", "trie"):
        raise ValueError(f"{binary!r}: expected probing or trie")
    if quantize is not None and binary != "trie":
        raise ValueError("only a trie can be quantised")
    if quantize is not None and quantize not in QUANTIZE_BITS:
        raise ValueError(f"{quantize} bits: expected {QUANTIZE_BITS[0]} to {QUANTIZE_BITS[-1]}")


def copy_lm(path: PathLike, output: PathLike) -> None:
    """Copies an existing language model as a KenLM binary. Raises FormatError for another file, OSError."""
    with replacing(output) as temporary:
        if is_arpa(Path(path)):
            LanguageModel.write_binary(os.fspath(path), str(temporary))
        else:
            LanguageModel.load(os.fspath(path))  # raises an error if it is not a language model
            shutil.copyfile(path, temporary)


def check_lm(path: PathLike) -> None:
    """Raises FormatError for a file that is not a language model; OSError.

    A binary is loaded, which is fast. Only the beginning of an ARPA file is read.
    """
    if not is_arpa(Path(path)):
        LanguageModel.load(os.fspath(path))
        return
    line = b"#"
    with open_source(path) as file:
        try:
            while line.startswith(b"#") or line.isspace():  # as KenLM skips them
                line = file.readline(_LONGEST_SHOWN)
        except DAMAGE as error:
            raise damage_error(os.fspath(path), error) from None
    # A bzip2 file is accepted here, because KenLM can unpack it and then checks it.
    if line.strip() != b"\\data\\" and not line.startswith(b"BZh"):
        content = repr(line.rstrip().decode(errors="replace")) if line else "nothing"
        raise FormatError(
            f"{os.fspath(path)}: not a language model: expected an ARPA file, which begins with \\data\\, "
            f"or a KenLM binary, found {content}"
        )


def _all_blocks(
    texts: Iterable[str | os.PathLike[str]],
    counts: LineCounts,
    skip_reserved: bool,
    progress: Callable[[int], object] | None,
) -> Iterator[bytes]:
    # The space prevents KenLM from taking a text that begins with "BZh" for a bzip2 file.
    yield b" "
    for path in texts:
        for block in checked_blocks(path, counts, skip_reserved=skip_reserved):
            yield block
            if progress is not None:
                progress(counts.sentences)
    if counts.sentences == 0:
        names = ", ".join(os.fspath(path) for path in texts)
        raise FormatError(f"{names}: no text to estimate a language model from")


def _kept(blocks: Iterator[bytes], path: Path) -> Iterator[bytes]:
    """Yields the blocks, and writes them to a file: a text may be a pipe, which can be read only once."""
    with open(path, "wb") as file:
        for block in blocks:
            file.write(block)
            yield block


def _file_blocks(path: Path) -> Iterator[bytes]:
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            yield block


def _memory_for(texts: Sequence[str | os.PathLike[str]], memory: int) -> int:
    """Returns the memory that the n-grams of the texts can fill, at most ``memory``.

    lmplz clears a fifth of its memory before it begins, which takes seconds for gigabytes.
    """
    # N-grams take about 30 bytes per byte of text, and a compressed text may be four times as long. If that
    # is too little, lmplz sorts on disk. The length of a pipe is unknown.
    sizes = [os.path.getsize(text) if os.path.isfile(text) else memory for text in texts]
    return min(memory, max(_MIN_MEMORY, 128 * sum(sizes)))


def _run_lmplz(
    blocks: Iterator[bytes], arpa: Path, *, order: int, folder: Path, memory: int, output: Path
) -> str:
    """Runs lmplz on ``blocks``, with its temporary files in ``folder``. Returns its messages."""
    program = Path(_core.__file__).parent / "bin" / "hiero-lmplz"
    scratch = os.path.join(os.path.abspath(folder), "")
    command = [str(program), "-o", str(order), "-S", str(memory), "-T", scratch, "--discount_fallback"]
    with open(arpa, "wb") as file:
        # Python ignores SIGXFSZ. If lmplz does so, too, it reports an error for a file that grows too large.
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=file, stderr=subprocess.PIPE, restore_signals=False
        )
        assert process.stdin is not None and process.stderr is not None
        try:
            is_complete = _feed(process.stdin, blocks)
            # The messages fit into the pipe, so lmplz is not blocked while it is fed.
            messages = process.stderr.read().decode(errors="replace")
            code = process.wait()
        except BaseException:
            process.kill()
            process.wait()
            raise
        finally:
            process.stderr.close()
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
    if code != 0 or not is_complete:
        raise _failure(code, messages, output)
    return messages


def _feed(stdin: IO[bytes], blocks: Iterator[bytes]) -> bool:
    """Writes the blocks to lmplz. Returns False if it closed its input early."""
    try:
        for block in blocks:
            stdin.write(block)
        stdin.close()
    except BrokenPipeError:
        return False
    return True


def _failure(code: int, messages: str, output: Path) -> Exception:
    # lmplz aborts if one of its threads fails. The cause is only in its messages.
    for number in _SYSTEM_ERRORS:
        if os.strerror(number) in messages:
            return OSError(number, os.strerror(number), str(output))
    thrown = re.search(r" threw .*\.\n(.+)", messages)
    if thrown:
        return Error(f"lmplz: {thrown[1]}")
    if code < 0 and code != -signal.SIGABRT:
        return Error(f"lmplz was ended by {signal.Signals(-code).name}")
    lines = messages.split("\n")
    return Error(f"lmplz: {next((line for line in reversed(lines) if line.strip()), 'failed')}")


def _ngram_counts(arpa: Path) -> tuple[int, ...]:
    counts = []
    with open(arpa, "rb") as file:
        file.readline()
        while match := re.fullmatch(rb"ngram \d+=(\d+)\n", file.readline()):
            counts.append(int(match[1]))
    return tuple(counts)


def _compress(source: Path, target: Path) -> None:
    # The header has no time and no name, so that the same model gives the same bytes.
    with (
        open(source, "rb") as plain,
        open(target, "wb") as file,
        gzip.GzipFile("", "wb", fileobj=file, mtime=0) as zipped,
    ):
        shutil.copyfileobj(plain, zipped, 1 << 20)
