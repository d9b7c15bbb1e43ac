"""`hiero eval` and NIST's sets through `hiero-decode`, as programs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import sacrebleu

from hiero.evaluate import Bleu, Runs, Text, approximate_randomization, confidence_interval, paired_bootstrap
from hiero.evaluate.nist_xml import parse_sets, write_tstset
from support.commands import call, one_error_line, program
from support.nist_sets import SGML, SOURCE

REFERENCES = ["the cat sleeps on the mat", "it rains", "nobody came to the party"]
OTHERS = ["a cat sleeps on the mat", "", "no one came to the party"]
SYSTEM = ["the cat sleeps on a mat", "it rains", "nobody came to the party ."]


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    texts = {"r0": REFERENCES, "r1": OTHERS, "good": REFERENCES, "system": SYSTEM, "bad": ["x", "y", "z"]}
    for name, lines in texts.items():
        (tmp_path / name).write_text("".join(line + "\n" for line in lines))
    return {name: tmp_path / name for name in texts}


def evaluate(*args: object, stdin: str = "") -> str:
    done = call("hiero", "eval", *args, stdin=stdin)
    assert (done.returncode, done.stderr) == (0, b""), done
    return done.stdout.decode()


def test_score_and_signature(files: dict[str, Path]) -> None:
    references = ("--references", files["r0"], files["r1"])
    theirs = sacrebleu.BLEU(tokenize="none", force=True).corpus_score(
        SYSTEM, [REFERENCES, [line or None for line in OTHERS]]
    )
    score, interval, signature = evaluate("--hypothesis", files["system"], *references).splitlines()
    assert score.startswith(f"BLEU = {theirs.score:.4f} ") and str(theirs).split(" = ", 1)[1][5:] in score
    settings = "nrefs:var|length:closest|case:mixed|tok:none|eff:no|smooth:exp|samples:1000|seed:1"
    assert signature == f"BLEU|{settings}|hiero:0.1.0"
    assert re.fullmatch(r"95 % of samples: \d+\.\d\d to \d+\.\d\d; higher is better", interval)
    piped = evaluate("--quiet", *references, stdin=files["system"].read_text())
    assert piped == f"{theirs.score:.4f}\n"
    several = evaluate(
        "--hypothesis", files["system"], *references, "--metric", "nist", "bleu", "ter", "chrf", "chrf++"
    )
    names = [line.split(" = ")[0] for line in several.splitlines()[::3]]
    assert names == ["NIST", "BLEU", "TER", "chrF", "chrF++"]
    better = [line.split("; ")[1].split()[0] for line in several.splitlines()[1::3]]
    assert better == ["higher", "higher", "lower", "higher", "higher"]
    options = ("--effective-length", "average", "--tokenize", "13a", "--lowercase")
    signature = evaluate(f"--hypothesis={files['system']}", *references, *options)
    assert f"length:average|case:lc|tok:13a|sacrebleu:{sacrebleu.__version__}|" in signature
    joined = evaluate(f"--references={files['r0']}", files["r1"], "--quiet", "--hypothesis", files["system"])
    assert joined == piped


def test_segments_and_documents(files: dict[str, Path], tmp_path: Path) -> None:
    lines = evaluate(
        "--hypothesis", files["system"], "--references", files["r0"], "--by", "segment", "--quiet"
    )
    segments = dict(line.split("\t")[1:] for line in lines.splitlines()[1:])
    assert segments["segment 1"] == "100.0000"
    assert list(segments) == ["segment 0", "segment 1", "segment 2"]
    named = ("--hypothesis", files["system"], "--references", files["r0"], "--by", "segment")
    assert (
        "|eff:no|smooth:exp|samples:1000|seed:1|hiero:0.1.0|segments:eff:yes"
        in evaluate(*named).splitlines()[-1]
    )
    (tmp_path / "r.sgm").write_text(SGML)
    (segments_of,) = {found.name: found for found in parse_sets(SGML.encode(), "r")}.values()
    texts = ["the cat", "AT&T café a < b", "z"]
    (tmp_path / "t").write_text(write_tstset(segments_of, texts, "English", "us"))
    arguments = ("--hypothesis", tmp_path / "t", "--references", tmp_path / "r.sgm", "--by", "document")
    rows = evaluate(*arguments, "--metric", "ter").splitlines()
    assert rows[2:4] == ["TER\td1\t0.0000", "TER\td2\t100.0000"]
    done = call(
        "hiero", "eval", "--hypothesis", files["bad"], "--references", files["r0"], "--by", "document"
    )
    assert "text has no documents" in one_error_line(done, 1) and done.stdout == b""
    piped = evaluate(*arguments[2:], "--metric", "ter", stdin=(tmp_path / "t").read_text())
    assert piped.splitlines() == rows
    several = ("--hypothesis", files["good"], "--references", files["r0"], "--by", "segment")
    assert call("hiero", "eval", *several, "--compare", files["bad"]).returncode == 2


def test_comparison(files: dict[str, Path]) -> None:
    runs = f"{files['system']},{files['good']}"
    arguments = ("--hypothesis", files["bad"], "--references", files["r0"])
    table = evaluate(*arguments, "--compare", files["system"], runs, "--samples", 200).splitlines()
    heads = "system BLEU (higher is better) 95 % runs difference p bootstrap p randomisation"
    assert " ".join(table[0].split()) == heads
    one = sacrebleu.BLEU(tokenize="none", force=True).corpus_score(SYSTEM, [REFERENCES]).score
    assert table[1].split() == [str(files["bad"]), "0.00", "0.00", "to", "0.00", "1"]
    cells = table[2].split()
    assert [cells[0], cells[1], cells[5]] == [str(files["system"]), f"{one:.2f}", "1"]
    assert 0 <= float(cells[2]) < one < float(cells[4]) <= 100
    name, mean, _, deviation, low, _, high, count, difference, bootstrap, randomisation = table[3].split()
    assert float(low) < float(mean) < float(high)
    assert (name, mean, deviation, count, difference) == (
        runs,
        f"{(one + 100) / 2:.2f}",
        f"{(100 - one) / 2**0.5:.2f}",
        "2",
        f"+{(one + 100) / 2:.2f}",
    )
    assert 0 < float(bootstrap) < 0.1 and 0 < float(randomisation) <= 1
    assert "|samples:200|seed:1|" in table[4] and len(table) == 5
    assert table == evaluate(*arguments, "--compare", files["system"], runs, "--samples", 200).splitlines()


def test_json(files: dict[str, Path]) -> None:
    arguments = ("--hypothesis", files["bad"], "--references", files["r0"], "--metric", "bleu", "ter")
    compared = ("--compare", files["system"], "--samples", 200, "--output-format", "json")
    bleu, ter = json.loads(evaluate(*arguments, *compared))
    assert (bleu["metric"], bleu["better"], ter["metric"], ter["better"]) == (
        "BLEU",
        "higher",
        "TER",
        "lower",
    )
    bad, system = bleu["systems"]
    table = evaluate(*arguments[:4], "--compare", files["system"], "--samples", 200).splitlines()
    cells = table[2].split()
    assert [system["name"], f"{system['score']:.2f}", system["runs"]] == [*cells[:2], 1]
    assert [f"{value:.2f}" for value in system["interval"]] == [cells[2], cells[4]]
    tests = (system["difference"], system["p_bootstrap"], system["p_randomisation"])
    assert f"{tests[0]:+.2f} {tests[1]:.4f} {tests[2]:.4f}" == " ".join(cells[6:])
    assert bad["difference"] is None and bleu["signature"] == table[3] and bleu["parts"] == []
    one = ("--hypothesis", files["system"], "--references", files["r0"], "--output-format", "json")
    (alone,) = json.loads(evaluate(*one, "--by", "segment"))
    assert [name for name, _ in alone["parts"]] == ["segment 0", "segment 1", "segment 2"]
    assert alone["details"].startswith("100.0/") or "BP = " in alone["details"]


def test_intervals_and_tests_are_of_the_seed_and_the_samples(files: dict[str, Path]) -> None:
    """Intervals and tests are the library's, with the seed and the number of samples."""
    arguments = ("--hypothesis", files["bad"], "--references", files["r0"], files["r1"], "--seed", 2)
    more = ("--effective-length", "shortest", "--lowercase", "--compare", files["system"])
    ((result,),) = [json.loads(evaluate(*arguments, *more, "--samples", 60, "--output-format", "json"))]
    references = [[one, other] for one, other in zip(REFERENCES, OTHERS, strict=True)]
    metric = Bleu(references, Text("none", lowercase=True), "shortest")
    bad, system = (Runs.of(metric, [metric.statistics(lines)]) for lines in (["x", "y", "z"], SYSTEM))
    expected = [
        paired_bootstrap(metric, bad, system, 60, 2),
        approximate_randomization(metric, bad, system, 60, 2),
        list(confidence_interval(metric, system, 60, 2)),
    ]
    found = result["systems"][1]
    assert [found["p_bootstrap"], found["p_randomisation"], found["interval"]] == expected
    assert result["systems"][0]["interval"] == list(confidence_interval(metric, bad, 60, 2))
    assert result["signature"].startswith(f"{metric.signature}|samples:60|seed:2|")
    usual = [
        paired_bootstrap(metric, bad, system, 60, 1),
        approximate_randomization(metric, bad, system, 60, 1),
    ]
    assert all(one != other for one, other in zip(usual, expected, strict=False)), "seeds that differ"


def test_names_of_systems(files: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "a,b").write_bytes(files["system"].read_bytes())
    arguments = ("--references", files["r0"], "--samples", 10)
    one = ("--hypothesis", files["bad"], "--compare")
    rows = program("hiero", "eval", *arguments, *one, tmp_path / "a,b", "-", files["good"], stdin="x\n" * 3)
    assert rows.returncode == 0, rows.stderr
    names = [line.split()[0] for line in rows.stdout.decode().splitlines()[1:5]]
    assert names == [str(files["bad"]), str(tmp_path / "a,b"), "-", str(files["good"])]


def test_references_that_are_given_twice(files: dict[str, Path]) -> None:
    references = ("--references", files["r0"], files["r0"])
    done = call("hiero", "eval", "--hypothesis", files["good"], *references)
    assert (done.returncode, done.stderr.decode()) == (0, f"hiero: warning: {files['r0']}: is given twice\n")


def test_bad_input(files: dict[str, Path], tmp_path: Path) -> None:
    def error(*args: object, code: int = 1) -> str:
        return one_error_line(call("hiero", "eval", *args), code)

    assert "none: No such file" in error("--hypothesis", tmp_path / "none", "--references", files["r0"])
    (tmp_path / "short").write_text("a\n")
    assert "short: 1 segments, expected 3" in error(
        "--hypothesis", tmp_path / "short", "--references", files["r0"]
    )
    assert "r1:2: all references are empty" in error(
        "--hypothesis", files["bad"], "--references", files["r1"]
    )
    assert "short: 1 segments, expected 3" in error("--references", files["r0"], tmp_path / "short")
    (tmp_path / "tags").write_text("a\nb\n<skipped>\n")
    assert "tags:3: no reference has a token" in error(
        "--hypothesis", files["bad"], "--references", tmp_path / "tags", "--tokenize", "13a"
    )
    twice = ("--hypothesis", "-", "--references", files["r0"], "--compare", "-")
    assert "standard input holds one output" in call("hiero", "eval", *twice).stderr.decode()
    (tmp_path / "out.xml").write_text("<mteval/>")
    message = error("--hypothesis", tmp_path / "out.xml", "--references", files["r0"])
    assert message.endswith("out.xml: in XML or SGML, where references are text: their order may differ\n")
    pair = f"{files['bad']},{files['bad']}"
    triple = f"{pair},{files['bad']}"
    message = error("--hypothesis", pair, "--references", files["r0"], "--compare", triple)
    assert "2 runs cannot be paired with 3" in message
    assert call("hiero", "eval").returncode == 2
    (tmp_path / "empty").write_text("")
    for metric in ("bleu", "nist", "chrf", "ter"):
        nothing = ("--hypothesis", tmp_path / "empty", "--references", tmp_path / "empty", "--metric", metric)
        assert "empty: no segments" in error(*nothing)


def test_decoding_a_source_set(parts: list[object], tmp_path: Path) -> None:
    text = SOURCE.replace("le chat", "le chat noir dort").replace(">x<", "><")
    (tmp_path / "s.xml").write_text(text)
    output = tmp_path / "t.xml"
    done = call(
        "hiero-decode", *parts, "--input-format", "nist", "--input", tmp_path / "s.xml", "--output", output
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    (found,) = parse_sets(output.read_bytes(), "t.xml")
    assert (found.kind, found.name, found.system) == ("tstset", "demo", "hiero")
    assert found.attributes["srclang"] == "French" and found.attributes["trglang"] == "und"
    plain = call("hiero-decode", *parts, stdin="le chat noir dort\nAT&T <s> é\n\n").stdout.decode()
    assert [translation for _, _, translation in found] == plain.splitlines()
    piped = program("hiero-decode", *parts, "--input-format", "nist", stdin=text)
    assert piped.stdout == output.read_bytes()
    named = ("--system", "us", "--target-language", "English")
    named_set = call("hiero-decode", *parts, "--input-format", "nist", *named, stdin=text).stdout
    (other,) = parse_sets(named_set, "t")
    assert (other.system, other.attributes["trglang"]) == ("us", "English")
    (tmp_path / "r.sgm").write_text(SGML)
    assert evaluate("--hypothesis", output, "--references", tmp_path / "r.sgm", "--quiet")

    def error(text: str, *args: object) -> str:
        return one_error_line(call("hiero-decode", *parts, "--input-format", "nist", *args, stdin=text))

    assert "input: 0 srcsets, expected one" in error(SGML)
    assert "input:5: document 'd1': segment 1 is there twice" in error(text.replace('"2"', '"1"'))
    before = output.read_bytes()
    assert "srcsets, expected one" in error(SGML, "--output", output)
    assert output.read_bytes() == before and not list(tmp_path.glob(".*"))
    failed = call("hiero-decode", *parts, "--input-format", "nist", "--pass-through", "none", stdin=text)
    assert failed.returncode == 1
    assert failed.stderr.decode() == "input: document 'd1': segment 2: no derivation covers the sentence\n"
    assert [t for _, _, t in parse_sets(failed.stdout, "t")[0]][1:] == ["", ""]
    usage = call("hiero-decode", *parts, "--input-format", "nist", "--output-format", "jsonl", stdin=text)
    assert usage.returncode == 2


def test_text_that_looks_raw_is_said_to(tmp_path: Path) -> None:
    (tmp_path / "raw").write_text("It is here.\nIs it?\n")
    (tmp_path / "tokens").write_text("it is here .\nis it ?\n")

    def said(name: str, *options: str) -> str:
        files = ("--references", tmp_path / name, "--hypothesis", tmp_path / name)
        done = call("hiero", "eval", *files, *options)
        assert done.returncode == 0 and done.stdout
        return done.stderr.decode()

    assert said("raw").startswith("hiero: translations look like raw text: BLEU and NIST count words")
    assert said("raw", "--tokenize", "13a") == said("raw", "--metric", "chrf") == said("tokens") == ""
