"""Language models from text, by KenLM's lmplz, which comes with this package.

The models are interpolated modified Kneser-Ney (Chen and Goodman 1998, section 3; Heafield et al. 2013,
"Scalable Modified Kneser-Ney Language Model Estimation"), unpruned, with unigrams interpolated with the
uniform distribution over the vocabulary and ``<unk>``.

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
from pathlib import Path
from typing import IO, Literal

from pydantic import Field

from hiero import _core
from hiero._core import Error, FormatError, LanguageModel
from hiero.base.directories import temporary_folder
from hiero.base.files import replacing
from hiero.base.lines import DAMAGE, PathLike, damaged, open_source
from hiero.base.settings import Settings
from hiero.decode.model_files import is_arpa
from hiero.train.lm_text import LineCounts, checked_blocks

DEFAULT_MEMORY = 1 << 30
ORDERS = range(2, 7)
QUANTIZE_BITS = range(2, 26)
_MIN_MEMORY = 32 << 20
# Bytes of a line that is not what it should be.
_LONGEST_SHOWN = 40
_SYSTEM_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.ENOMEM)


class LmSettings(Settings):
    """Settings of the language model to estimate."""

    order: int = Field(5, ge=ORDERS[0], le=ORDERS[-1], description="length of the longest n-grams, in words")
    binary: Literal["probing", "trie"] = Field(
        "probing", description="data structure of KenLM: hash tables, or a trie, which is smaller and slower"
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
    """The counts that a language model was made from."""

    sentences: int
    """Lines that are not blank."""
    ngrams: tuple[int, ...]
    """Different n-grams of each order from 1."""
    fallback_orders: tuple[int, ...]
    """Orders whose Kneser-Ney discounts could not be estimated, so that lmplz's fallback was used."""
    reserved_words: int
    """Words ``<s>``, ``</s>``, ``<unk>`` and ``<UNK>`` that were skipped."""


def estimate_lm(
    texts: Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    order: int = _DEFAULTS.order,
    memory: int = DEFAULT_MEMORY,
    binary: Literal["probing", "trie"] = _DEFAULTS.binary,
    quantize: int | None = _DEFAULTS.quantize,
    reserved_words: Literal["error", "skip"] = "error",
    progress: Callable[[int], object] | None = None,
) -> LmEstimate:
    """Estimates one model from all ``texts`` together and writes ``output``, which appears when whole.

    ``texts`` are plain, gzip or xz files of tokenised sentences, one a line; blank lines are left out.
    ``output`` is an ARPA file if its name ends in ``.arpa`` or ``.arpa.gz``, else a KenLM binary: hash
    tables (``probing``) or a ``trie``, whose probabilities and backoffs ``quantize`` bits may stand for.
    ``memory`` bounds the bytes of n-grams being sorted; the rest lies beside ``output`` meanwhile. The
    same texts give the same bytes, whatever the memory. ``reserved_words`` says what becomes of ``<s>``,
    ``</s>``, ``<unk>`` and ``<UNK>`` in the text. ``progress`` is called with the sentences read so far.
    Raises ValueError for impossible options, FormatError naming file and line for bad text, OSError.
    """
    if not texts:
        raise ValueError("no text to estimate a language model from")
    check_options(order, memory, binary, quantize)
    output = Path(output)
    counts = LineCounts()
    blocks = _blocks(texts, counts, reserved_words == "skip", progress)
    # lmplz's own files lie in a folder, since it leaves one behind if it is stopped while it makes it.
    with replacing(output) as temporary, temporary_folder(output) as folder:
        arpa = temporary if output.suffix == ".arpa" else folder / "lm.arpa"
        messages = _run_lmplz(blocks, arpa, folder, order, _useful(memory, texts), output)
        ngrams = _ngram_counts(arpa)
        if output.name.endswith(".arpa.gz"):
            _compress(arpa, temporary)
        elif arpa != temporary:
            LanguageModel.write_binary(
                str(arpa),
                str(temporary),
                trie=binary == "trie",
                quantize_bits=quantize or 0,
                memory=memory,
            )
    # lmplz counts orders from zero here.
    fallback = re.findall(r"Substituting fallback discounts for order (\d+)", messages)
    fallback_orders = tuple(int(number) + 1 for number in fallback)
    return LmEstimate(counts.sentences, ngrams, fallback_orders, counts.reserved_words)


def check_options(order: int, memory: int, binary: str, quantize: int | None) -> None:
    """Raises ValueError for what ``estimate_lm`` cannot do."""
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


def check_given_lm(path: PathLike) -> None:
    """Raises FormatError for a file that is no language model: a binary is loaded, of an ARPA file the
    beginning is looked at, which costs nothing; OSError."""
    if not is_arpa(Path(path)):
        LanguageModel.load(os.fspath(path))
        return
    line = b"#"
    with open_source(path) as file:
        try:
            while line.startswith(b"#") or line.isspace():  # as KenLM skips them
                line = file.readline(_LONGEST_SHOWN)
        except DAMAGE as error:
            raise damaged(os.fspath(path), error) from None
    # KenLM unpacks bzip2 too, and is to say what it finds.
    if line.strip() != b"\\data\\" and not line.startswith(b"BZh"):
        found = repr(line.rstrip().decode(errors="replace")) if line else "nothing"
        raise FormatError(
            f"{os.fspath(path)}: not a language model: expected an ARPA file, which begins with \\data\\, "
            f"or a binary of KenLM's, found {found}"
        )


def _blocks(
    texts: Iterable[str | os.PathLike[str]],
    counts: LineCounts,
    skip_reserved: bool,
    progress: Callable[[int], object] | None,
) -> Iterator[bytes]:
    # The blank keeps KenLM from taking a text that begins with "BZh" for a bzip2 file.
    yield b" "
    for path in texts:
        for block in checked_blocks(path, counts, skip_reserved=skip_reserved):
            yield block
            if progress is not None:
                progress(counts.sentences)
    if counts.sentences == 0:
        names = ", ".join(os.fspath(path) for path in texts)
        raise FormatError(f"{names}: no text to estimate a language model from")


def _useful(memory: int, texts: Sequence[str | os.PathLike[str]]) -> int:
    """As much of ``memory`` as the n-grams of the texts could fill. lmplz clears a fifth of what it may have,
    which takes seconds for gigabytes."""
    # N-grams take some 30 bytes for each of the text's, which may have been four in a compressed file. Where
    # that is too little, lmplz sorts on disk. Of what is no file nobody knows how long it is.
    sizes = [os.path.getsize(text) if os.path.isfile(text) else memory for text in texts]
    return min(memory, max(_MIN_MEMORY, 128 * sum(sizes)))


def _run_lmplz(
    blocks: Iterator[bytes], arpa: Path, folder: Path, order: int, memory: int, output: Path
) -> str:
    """Runs lmplz on all of ``blocks``, its temporary files in ``folder``; its messages."""
    program = Path(_core.__file__).parent / "bin" / "hiero-lmplz"
    scratch = os.path.join(os.path.abspath(folder), "")
    command = [str(program), "-o", str(order), "-S", str(memory), "-T", scratch, "--discount_fallback"]
    with open(arpa, "wb") as file:
        # Signals stay as Python has them: a file that grows too large is then an error, not a death.
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=file, stderr=subprocess.PIPE, restore_signals=False
        )
        assert process.stdin is not None and process.stderr is not None
        try:
            whole = _feed(process.stdin, blocks)
            # A few thousand bytes, less than a pipe holds: lmplz did not have to wait for us.
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
    if code != 0 or not whole:
        raise _failure(code, messages, output)
    return messages


def _feed(stdin: IO[bytes], blocks: Iterator[bytes]) -> bool:
    """Whether the reader took everything."""
    try:
        for block in blocks:
            stdin.write(block)
        stdin.close()
    except BrokenPipeError:
        return False
    return True


def _failure(code: int, messages: str, output: Path) -> Exception:
    # lmplz aborts where a thread of it fails; what went wrong stands in its messages alone.
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
    # Without a time and a name, so that the same model gives the same bytes.
    with (
        open(source, "rb") as plain,
        open(target, "wb") as file,
        gzip.GzipFile("", "wb", fileobj=file, mtime=0) as zipped,
    ):
        shutil.copyfileobj(plain, zipped, 1 << 20)
