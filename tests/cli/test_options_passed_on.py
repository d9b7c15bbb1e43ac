"""Arguments that commands pass to the functions that do their work: every option arrives where it should."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import hiero
from hiero.cli import align, analyse, rerank, train, tune
from hiero.cli.io.tuned import Tuned, write_tuned
from hiero.evaluate import Bleu, Ter
from hiero.features import DistortionStatistics
from hiero.tune import Mix
from hiero.tune.analysis import Analysis
from hiero.tune.run.results import Iteration, TuneResult
from support.commands import call, handed
from support.files import write
from support.paths import FRENCH

WEIGHTS = {"LM0": 2.0, "WordPenalty": -0.5}
DOG = "(S (X le) (Y chien) (X dort))"


def read(decoder: Any) -> list[tuple[str, str]]:
    """The sentences of a set, with their parses."""
    return [(" ".join(sentence.tokens), str(sentence.parse)) for sentence in decoder._sentences]


def tuning(files: Path, *more: object) -> tuple[object, ...]:
    sets = (
        "--source",
        files / "dev.fr",
        "--references",
        files / "dev.en",
        files / "dev.en1",
    )
    return ("tune", files / "model", *sets, "-o", files / "tuned", "--tokens", *more)


def test_tune(files: Path) -> None:
    found = handed(
        *(tune, "tune"),
        *tuning(files, "--method", "mert", "-k", 7, "--seed", 5, "--threads", 2, "--restarts", 1),
        *(
            "--fix",
            "Glue",
            "--bound",
            "LM0=0:3",
            "--bound",
            "WordPenalty=:1",
            "--weights",
            files / "weights",
        ),
        *(
            "--start-scale",
            0.5,
            "--pop-limit",
            9,
            "--metric",
            "bleu=2",
            "ter",
            "--effective-length",
            "shortest",
        ),
        *("--held-out-source", files / "out.fr", "--held-out-references", files / "out.en"),
        *("--parses", files / "dev.trees", "--held-out-parses", files / "out.trees"),
    )
    options = found["options"]
    assert (options.method, options.seed, options.settings.k, options.settings.restarts) == ("mert", 5, 7, 1)
    assert options.fixed == ("Glue",)
    assert options.bounds == {"LM0": (0.0, 3.0), "WordPenalty": (-float("inf"), 1.0)}
    model = hiero.Model.load(files / "model")
    expected = {name: model.weights.get(name, 0.0) / 2 for name in model.feature_names}
    assert found["start"] == {**expected, "LM0": 1.0, "WordPenalty": -0.25}
    assert (found["directory"], found["threads"]) == (files / "tuned", 2)
    settings = hiero.Decoder(model, pop_limit=9).settings
    searched = settings.model_dump(mode="json", exclude={"confidence_temperature"})
    assert found["origin"]["decoding"] == searched
    references = [["the cat", "a cat"], ["the dog sleeps", "a dog sleeps now"]]
    parts = [(2.0, Bleu(references, effective_length="shortest")), (1.0, Ter(references))]
    assert found["metric"].signature == Mix(parts).signature
    assert found["metric"].checksum == Mix(parts).checksum
    held_out = found["held_out"]
    other = Mix([(2.0, Bleu([["the house ."]], effective_length="shortest")), (1.0, Ter([["the house ."]]))])
    assert (held_out.metric.signature, held_out.metric.checksum) == (other.signature, other.checksum)
    assert read(found["decoder"]) == [("le chat", "(S (X le) (X chat))"), ("le chien dort", DOG)]
    assert read(held_out.decoder) == [("la maison", "(T (X la) (Z maison))")]
    # What fails is told of by the file that it is in.
    places = [each._failed.args for each in (found["decoder"], held_out.decoder)]
    assert places == [(files / "dev.fr",), (files / "out.fr",)]


def test_tuning_has_an_eighth_of_the_pop_limit(files: Path, tmp_path: Path) -> None:
    model = hiero.Model.load(files / "model")
    for own, expected in ((100, 13), (7, 1), (1, 1), (0, 0)):
        folder = tmp_path / str(own)
        model.with_settings(pop_limit=own).save(folder)
        command = [folder if word == files / "model" else word for word in tuning(files, "--method", "pro")]
        assert handed(tune, "tune", *command)["origin"]["decoding"]["pop_limit"] == expected


def test_what_another_run_of_tuning_is(files: Path) -> None:
    """A run knows by its origin whether it is the same."""

    def origin(*more: object) -> dict[str, Any]:
        return dict(handed(tune, "tune", *tuning(files, "--method", "pro", *more))["origin"])

    plain = origin()
    assert plain == origin("--seed", 2) == origin("--weights", files / "weights")
    held_out = (
        "--held-out-source",
        files / "out.fr",
        "--held-out-references",
        files / "out.en",
    )
    (files / "dev.en2").write_text((files / "dev.en").read_text().upper())
    for more, names in (
        (("--pop-limit", 3), {"decoding"}),
        (held_out, {"sets"}),
        (("--parses", files / "dev.trees"), {"sets"}),
        (("--references", files / "dev.en2"), {"sets"}),
    ):
        other = origin(*more)
        assert {name for name in plain if plain[name] != other[name]} == names, more
    manifest = files / "model" / "manifest.json"
    kept = manifest.read_text()
    record = json.loads(kept)
    next(iter(record["files"].values()))["size"] = 1
    manifest.write_text(json.dumps(record))
    fingerprint = tune.model_fingerprint(files / "model")
    manifest.write_text(kept)
    assert plain["model"] == tune.model_fingerprint(files / "model") != fingerprint


def test_tuning_on_spans(files: Path) -> None:
    spans = (
        "--search-aware",
        "partial-span",
        "--alignments",
        files / "links",
        files / "links",
    )
    found = handed(tune, "tune", *tuning(files, "--method", "mert", *spans, "--effective-length", "average"))
    assert found["metric"].signature == Bleu([["a", "b"]], effective_length="average").signature
    assert found["options"].settings.search_aware == "partial-span"


def test_the_best_of_several_runs_is_saved(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The saved model has the scores of the best run, before and after; each run has another seed."""
    seeds = []

    def tuned(decoder: Any, metric: Any, start: Any, directory: Path, options: Any, **_: Any) -> TuneResult:
        seeds.append((directory.name, options.seed))
        score = {5: 10.0, 6: 30.0, 7: 20.0}[options.seed]
        made = [({**start, "LM0": score + i}, score + i) for i in range(2)]
        return TuneResult([Iteration(weights, each, None, 1, 1) for weights, each in made], 1, "enough")

    monkeypatch.setattr(tune, "tune", tuned)
    monkeypatch.setattr(tune, "plot_runs", lambda *_: None)
    more = (
        "--method",
        "mert",
        "--runs",
        3,
        "--seed",
        5,
        "--save",
        tmp_path / "saved",
        "-o",
        tmp_path / "out",
    )
    done = call("hiero", *tuning(files, *more))
    assert done.returncode == 0, done
    assert seeds == [("run-1", 5), ("run-2", 6), ("run-3", 7)]
    assert hiero.Model.load(tmp_path / "saved").weights["LM0"] == 31
    origin = json.loads((tmp_path / "saved" / "manifest.json").read_text())["made_from"]["weights"]
    assert (origin["before"], origin["score"], origin["sentences"]) == (30.0, 31.0, 2)
    assert (origin["source"], origin["references"]) == ("dev.fr", ["dev.en", "dev.en1"])
    assert done.stdout.decode().splitlines()[-2] == "mean 21.00, deviation 10.00; weights of run-2"


BITEXT = ("--source", "s", "--target", "t")


def test_train() -> None:
    found = handed(
        *(
            train,
            "train_model",
            "train",
            *BITEXT,
            "-o",
            "model",
            "--dictionary",
            "ds",
            "dt",
            "--mono",
            "m1",
            "m2",
        ),
        *("--lm", "lm", "--alignment", "links", "--tokenize", "de:moses", "en:moses", "--lowercase"),
        *("--memory", "512M", "--seed", 4, "--heuristic", "union", "--max-length", 50, "--max-ratio", 3),
        *(
            "--lms",
            "together",
            "--lm-order",
            3,
            "--lm-type",
            "trie",
            "--lm-quantize",
            8,
            "--discount",
            "absolute",
        ),
    )
    inputs, settings = found["inputs"], found["settings"]
    paths = (inputs.source, inputs.target, *inputs.dictionary, *inputs.mono, inputs.alignment, *inputs.lms)
    assert list(map(str, paths)) == ["s", "t", "ds", "dt", "m1", "m2", "links", "lm"]
    assert found["memory"] == 512 << 20 and found["output"] == Path("model")
    assert (settings.seed, settings.heuristic, settings.max_length, settings.max_ratio) == (4, "union", 50, 3)
    assert (settings.lms, settings.lm_order, settings.lm_binary, settings.lm_quantize) == (
        "together",
        3,
        "trie",
        8,
    )
    assert settings.score.discount == "absolute"
    sides = [
        (side.scheme, side.language, side.lowercase) for side in (settings.text.source, settings.text.target)
    ]
    assert sides == [("moses", "de", True), ("moses", "en", True)]


def test_quiet_training_still_warns(capsys: pytest.CaptureFixture[str]) -> None:
    for quiet, expected in ((True, "hiero: warning: b\n"), (False, "hiero: a\nhiero: warning: b\n")):
        for line in ("a", "warning: b"):
            train.reporter(quiet)(line)
        assert capsys.readouterr() == ("", expected)


def test_single_steps_of_training(files: Path, tmp_path: Path) -> None:
    held_out = ("--held-out", "s1", "t1", "o1", "--held-out", "s2", "t2", "o2")
    found = handed(
        *(align, "align", "align", *BITEXT, "-o", "o", *held_out, "--seed", 3, "--heuristic", "union"),
        *("--threads", 3, "--probabilities", "p", "--save", "m"),
    )
    assert (str(found["probabilities"]), str(found["save"])) == ("p", "m")
    assert [tuple(map(str, pair)) for pair in found["bitexts"]] == [("s", "t"), ("s1", "t1"), ("s2", "t2")]
    assert list(map(str, found["outputs"])) == ["o", "o1", "o2"]
    assert (found["seed"], found["heuristic"], found["threads"]) == (3, "union", 3)

    text = ("--tokenize", "de:moses", "en:moses")
    truecasers = [write(tmp_path / f"case{k}", ["Wort (1/1)"]) for k in range(2)]
    more = ("--max-length", 9, "--max-ratio", 2, *text, "--truecaser", *truecasers)
    write(tmp_path / "s", ["Wort"])
    source = ("--source", tmp_path / "s", "--target", tmp_path / "s")
    found = handed(train, "prepare_corpus", "corpus", *source, "-o", "o1", "o2", *more)
    assert (found["max_length"], found["max_ratio"]) == (9, 2)
    sides = found["text"].source, found["text"].target
    assert [(side.language, Path(side.truecaser)) for side in sides] == [
        ("de", truecasers[0]),
        ("en", truecasers[1]),
    ]

    found = handed(
        train,
        "extract_rules",
        "extract",
        *source,
        "--alignment",
        "a",
        "-o",
        "o",
        "--memory",
        "64M",
        "--max-phrase",
        4,
        "--threads",
        5,
    )
    assert (found["memory"], found["settings"].max_phrase, str(found["alignment"])) == (64 << 20, 4, "a")
    assert found["threads"] == 5
    found = handed(
        train, "score_rules", "score", "counts", "-o", "o", "--significance", 3, "--corpus", "s", "t"
    )
    assert tuple(map(str, found["bitext"])) == ("s", "t") and found["settings"].significance == 3


def test_assemble(files: Path, tmp_path: Path) -> None:
    parts = ("--grammar", FRENCH / "grammar.txt", "--lm", FRENCH / "lm.arpa", "-o", tmp_path / "model")
    bitext = ("--corpus", files / "dev.fr", files / "dev.en", "--seed", 6)
    found = handed(train, "weights_by_length", "assemble", *parts, *bitext)
    assert found["seed"] == 6
    assert list(found["corpus"]) == [("le chat", "the cat"), ("le chien dort", "the dog sleeps")]
    counts = DistortionStatistics(range(10), [3] * 10)
    counts.save(tmp_path / "counts")
    done = call(
        *("hiero", "assemble", *parts, "--weights", files / "weights", "--span-limit", 7),
        *("--copy-label", "X", "--glue-label", "X", "--tokenize", "fr:moses", "en:moses"),
        *("--distortion", tmp_path / "counts"),
    )
    assert done.returncode == 0, done
    model = hiero.Model.load(tmp_path / "model")
    assert model.weights == WEIGHTS and model.settings.span_limit == 7
    assert (model.copy_labels, model.glue_labels) == (("X",), ("X",))
    assert model.distortion == DistortionStatistics.load(tmp_path / "counts")
    assert (model.text.source.language, model.text.target.language) == ("fr", "en")


def test_train_reranker(files: Path) -> None:
    found = handed(
        *(rerank, "train_second_stage", "train-reranker", "model", *BITEXT, "-o", "out"),
        *("--dictionary", "ds", "dt", "--mono", "m", "--alignment", "links", "--parses", "trees"),
        *(
            "--weights",
            files / "weights",
            "--folds",
            3,
            "--seed",
            8,
            "--pop-limit",
            11,
            "--memory",
            "1G",
        ),
        *("--threads", 2),
    )
    inputs = found["inputs"]
    paths = (inputs.source, inputs.target, *inputs.dictionary, *inputs.mono, inputs.alignment)
    assert list(map(str, paths)) == ["s", "t", "ds", "dt", "m", "links"]
    assert found["weights"] == WEIGHTS and dict(found["decoding"]) == {"pop_limit": 11}
    assert (found["options"].folds, found["options"].seed) == (3, 8)
    assert (str(found["parses"]), found["memory"], found["threads"]) == ("trees", 1 << 30, 2)


def tuned_weights(folder: Path, span_limit: int) -> Path:
    """Makes a directory of tuned weights, as hiero tune leaves it."""
    folder.mkdir()
    write(folder / "weights.txt", [f"{name} {weight}" for name, weight in WEIGHTS.items()])
    about = {"method": "mert", "metric": "BLEU", "score": 1.0, "before": 0.0, "held_out": False}
    record = Tuned(**about, sentences=1, source="s", references=["r"], span_limit=span_limit)
    write_tuned(folder, record)
    return folder


def test_tuned_weights_bring_their_span_limit(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The span limit of tuned weights is that of decoding, unless an option says another."""
    tuned = [tuned_weights(tmp_path / str(limit), limit) for limit in (3, 4)]
    train = (rerank, "train_second_stage", "train-reranker", "model", *BITEXT, "-o", "out")
    for weights in (tuned[0], tuned[0] / "weights.txt"):
        found = handed(*train, "--weights", weights, "--pop-limit", 9)
        assert (found["weights"], found["decoding"]) == (WEIGHTS, {"span_limit": 3, "pop_limit": 9})
    assert handed(*train, "--weights", tuned[0], "--span-limit", 6)["decoding"] == {"span_limit": 6}

    sets = ("--source", files / "dev.fr", "--references", files / "dev.en", "--tokens")
    command = ("analyse", files / "model", *sets, "--weights", *tuned, files / "weights")
    own = hiero.Model.load(files / "model").settings.span_limit
    compared: list[int] = []

    def analysed(decoder: Any, *_: Any, **__: Any) -> Analysis:
        compared.append(decoder._decoder.settings.span_limit)
        return Analysis(1.0, 2.0, 3.0, 0.4, 0.5, 0.625)

    monkeypatch.setattr(analyse, "analyse", analysed)
    for more, limits in (((), [3, 4, own]), (("--span-limit", 6), [6, 6, 6])):
        compared.clear()
        assert call("hiero", *command, *more).returncode == 0
        assert compared == limits
