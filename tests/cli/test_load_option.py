"""`--load MODULE:NAME`: models with the features and generators in Python of docs/features.md, on the command
line."""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import hiero
from hiero.cli.experiment import read_chiang2008
from support.commands import BIN, call, one_error_line
from support.paths import ROOT

WEIGHTS = {"HalfQuoted": -1.0, "FarReordering": -0.5, "CurrencyRule": 2.0}
LINE = 'le chat " noir 3 € "'
MORE = """
everything = [InQuotes(), FarReordering(), Currencies()]
as_tuple = tuple(everything)
features_alone = everything[:2]
nothing = []
number = 3
classes = [InQuotes]


def make():
    return everything


def broken():
    raise KeyError("no such thing")


def with_argument(size):
    return everything


class Holder:
    inner = everything


class Other:
    names = ["Other"]
    by_gap = FarReordering.by_gap


class OneName:
    names = "HalfQuoted"
    by_gap = FarReordering.by_gap


class More(Currencies):
    features = ["CurrencyRule", "Unheard"]


class Unnamed(Currencies):
    name = 3


class Elsewhere(Currencies):
    name = "elsewhere"
"""


@pytest.fixture
def folder(french: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current folder, with own.py and a model that was saved with what it has."""
    page = (ROOT / "docs" / "features.md").read_text(encoding="utf-8")
    blocks = re.findall(r"<!-- (?:by \w+|rules) -->\n```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 4
    (tmp_path / "own.py").write_text("\n".join(blocks) + MORE)
    before = set(sys.modules)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    importlib.invalidate_caches()
    parts = own_parts(tmp_path)
    model = hiero.Model.assemble(
        [french / "grammar.txt"],
        [french / "lm.arpa"],
        {**hiero.read_weights(french / "weights.txt"), **WEIGHTS},
        local_features=parts[:2],
        generators=parts[2:],
    )
    model.save("model")
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.partition(".")[0] in ("own", "bad", "package"):
            del sys.modules[name]


def own_parts(folder: Path) -> list:
    names: dict[str, object] = {"__name__": "apart"}
    exec(compile((folder / "own.py").read_text(), "own.py", "exec"), names)
    return names["everything"]  # type: ignore[return-value]


def decoded(*load: str, threads: int = 1) -> subprocess.CompletedProcess[bytes]:
    options = ("--output-format", "jsonl", "--quiet", "--threads", threads, "--load", *load)
    return call("hiero-decode", "--model", "model", *options, stdin=f"{LINE}\nle chat\n{LINE}\n")


@pytest.mark.parametrize(
    "load",
    [
        ("own:everything",),
        ("own:as_tuple",),
        ("own:make",),
        ("own:Holder.inner",),
        ("own:InQuotes", "own:FarReordering", "own:Currencies"),
        ("own:Currencies", "own:features_alone"),
        ("package.own:everything",),
    ],
)
def test_what_a_name_may_stand_for(folder: Path, load: tuple[str, ...]) -> None:
    (folder / "package").mkdir()
    (folder / "package" / "own.py").write_bytes((folder / "own.py").read_bytes())
    done = decoded(*load)
    assert (done.returncode, done.stderr) == (0, b"")
    parts = own_parts(folder)
    model = hiero.Model.load("model", local_features=parts[:2], generators=parts[2:])
    twin = hiero.Decoder(model).translate(LINE)
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert [records[0][key] for key in ("text", "features")] == [twin.text, twin.features] and len(
        records
    ) == 3
    assert records[0]["features"]["CurrencyRule"] == 1 and "HalfQuoted" in records[0]["features"]
    assert decoded(*load, threads=2).stdout == done.stdout


def test_the_current_folder_comes_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "elsewhere").mkdir()
    (folder / "elsewhere" / "own.py").write_text("everything = 3\n")
    monkeypatch.syspath_prepend(folder / "elsewhere")
    assert decoded("own:everything").returncode == 0


def test_other_commands(folder: Path) -> None:
    (folder / "dev.fr").write_text("le chat noir\nle chien\n3 €\n")
    (folder / "dev.en").write_text("the black cat\nthe dog\n€ 3\n")
    sets = ("--source", "dev.fr", "--references", "dev.en")
    commands = [
        (
            "tune",
            "model",
            *sets,
            "--method",
            "mert",
            "--span-limit",
            10,
            "-k",
            "5",
            "--span-limit",
            "10",
            "--iterations",
            "2",
            "-o",
            "t",
            "--save",
            "tuned",
        ),
        ("analyse", "model", *sets),
        ("features", "model", "-o", "with-numbers", "--numbers", "fr:en"),
        ("weights", "model", "weights.txt", "-o", "weighted"),
        ("check", "model"),
    ]
    (folder / "weights.txt").write_text("CurrencyRule 3\n")
    for command in commands:
        message = one_error_line(call("hiero", *command))
        assert "model: needs local features in Python for HalfQuoted, FarReordering" in message
        assert "--load MODULE:NAME" in message
        done = call("hiero", *command, "--load", "own:everything")
        assert (done.returncode, done.stderr) == (0, b""), done
    start = ("--weights", "none", "--load", "own:everything")
    assert one_error_line(call("hiero", *commands[0], *start)) == "hiero: none: No such file or directory\n"
    parts = own_parts(folder)
    for name in ("tuned", "with-numbers", "weighted"):
        model = hiero.Model.load(name, local_features=parts[:2], generators=parts[2:])
        assert {own.name for own in model.generators} >= {"currencies"} and len(model.local_features) == 2
    assert model.weights["CurrencyRule"] == 3
    assert hiero.Model.load("tuned", local_features=parts[:2], generators=parts[2:]).weights != model.weights


def test_generators_of_other_labels(folder: Path) -> None:
    """The label X is asked for by the package's own generators alone."""
    with (folder / "own.py").open("a") as file:
        file.write("\n\nclass OfY(Currencies):\n    def rules(self, sentence):\n        return []\n")
    table = hiero.RuleTable.from_rules([hiero.Rule("[Y] ||| a ||| b")])
    generator = own_parts(folder)[2]
    hiero.Model([table], [], {}, generators=[generator]).save("of-y")
    put = ("features", "of-y", "-o", "other", "--load", "own:OfY")
    done = call("hiero", *put, "--syntax", "coarse")
    assert (done.returncode, done.stderr) == (0, b"")
    assert "has no label X" in one_error_line(call("hiero", *put, "--numbers", "fr:en"))


def test_second_stages_and_experiments_open_them(folder: Path) -> None:
    """Both commands open the parts: they complain of what is missing next."""
    for side, text in (("a", "le chat"), ("b", "the cat")):
        (folder / side).write_text(f"{text}\n")
    train = ("train-reranker", "model", "--source", "a", "--target", "b", "-o", "second")
    sets = "\n".join(f'{head}\nsource = "none"\nreferences = ["b"]' for head in ("[tuning]", "[[test]]"))
    (folder / "x.toml").write_text(f'model = "model"\n{sets}\n')
    runs = (
        "--source",
        "none",
        "--references",
        "b",
        "--test-source",
        "none",
        "--test-references",
        "b",
        "-o",
        "out",
    )
    for command, missed in (
        (train, "how it was trained"),
        *(
            (("experiment", name, "x.toml", "-o", "out"), "none: No such file")
            for name in ("zhai2015", "li2009")
        ),
        (("experiment", "chiang2008", "x.toml", "-o", "out"), "none: No such file"),
        (("experiment", "cettolo2004", "model", *runs), "none: No such file"),
    ):
        assert "--load MODULE:NAME" in one_error_line(call("hiero", *command))
        assert missed in one_error_line(call("hiero", *command, "--load", "own:everything"))
    with pytest.raises(hiero.Error, match="has no Everything"):
        read_chiang2008(folder / "x.toml", ["own:Everything"], folder=folder / "out")


@pytest.mark.parametrize(
    ("load", "message"),
    [
        ("nowhere:x", "no module nowhere in this folder or where Python looks"),
        ("own.inner:x", "no module own.inner in this folder or where Python looks"),
        ("own:InQuote", "own.py has no InQuote: is it InQuotes?"),
        ("own:Holder.outer", "own has no outer"),
        (
            "own:number",
            "expected names and one of by_span, by_gap, by_rule, or name, features and rules, found 3",
        ),
        ("own:classes", "or name, features and rules, found <class 'own.InQuotes'>"),
        ("own:nothing", "names neither features nor generators"),
        ("own:Other", "model has no local features Other, but FarReordering, HalfQuoted"),
        ("own:Elsewhere", "model has no rule generator elsewhere, but currencies"),
        ("own:More", "model has no features of currencies Unheard, but CurrencyRule"),
        ("own:OneName", "names: expected several strings, found 'HalfQuoted'"),
        ("own:Unnamed", "name: expected a string, found 3"),
        ("own:broken", "own.py:LINE: KeyError: 'no such thing'"),
        ("own:with_argument", "TypeError: with_argument() missing 1 required positional argument: 'size'"),
        ("bad:x", "bad.py:2: SyntaxError: "),
        ("bad.lines:x", "lines.py:3: ModuleNotFoundError: No module named 'nowhere'"),
        ("bad.ends:x", "ends.py:1: SystemExit: 3"),
        ("own:InQuotes", "model: needs local features in Python for FarReordering: pass"),
    ],
)
def test_one_line_says_what_is_wrong(folder: Path, load: str, message: str) -> None:
    if load.startswith("bad."):
        (folder / "bad").mkdir()
        (folder / "bad" / "lines.py").write_text("x = 1\n\nimport nowhere\n")
        (folder / "bad" / "ends.py").write_text("raise SystemExit(3)\n")
    else:
        (folder / "bad.py").write_text("x = 1\nx = = 2\n")
    lines = (folder / "own.py").read_text().splitlines()
    message = message.replace("LINE", str(1 + lines.index('    raise KeyError("no such thing")')))
    error = one_error_line(decoded(load))
    assert message in error
    assert message.startswith("model: needs") or error.startswith(f"hiero: --load {load}: ")


def test_what_is_given_twice(folder: Path) -> None:
    message = one_error_line(decoded("own:everything", "own:InQuotes"))
    assert message == "hiero: --load own:InQuotes: HalfQuoted is given by --load own:everything\n"
    message = one_error_line(decoded("own:Currencies", "own:everything"))
    assert message == "hiero: --load own:everything: currencies is given by --load own:Currencies\n"


def test_wrong_usage(folder: Path, french: Path) -> None:
    (folder / "own.py").write_text("raise KeyError('imported')\n")
    for load in ("own", "own:", ":x", "own.py:InQuotes", "./own:InQuotes", "own:InQuotes()"):
        done = decoded(load)
        assert done.returncode == 2 and b"expected MODULE:NAME" in done.stderr, done
    grammar = ("--grammar", french / "grammar.txt", "--load", "own:everything")
    done = call("hiero-decode", *grammar)
    assert done.returncode == 2 and b"--load is for what a model was saved" in done.stderr
    table = hiero.RuleTable.from_rules([hiero.Rule("[X] ||| a ||| b")])
    table.save(str(folder / "table.hrt"))
    assert call("hiero", "check", "table.hrt", "--load", "own:everything").returncode == 2


def test_models_without_such_parts_take_none(folder: Path, french: Path) -> None:
    hiero.Model.assemble([french / "grammar.txt"], [french / "lm.arpa"], french / "weights.txt").save("model")
    message = one_error_line(decoded("own:InQuotes"))
    assert "model has no local features HalfQuoted, and none at all" in message


def test_no_file_names_what_is_imported(folder: Path) -> None:
    """A model that asks for code by the names of its features, or by a key, imports nothing."""
    with (folder / "own.py").open("a") as file:
        file.write("open('imported', 'w').close()\n")
    config = (folder / "model" / "model.toml").read_text()
    changed = config.replace('"HalfQuoted"', '"own:everything"').replace('"currencies"', '"own:Currencies"')
    assert changed != config
    for text in (changed, f'load = ["own:everything"]\n{config}'):
        (folder / "model" / "model.toml").write_text(text)
        for command in (("hiero-decode", "--model"), ("hiero", "check"), ("hiero", "info")):
            call(*command, "model")
        assert not (folder / "imported").exists() and "own" not in sys.modules
    (folder / "model" / "model.toml").write_text(config)
    assert decoded("own:everything").returncode == 0 and (folder / "imported").exists()


def test_the_current_folder_as_a_program(folder: Path) -> None:
    """`python -m` looks in the current folder, unless Python is told to leave it out."""
    command = [BIN / "hiero-decode", "--model", "model", "--quiet", "--load", "own:everything"]
    here = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    done, safe = (
        subprocess.run(command, input=b"3 \xe2\x82\xac\n", capture_output=True, env=env)
        for env in (here, {**here, "PYTHONSAFEPATH": "1"})
    )
    assert (done.returncode, done.stdout.decode(), done.stderr) == (0, "€ 3\n", b"")
    assert one_error_line(safe) == "hiero: --load own:everything: no module own where Python looks\n"
