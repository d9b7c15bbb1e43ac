"""Tests of language model estimation: a slow version of the formulas, bad text, full disks and signals."""

from __future__ import annotations

import gzip
import lzma
import math
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from itertools import product
from pathlib import Path

import kenlm
import pytest

import hiero
from hiero.train import LmEstimate, estimate_lm
from hiero.train.lm import _memory_for

HIERO = str(Path(sys.executable).parent / "hiero")
SMALL = 32 << 20
FALLBACK = (0.5, 1.0, 1.5)
Gram = tuple[str, ...]


def random_text(seed: int, sentences: int = 400) -> list[str]:
    """Makes sentences of Zipfian words that often recur in runs. The last word is new: see `discounts`."""
    source = random.Random(seed)
    weights = [1 / (i + 1) for i in range(500)]
    lines = []
    for _ in range(sentences):
        words = source.choices(range(500), weights, k=source.randint(1, 9))
        for i in range(1, len(words)):
            if source.random() < 0.6:
                words[i] = words[i - 1] * 7 % 500
        lines.append(" ".join(f"w{word}" for word in words))
    return [*lines, "w0 w1 the-end"]


def adjusted_counts(lines: list[str], order: int) -> dict[int, Counter[Gram]]:
    """Returns n-gram counts. N-grams of the highest order and after <s> have their frequency, the others the
    number of different words before them."""
    counts: dict[int, Counter[Gram]] = {n: Counter() for n in range(1, order + 1)}
    left: dict[Gram, set[str]] = defaultdict(set)
    for line in lines:
        sentence = ("<s>", *line.split(), "</s>")
        for n, start in product(counts, range(len(sentence))):
            gram = sentence[start : start + n]
            if len(gram) == n:
                counts[n][gram] += 1
                if start:
                    left[gram].add(sentence[start - 1])
    for n in range(1, order):
        counts[n] = Counter({g: c if g[0] == "<s>" else len(left[g]) for g, c in counts[n].items()})
    del counts[1][("<s>",)]
    return counts


def discounts(counts: Counter[Gram]) -> tuple[float, float, float]:
    """Computes D1, D2 and D3+ of Chen and Goodman (1998), equation 26.

    lmplz uses the plain instead of the adjusted counts of the n-grams at the end of its sorted list. The
    texts here end with a new word, for which the two are the same.
    """
    t = Counter(counts.values())
    y = t[1] / (t[1] + 2 * t[2])
    return (1 - 2 * y * t[2] / t[1], 2 - 3 * y * t[3] / t[2], 3 - 4 * y * t[4] / t[3])


def kneser_ney(lines: list[str], order: int, fallback: bool = False) -> dict[Gram, tuple[float, float]]:
    """Computes the log10 probability and back-off weight of every n-gram, interpolated with lower orders down
    to the uniform distribution."""
    counts = adjusted_counts(lines, order)
    total: Counter[Gram] = Counter()
    held_back: dict[Gram, float] = defaultdict(float)
    probability: dict[Gram, float] = {}
    vocabulary = [*counts[1], ("<unk>",)]
    for n in counts:
        d = FALLBACK if fallback else discounts(counts[n])
        for gram, count in counts[n].items():
            total[gram[:-1]] += count
            held_back[gram[:-1]] += d[min(count, 3) - 1]
        for gram in vocabulary if n == 1 else counts[n]:
            context, count = gram[:-1], counts[n][gram]
            discounted = (count - d[min(count, 3) - 1] if count else 0) / total[context]
            lower = probability[gram[1:]] if n > 1 else 1 / len(vocabulary)
            probability[gram] = discounted + held_back[context] / total[context] * lower
    probability[("<s>",)] = 1
    return {
        gram: (math.log10(p), math.log10(held_back[gram] / total[gram]) if gram in total else 0)
        for gram, p in probability.items()
    }


def read_arpa(path: Path) -> dict[Gram, tuple[float, float]]:
    model = {}
    for line in path.read_text().splitlines():
        fields = line.split("\t")
        if len(fields) > 1:
            model[tuple(fields[1].split(" "))] = (float(fields[0]), float(fields[2]) if fields[2:] else 0)
    return model


def assert_same(actual: dict[Gram, tuple[float, float]], expected: dict[Gram, tuple[float, float]]) -> None:
    assert actual.keys() == expected.keys()
    for gram, values in expected.items():
        assert actual[gram] == pytest.approx(values, abs=2e-5), gram


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(line + "\n" for line in lines))
    return path


def hidden_files(folder: Path) -> list[str]:
    return [file.name for file in folder.iterdir() if file.name.startswith(".")]


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("lm") / "text.en", random_text(0))


@pytest.fixture(scope="module")
def arpa(text: Path) -> Path:
    path = text.with_name("lm.arpa")
    estimate_lm([text], path, order=3, memory=SMALL)
    return path


@pytest.mark.parametrize(("seed", "order"), [(0, 2), (1, 3), (2, 4), (3, 5), (4, 6)])
def test_every_ngram_is_as_the_formulas_say(tmp_path: Path, seed: int, order: int) -> None:
    lines = random_text(seed)
    expected = kneser_ney(lines, order)
    path = tmp_path / "lm.arpa"
    estimate = estimate_lm([write(tmp_path / "text", lines)], path, order=order, memory=SMALL)
    assert_same(read_arpa(path), expected)
    lengths = Counter(map(len, expected))
    assert estimate == LmEstimate(len(lines), tuple(lengths[n] for n in range(1, order + 1)), (), 0)


def test_probabilities_sum_to_one_in_every_context(arpa: Path) -> None:
    model, grams = kenlm.Model(str(arpa)), read_arpa(arpa)
    words = [gram[0] for gram in grams if len(gram) == 1 and gram != ("<s>",)]
    for context in [(), *(gram for gram in grams if len(gram) < 3 and gram[-1] not in ("</s>", "<unk>"))]:
        state, after = kenlm.State(), kenlm.State()
        model.NullContextWrite(state)
        for word in context:
            # The state after a single word would allow <s> to be scored.
            if word == "<s>":
                model.BeginSentenceWrite(after)
            else:
                model.BaseScore(state, word, after)
            state, after = after, kenlm.State()
        assert sum(10 ** model.BaseScore(state, word, after) for word in words) == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("lines", [["a"], ["a b c", "b"], ["a a a a"] * 3, ["a b c d e f g"]])
def test_small_texts_get_fallback_discounts(tmp_path: Path, lines: list[str]) -> None:
    path = tmp_path / "lm.arpa"
    estimate = estimate_lm([write(tmp_path / "text", lines)], path, order=3, memory=SMALL)
    assert estimate.fallback_orders == (1, 2, 3)
    assert_same(read_arpa(path), kneser_ney(lines, 3, fallback=True))
    score = hiero.LanguageModel.load(str(path)).score(lines[0].split())
    for binary, quantize in (("probing", None), ("trie", None), ("trie", 2)):
        estimate_lm(
            [tmp_path / "text"], tmp_path / "lm", order=3, memory=SMALL, binary=binary, quantize=quantize
        )
        actual = hiero.LanguageModel.load(str(tmp_path / "lm")).score(lines[0].split())
        assert actual == pytest.approx(score, rel=1 if quantize else 1e-5)


@pytest.mark.parametrize(
    ("binary", "quantize", "kind", "tolerance"),
    [
        ("probing", None, "rest-probing", 1e-5),
        ("trie", None, "trie", 1e-5),
        ("trie", 8, "quantised trie", 0.1),
        ("trie", 16, "quantised trie", 1e-3),
    ],
)
def test_binaries_score_as_the_arpa_file(
    tmp_path: Path, text: Path, arpa: Path, binary: str, quantize: int | None, kind: str, tolerance: float
) -> None:
    path, again = tmp_path / "lm.binary", tmp_path / "again.binary"
    for output in (path, again):
        estimate_lm([text], output, order=3, memory=SMALL, binary=binary, quantize=quantize)  # type: ignore[arg-type]
    assert path.read_bytes() == again.read_bytes()
    expected, actual = hiero.LanguageModel.load(str(arpa)), hiero.LanguageModel.load(str(path))
    assert (actual.kind, actual.order, hidden_files(tmp_path)) == (kind, 3, [])
    for line in text.read_text().splitlines()[:50]:
        tokens = [*line.split(), "unheard-of"]
        assert actual.score(tokens) == pytest.approx(expected.score(tokens), abs=tolerance * len(tokens))


def test_a_pipe_is_read_once(tmp_path: Path, text: Path) -> None:
    """Rest costs need models of lower order of the same text."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cp", text, pipe]):
        estimate_lm([pipe], tmp_path / "from-pipe", order=3, memory=SMALL)
    estimate_lm([text], tmp_path / "from-file", order=3, memory=SMALL)
    assert (tmp_path / "from-pipe").read_bytes() == (tmp_path / "from-file").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["from-file", "from-pipe", "pipe"]


def test_same_bytes_however_the_text_comes(tmp_path: Path, text: Path, arpa: Path) -> None:
    lines = text.read_text().splitlines(keepends=True)
    (tmp_path / "1.gz").write_bytes(gzip.compress("".join(lines[:100]).encode()))
    (tmp_path / "2.xz").write_bytes(lzma.compress("".join(lines[100:200]).encode().rstrip()))
    (tmp_path / "3").write_text("\n \n" + "\r\n\n".join(line.strip() for line in lines[200:]))
    parts = [tmp_path / name for name in ("1.gz", "2.xz", "3")]
    read: list[int] = []
    output = tmp_path / "lm.arpa.gz"
    estimate = estimate_lm(parts, output, order=3, progress=read.append)
    assert estimate.sentences == len(lines) == read[-1]
    assert gzip.decompress(output.read_bytes()) == arpa.read_bytes()


def test_any_memory_gives_the_prepared_model(tmp_path: Path, shared: Path) -> None:
    """The model is equal to that of lmplz with Boost, byte by byte. 32 MB are too small to sort without
    merging."""
    with gzip.open(shared / "ja-en" / "system" / "lm.arpa.gz") as file:
        expected = file.read()
    for memory in (SMALL, 1 << 30):
        estimate_lm([shared / "ja-en" / "train.en"], tmp_path / "lm.arpa", memory=memory)
        assert expected == (tmp_path / "lm.arpa").read_bytes()


def test_no_more_memory_than_a_text_can_fill(tmp_path: Path) -> None:
    small, large = write(tmp_path / "small", ["a"]), tmp_path / "large"
    large.write_bytes(bytes(1 << 20))
    assert _memory_for([small], 1 << 40) == SMALL
    assert _memory_for([large, large], 1 << 40) == 256 << 20
    assert _memory_for([large], SMALL) == SMALL
    os.mkfifo(tmp_path / "pipe")
    assert _memory_for([small, tmp_path / "pipe"], 1 << 40) == 1 << 40


def test_text_that_begins_like_a_bzip2_file(tmp_path: Path) -> None:
    estimate_lm([write(tmp_path / "text", ["BZh91AY is a word"])], tmp_path / "lm.arpa", memory=SMALL)
    assert ("<s>", "BZh91AY") in read_arpa(tmp_path / "lm.arpa")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a\nb <s> c\n", "text:2: <s> may not occur in the text of a language model"),
        (b"</s>", "text:1: </s> may not occur"),
        (b"a\tb\n\na\r<unk>\n", "text:3: <unk> may not occur"),
        (b"<UNK>\n", "text:1: <UNK> may not occur"),
        (b"a\n\n\xe3\x81\nb\n", "text:3: invalid UTF-8"),
        (b"a\n" * 600_000 + b"\xff", "text:600001: invalid UTF-8"),
        (b"", "text: no text"),
        (b"\n \t\n\0\n", "text: no text"),
        (gzip.compress(b"a b\n" * 99, mtime=0)[:-9], "text: damaged or truncated compressed file"),
    ],
)
def test_bad_text(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "text").write_bytes(content)
    with pytest.raises(hiero.FormatError, match=re.escape(message)):
        estimate_lm([tmp_path / "text"], tmp_path / "lm", memory=SMALL)
    assert [file.name for file in tmp_path.iterdir()] == ["text"]


def test_reserved_words_can_be_skipped(tmp_path: Path) -> None:
    text = write(tmp_path / "text", ["a <s> b <s>c", "<unk> </s>", "<s> <UNK>"])
    estimate = estimate_lm([text], tmp_path / "lm.arpa", memory=SMALL, reserved_words="skip")
    assert (estimate.sentences, estimate.reserved_words) == (1, 5)
    assert ("a", "b", "<s>c") in read_arpa(tmp_path / "lm.arpa")


@pytest.mark.parametrize(
    "options",
    [
        {"order": 1},
        {"order": 7},
        {"memory": 1 << 20},
        {"binary": "array"},
        {"quantize": 8},
        {"binary": "trie", "quantize": 1},
    ],
)
def test_impossible_options(tmp_path: Path, text: Path, options: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"order|memory|probing|quantised|bits"):
        estimate_lm([text], tmp_path / "lm", **options)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no text"):
        estimate_lm([], tmp_path / "lm")


def test_rest_costs_that_cannot_be(tmp_path: Path, arpa: Path) -> None:
    """A trie has none, and a model of order 3 needs models of orders 1 and 2."""
    binary = str(tmp_path / "lm")
    with pytest.raises(ValueError, match="a trie has no rest costs"):
        hiero.LanguageModel.write_binary(str(arpa), binary, trie=True, lower_orders=[str(arpa)] * 2)
    with pytest.raises(hiero.FormatError, match="has order 3, and there are 1 models of lower order"):
        hiero.LanguageModel.write_binary(str(arpa), binary, lower_orders=[str(arpa)])
    with pytest.raises(FileNotFoundError, match="missing"):
        hiero.LanguageModel.write_binary(str(arpa), binary, lower_orders=[str(tmp_path / "missing")] * 2)
    assert list(tmp_path.iterdir()) == []


def test_command_line(tmp_path: Path, text: Path, arpa: Path) -> None:
    command = [HIERO, "lm", text, "-o", tmp_path / "lm.arpa", "--order", "3", "--memory", "64M"]
    done = subprocess.run(command, capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert (tmp_path / "lm.arpa").read_bytes() == arpa.read_bytes()
    small = ["bash", "-c", f"echo a b | {HIERO} lm /dev/stdin -o {tmp_path}/lm --type trie --quantize 4"]
    done = subprocess.run(small, capture_output=True, text=True)
    assert (done.returncode, done.stderr.count("\n"), done.stderr[:9]) == (0, 1, "warning: ")
    assert subprocess.run([*command, "--quantize", "4"], capture_output=True).returncode == 2
    assert subprocess.run([*command, "--order", "9"], capture_output=True).returncode == 2


@pytest.mark.parametrize("limit", [1, 40])
def test_a_full_disk_leaves_nothing_behind(tmp_path: Path, text: Path, arpa: Path, limit: int) -> None:
    """A limit of 1 KB stops lmplz at its temporary files, one of 40 KB at the ARPA file."""
    assert arpa.stat().st_size > limit << 10
    (tmp_path / "lm").write_text("the old one")
    command = f"ulimit -f {limit}; {HIERO} lm {text} -o {tmp_path}/lm --order 3"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, f"hiero: {tmp_path}/lm: File too large\n")
    assert [file.name for file in tmp_path.iterdir()] == ["lm"]
    assert (tmp_path / "lm").read_text() == "the old one"


def test_a_disk_that_is_full_for_the_binary(tmp_path: Path, arpa: Path) -> None:
    code = f"import hiero; hiero.LanguageModel.write_binary({str(arpa)!r}, {str(tmp_path / 'lm')!r})"
    done = subprocess.run(
        ["bash", "-c", f'ulimit -f 8; {sys.executable} -P -c "{code}"'], capture_output=True
    )
    assert done.stderr.decode().endswith(f"OSError: [Errno 27] File too large: '{tmp_path}/lm'\n")


def test_interrupted(tmp_path: Path) -> None:
    command = [HIERO, "lm", "/dev/stdin", "-o", tmp_path / "lm"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(b"a b c\n" * 500_000)  # more than pipes and buffers hold: it is being read
    process.stdin.flush()
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, messages = process.communicate(timeout=20)
    said = f"hiero: interrupted; {tmp_path / 'lm'} was not written\n".encode()
    assert (process.returncode, messages, list(tmp_path.iterdir())) == (130, said, [])
