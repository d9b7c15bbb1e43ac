"""The first Ctrl-C counts, also within one sentence that takes minutes, and the command says what is left."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import threading
from pathlib import Path

import pytest

import hiero
from support.brute_force import write_arpa
from support.commands import BIN

# Hypotheses for minutes of search, of a sentence that has as many.
LONG = " ".join("abcd" * 20)
POP_LIMIT = 200_000


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("long")
    rng = random.Random(1)
    words = [f"w{n}" for n in range(40)]
    rules = [f"[X] ||| {s} ||| {t} ||| F={rng.random():.3f}" for s in "abcd" for t in words]
    rules += ["[X] ||| [X,1] [X,2] ||| [X,2] [X,1] ||| F=1", "[X] ||| [X,1] [X,2] ||| [X,1] [X,2] ||| F=1"]
    (folder / "grammar.txt").write_text("".join(f"{rule}\n" for rule in rules))
    write_arpa(folder / "lm.arpa", [rng.choices(words, k=10) for _ in range(300)], 3)
    (folder / "weights.txt").write_text("LM0 1\nF -1\n")
    return [folder / name for name in ("grammar.txt", "lm.arpa", "weights.txt")]


def interrupted(command: list[object], ready: Path, stdin: str = "") -> subprocess.CompletedProcess[bytes]:
    """Runs it until ``ready`` matches a file, and then a little longer."""
    process = subprocess.Popen(
        [str(part) for part in command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    process.stdin.write(stdin.encode())
    process.stdin.close()
    process.stdin = None
    while not any(ready.parent.glob(ready.name)):
        assert process.poll() is None, process.stderr
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(1)  # it is at work
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    return subprocess.CompletedProcess(command, process.returncode, out, err)


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
def test_a_long_sentence_of_a_command(parts: list[Path], tmp_path: Path, threads: int) -> None:
    grammar, lm, weights = parts
    model = ("--grammar", grammar, "--lm", lm, "--weights", weights, "--pop-limit", POP_LIMIT, "--quiet")
    output = tmp_path / "out"
    decode = [BIN / "hiero-decode", *model, "-o", output, "--threads", threads]
    done = interrupted(decode, tmp_path / ".out.hiero-*", LONG)
    assert (done.returncode, done.stdout) == (130, b"")
    assert done.stderr.decode() == f"hiero: interrupted; {output} was not written\n"
    assert list(tmp_path.iterdir()) == []
    output.write_text("old\n")
    done = interrupted(decode, tmp_path / ".out.hiero-*", LONG)
    assert done.stderr.decode() == f"hiero: interrupted; {output} is as it was\n"
    assert output.read_text() == "old\n"


@pytest.mark.slow
def test_tuning_says_how_to_go_on(parts: list[Path], tmp_path: Path) -> None:
    hiero.Model.assemble(parts[:1], parts[1:2], parts[2]).save(tmp_path / "model")
    (tmp_path / "source").write_text(LONG + "\n")
    (tmp_path / "references").write_text(LONG + " \n")
    sets = ("--source", tmp_path / "source", "--references", tmp_path / "references")
    search = ("--pop-limit", POP_LIMIT, "--span-limit", 10, "--method", "pro")
    tune = [BIN / "hiero", "tune", tmp_path / "model", *sets, *search, "-o", tmp_path / "out"]
    done = interrupted(tune, tmp_path / "out" / "run.json")
    assert done.returncode == 130
    assert done.stderr.decode() == (
        f"hiero: interrupted; run it again to go on; {tmp_path / 'out'} has the iterations that are done\n"
    )


@pytest.mark.parametrize("keep", ["none", "forest"])
def test_a_long_sentence_of_python(parts: list[Path], keep: hiero.decode.decoder.Keep) -> None:
    decoder = hiero.Decoder(hiero.Model.assemble(parts[:1], parts[1:2], parts[2]), pop_limit=POP_LIMIT)
    timer = threading.Timer(1, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        decoder.translate(LONG, keep=keep)
    timer.join()
    assert decoder.translate("a").has_parse
