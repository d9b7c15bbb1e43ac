"""`hiero-decode` and its siblings as programs: options, formats, exit codes, bad input."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import hiero
from hiero import read_weights
from hiero.forest.files import ForestFile
from support.commands import BIN, call, decode, one_error_line, program
from support.paths import FRENCH


@pytest.mark.parametrize("command", ["hiero info --help", "hiero-decode --help"])
def test_commands_start_without_the_others(command: str) -> None:
    entry = "decode_main" if command.startswith("hiero-decode") else "main"
    code = f"""
import sys
from hiero.cli import {entry}
sys.argv = {command.split()}
try:
    {entry}()
except SystemExit as ended:
    assert not ended.code
print(sorted({{"scipy", "matplotlib", "hiero.tune", "hiero.train"}} & set(sys.modules)), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd="/")
    assert (done.returncode, done.stderr) == (0, "[]\n") and "Usage" in done.stdout


def test_one_record_per_line(parts: list[object], french: Path) -> None:
    source = (french / "input.fr").read_text()
    text = "\n" + source + "\n \n"
    done = program("hiero-decode", *parts, stdin=text)
    assert (done.returncode, done.stderr) == (0, b"")
    lines = done.stdout.decode().split("\n")
    assert len(lines) - 1 == text.count("\n")
    assert lines[0] == lines[-2] == lines[-3] == ""
    assert lines[1] == "i do not understand ."
    assert program("hiero", "decode", *parts, stdin=text).stdout == done.stdout
    for threads in (1, 2, 8):
        assert decode(parts, "--threads", threads, stdin=text).stdout == done.stdout


def test_strange_tokens_are_just_words(parts: list[object]) -> None:
    tokens = ["|||", "[X,1]", "<s>", "</s>", "[]", "(((", "\x01\x7f", "[X]", "\\|||", "#", "\u3000"]
    for token in tokens:
        line = f"le {token} dort"
        assert decode(parts, stdin=line + "\n").stdout.decode() == f"the {token} sleeps\n"
    nbest = decode(parts, "--nbest", 1, "--output-format", "nbest", stdin="le ||| dort\n").stdout.decode()
    assert nbest.startswith("0 ||| the \\||| sleeps ||| LM0=")


def test_bad_lines_do_not_lose_the_others(parts: list[object]) -> None:
    done = decode(parts, stdin=b"le chat\n\xff\xfe chat\nle chien\n")
    assert done.stdout == b"the cat\n\nthe dog\n"
    assert one_error_line(done) == "input:2: invalid UTF-8\n"
    nothing = decode(parts, "--pass-through", "none", stdin="le chat\nle xyz\n")
    assert nothing.stdout == b"the cat\n\n"
    assert one_error_line(nothing) == "input:2: no derivation covers the sentence\n"
    record = decode(parts, "--output-format", "jsonl", stdin=b"\xff\n").stdout
    assert json.loads(record)["error"] == "invalid UTF-8"


def test_long_line(parts: list[object]) -> None:
    line = " ".join(["le chat noir ne mange pas dans la maison bleue ."] * 28)[: 300 * 6]
    assert len(line.split()) > 290
    done = decode(parts, "--stats", stdin=line + "\n")
    assert done.stdout.count(b"\n") == 1 and len(done.stdout.split()) > 200
    memory = float(done.stderr.decode().rsplit("peak memory ", 1)[1].split()[0])
    assert memory < 1000


def test_output_formats(parts: list[object]) -> None:
    line = "elle voit un chien noir .\n"
    nbest = decode(parts, "--nbest", 5, "--unique", "--output-format", "nbest", stdin=line).stdout.decode()
    weights = hiero.read_weights(FRENCH / "weights.txt")
    strings = []
    for entry in nbest.splitlines():
        number, tokens, features, score = entry.split(" ||| ")
        assert number == "0"
        strings.append(tokens)
        pairs = [pair.rpartition("=") for pair in features.split()]
        total = sum(weights.get(name, 0.0) * float(value) for name, _, value in pairs)
        assert total == pytest.approx(float(score), rel=1e-9)
    assert len(set(strings)) == len(strings) == 5
    record = json.loads(decode(parts, "--nbest", 2, "--output-format", "jsonl", stdin=line).stdout)
    assert set(record) == {
        *("id", "tokens", "text", "score", "features", "nbest", "alignment", "unknown", "error"),
        *("optimal", "gap"),
    }
    assert record["text"] == strings[0] == " ".join(record["nbest"][0]["tokens"])


def test_certificates_of_records(parts: list[object]) -> None:
    lines = "elle voit un chien noir .\n\n"
    options = ("--output-format", "jsonl", "--stats")
    pruned = decode(parts, "--pop-limit", 1, *options, stdin=lines)
    first, blank = map(json.loads, pruned.stdout.splitlines())
    assert (first["optimal"], first["gap"]) == (False, None)
    assert (blank["optimal"], blank["gap"]) == (True, 0)
    proved = decode(parts, "--pop-limit", 1, "--exact", 10_000, *options, stdin=lines)
    best = json.loads(proved.stdout.splitlines()[0])
    assert (best["optimal"], best["gap"]) == (True, 0) and best["score"] >= first["score"]
    shares = [
        done.stderr.decode().split(" of sentences proved optimal")[0].split()[-1] for done in (pruned, proved)
    ]
    assert shares == ["50.0%", "100.0%"]


def test_derivations_file(parts: list[object], tmp_path: Path) -> None:
    file = tmp_path / "derivations.jsonl"
    decode(parts, "--derivations", file, stdin="je ne comprends pas\n\n")
    first, second = map(json.loads, file.read_text().splitlines())
    rules = [step["source"] + " -> " + step["target"] for step in first["derivation"]]
    assert "ne [X,1] pas -> do not [X,1]" in rules
    assert second == {"id": 1, "derivation": []}


def test_serves_as_a_coprocess(parts: list[object]) -> None:
    command = [str(BIN / "hiero-decode"), *map(str, parts)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin and process.stdout
        for source, target in [("le chat", "the cat"), ("", ""), ("le chien", "the dog")]:
            process.stdin.write(source.encode() + b"\n")
            process.stdin.flush()
            assert process.stdout.readline() == target.encode() + b"\n"
        process.stdin.close()
        assert process.wait(timeout=60) == 0


def test_files_and_models(parts: list[object], french: Path, tmp_path: Path) -> None:
    hiero.Model.assemble([french / "grammar.txt"], [french / "lm.arpa"], french / "weights.txt").save(
        tmp_path / "m"
    )
    expected = decode(parts, "--input", french / "input.fr").stdout
    output = tmp_path / "out"
    done = call(
        "hiero-decode",
        *("--model", tmp_path / "m", "--quiet", "--input", french / "input.fr", "--output", output),
    )
    assert done.returncode == 0 and output.read_bytes() == expected
    assert call("hiero", "check", tmp_path / "m").returncode == 0
    assert b"language models" in call("hiero", "info", tmp_path / "m").stdout
    # Weights are told to the last bit.
    hiero.Model.load(tmp_path / "m").with_weights({"LM0": 1 / 3, "Glue": -2.0}).save(tmp_path / "n")
    facts = call("hiero", "info", tmp_path / "n").stdout.decode()
    assert "LM0=0.3333333333333333 " in facts and " Glue=-2 " in facts
    assert b"rules" in call("hiero", "info", tmp_path / "m" / "rules0.hrt").stdout
    assert b"order" in call("hiero", "info", tmp_path / "m" / "lm0.binary").stdout
    for more, expected in (((), b"the book\n"), (("--set-weight", "PhraseEF=-3"), b"the pound\n")):
        changed = call("hiero-decode", "--model", tmp_path / "m", "--quiet", *more, stdin="le livre\n")
        assert changed.stdout == expected
    (tmp_path / "m" / "weights.txt").write_text("LM0 1\n")
    assert "weights.txt" in one_error_line(call("hiero", "check", tmp_path / "m"))


def test_unweighted_features_are_listed_once(parts: list[object]) -> None:
    done = call("hiero-decode", *parts[:-1], stdin="le chat\nle chien\n")
    assert done.stderr == (
        b"hiero: features without a weight count 0: LM0_OOV, RulePenalty, Identity, NumberRule, NameRule\n"
    )


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ("LM0 1\nLM0 2\n", "weights:2: a second weight for LM0"),
        ("LM0 nan\n", "weights:1: weight of LM0 is not finite"),
        ("LM0\n", 'weights:1: expected "Name value"'),
        ("LM7 1\n", "weights: no feature 'LM7', but LM0, LM0_OOV, "),
    ],
)
def test_bad_weights(parts: list[object], tmp_path: Path, weights: str, message: str) -> None:
    (tmp_path / "weights").write_text(weights)
    assert message in one_error_line(decode(parts, "--weights", tmp_path / "weights", stdin="le\n"))


def test_bad_files(parts: list[object], french: Path, tmp_path: Path) -> None:
    def complaint(*args: object) -> str:
        return one_error_line(call("hiero-decode", *args, "--quiet", stdin="le\n"))

    grammar = Path(str(parts[1]))
    assert "No such file" in complaint("--grammar", tmp_path / "missing.hrt")
    assert "No such file" in complaint("--grammar", grammar, "--lm", tmp_path / "missing.arpa")
    assert "Is a directory" in complaint("--grammar", tmp_path)
    data = bytearray(grammar.read_bytes())
    (tmp_path / "cut.hrt").write_bytes(data[:-10])
    assert "damaged rule table" in complaint("--grammar", tmp_path / "cut.hrt")
    version = bytearray(data)
    version[8] += 1
    (tmp_path / "version.hrt").write_bytes(version)
    assert "pack the text grammar again" in complaint("--grammar", tmp_path / "version.hrt")
    data[len(data) // 2] ^= 4
    (tmp_path / "flip.hrt").write_bytes(data)
    assert "wrong checksum of block" in complaint("--grammar", tmp_path / "flip.hrt")
    assert "wrong checksum" in one_error_line(call("hiero", "check", tmp_path / "flip.hrt"))
    (tmp_path / "bad.txt").write_text("[X] ||| le\n")
    assert 'bad.txt:1: expected 4 fields separated by "|||", found 2' in complaint(
        "--grammar", tmp_path / "bad.txt"
    )
    (tmp_path / "bad.arpa").write_text("this is no language model\n")
    assert "not a usable language model" in complaint("--grammar", grammar, "--lm", tmp_path / "bad.arpa")
    (tmp_path / "cut.gz").write_bytes(gzip.compress((french / "grammar.txt").read_bytes())[:-20])
    assert "cut.gz: damaged or truncated" in complaint("--grammar", tmp_path / "cut.gz")


def test_usage_errors(parts: list[object]) -> None:
    assert call("hiero-decode").returncode == 2
    assert decode(parts, "--nbest", 0).returncode == 2
    assert decode(parts, "--set-weight", "LM0").returncode == 2
    unknown = decode(parts, "--set-weight", "Nothing=1")
    assert unknown.returncode == 2 and b"no feature 'Nothing', but LM0" in unknown.stderr
    assert decode(parts, "--output-format", "nbest").returncode == 2


def test_pack_unpack_rules(french: Path, tmp_path: Path) -> None:
    packed = tmp_path / "g.hrt"
    assert call("hiero", "pack", french / "grammar.txt", "-o", packed, "--owner", "demo").returncode == 0
    assert call("hiero", "unpack", packed, "-o", tmp_path / "g.txt.gz").returncode == 0
    with gzip.open(tmp_path / "g.txt.gz", "rt") as file:
        assert sorted(file.read().splitlines()) == sorted((french / "grammar.txt").read_text().splitlines())
    listed = call("hiero", "rules", packed, "--source", "elle").stdout.decode()
    assert [line.split(" ||| ")[2] for line in listed.splitlines()] == ["she", "it"]
    assert "Invalid argument" in one_error_line(
        call("hiero", "pack", french / "grammar.txt", "-o", "/dev/null")
    )


@pytest.mark.parametrize("size", ["0", "-1", "4X", "99999999999G"])
def test_sizes_out_of_range_are_usage_errors(size: str, french: Path, tmp_path: Path) -> None:
    done = call("hiero", "pack", french / "grammar.txt", "-o", tmp_path / "g.hrt", "--memory", size)
    assert done.returncode == 2
    assert b"expected a size such as 64M or 4G" in done.stderr


def test_a_full_disk_leaves_nothing_behind(french: Path, tmp_path: Path) -> None:
    (tmp_path / "g.hrt").write_text("the old one")
    command = f"ulimit -f 1; {BIN}/hiero pack {french}/grammar.txt -o {tmp_path}/g.hrt"
    done = subprocess.run(["bash", "-c", command], capture_output=True)
    assert "g.hrt: File too large" in one_error_line(done)
    assert [file.name for file in tmp_path.iterdir()] == ["g.hrt"]
    assert (tmp_path / "g.hrt").read_text() == "the old one"


@pytest.mark.parametrize("ending", ["interrupt", "closed", "full"])
def test_it_can_end_while_it_waits_for_a_line(parts: list[object], ending: str) -> None:
    """A thread waits for standard input then, which nothing may wait for."""
    command = [str(BIN / "hiero-decode"), *map(str, parts), "--quiet"]
    if ending == "full":
        command += ["--output", "/dev/full"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        process.stdin.write(b"le chat\n")
        process.stdin.flush()
        if ending != "full":
            assert process.stdout.readline() == b"the cat\n"
        if ending == "interrupt":
            process.send_signal(signal.SIGINT)
        elif ending == "closed":
            process.stdout.close()
            process.stdin.write(b"le chat\n")
            process.stdin.flush()
        error = process.stderr.read().decode()  # until it has ended: its input is still open
        # Of a closed pipe it dies as other programs do.
        assert process.wait(20) == {"interrupt": 130, "closed": -signal.SIGPIPE, "full": 1}[ending]
        assert error.count("\n") == (ending != "closed") and "Fatal" not in error


def test_interrupted_output_does_not_crash(parts: list[object]) -> None:
    command = f"yes 'le chat' | head -2000 | {BIN}/hiero-decode {' '.join(map(str, parts))} | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, timeout=120, env=dict(os.environ))
    assert (done.stdout, done.stderr) == (b"the cat\n", b"")


def test_forests_in_files(parts: list[object], french: Path, tmp_path: Path) -> None:
    archive, weights = tmp_path / "all.forests", french / "weights.txt"
    lines = [*(french / "input.fr").read_text().splitlines()[:5], "", "\udcff", "le chat"]
    data = "\n".join(lines).encode("utf-8", "surrogateescape")
    options = ["--nbest", 3, "--output-format", "nbest", "--forests", archive]
    done = decode(parts, *options, stdin=data)
    assert done.returncode == 1 and b"input:7: invalid UTF-8" in done.stderr
    listed = call("hiero", "forest", "kbest", archive, "--weights", weights, "-k", 3)
    assert listed.stdout.splitlines() == [
        line for line in done.stdout.splitlines() if b"|||  |||" not in line
    ]
    # The archive knows its weights.
    assert call("hiero", "forest", "kbest", archive, "-k", 3).stdout == listed.stdout
    shown = ("hiero", "forest", "show", archive, "--sentence", 0)
    assert call(*shown).stdout == call(*shown, "--weights", weights).stdout
    with ForestFile(archive) as forests:
        assert forests.weights == read_weights(weights)
    stats = [json.loads(line) for line in call("hiero", "forest", "stats", archive).stdout.splitlines()]
    assert [line["id"] for line in stats] == list(range(8))
    assert stats[0]["words"] == len(lines[0].split()) and stats[0]["log10_derivations"] > 0
    assert stats[5]["edges"] == stats[6]["edges"] == 0 and stats[6]["log10_derivations"] is None
    with ForestFile(archive) as forests:
        assert list(forests.about["tables"]) == ["pt"] and forests[7].source == ["le", "chat"]
    (tmp_path / "bad").write_bytes(archive.read_bytes()[:-50])
    assert "bad: not a file of forests" in one_error_line(call("hiero", "forest", "stats", tmp_path / "bad"))
    assert "No such file" in one_error_line(call("hiero", "forest", "stats", tmp_path / "none"))


def test_oracles_of_forests(parts: list[object], french: Path, tmp_path: Path) -> None:
    archive, weights = tmp_path / "all.forests", french / "weights.txt"
    lines = (french / "input.fr").read_text().splitlines()[:4]
    assert decode(parts, "--forests", archive, stdin="\n".join(lines)).returncode == 0
    reference, second = tmp_path / "ref0", tmp_path / "ref1"
    reference.write_text("i understand nothing at all .\nthe black dog does not eat .\nhe sleeps\nyes .\n")
    second.write_text("\n\nhe is asleep\n\n")
    command = ["hiero", "forest", "oracle", archive, "--weights", weights, "--references", reference, second]
    done = call(*command, "--plot", tmp_path / "p.png", "--sentence", 1)
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.decode().splitlines()]
    assert [row[1] for row in rows] == ["0", "0.5", "1", "inf"]
    scores = [float(row[5]) for row in rows[:3]]
    assert scores == sorted(scores)
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")
    assert len(call(*command, "--mu", 0.5, 1).stdout.splitlines()) == 2
    assert "no forest with derivations for sentence 9" in one_error_line(
        call(*command, "--plot", tmp_path / "q.png", "--sentence", 9)
    )
    reference.write_text("a\n\nb\nc\n")
    assert "ref0:2: no reference" in one_error_line(call(*command))
    for text in ("a\nb\nc\n", "a\nb\nc\nd\ne\n"):
        reference.write_text(text)
        message = f"ref0: {len(text) // 2} lines for the 4 forests of {archive}"
        assert message in one_error_line(call(*command))
    (tmp_path / "weights").write_text("PhraseEF 1\nPhaseEF 1\n")
    listed = call("hiero", "forest", "kbest", archive, "--weights", tmp_path / "weights")
    assert "no such feature: PhaseEF (features: " in one_error_line(listed)


def test_alignment_as_output(parts: list[object]) -> None:
    lines = "le chat noir\n\nil ne marche pas\n"
    done = decode(parts, "--output-format", "alignment", stdin=lines)
    records = decode(parts, "--output-format", "jsonl", stdin=lines).stdout.splitlines()
    expected = [" ".join(f"{s}-{t}" for s, t in json.loads(line)["alignment"]) for line in records]
    assert done.returncode == 0 and done.stdout.decode().splitlines() == expected
    assert expected[0] == "0-0 1-2 2-1" and expected[1] == ""
    assert decode(parts, "--output-format", "alignment", "--nbest", 2, stdin=lines).returncode == 2
