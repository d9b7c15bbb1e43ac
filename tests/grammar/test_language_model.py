"""Tests of messages for files that are no language models, and of unknown words."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

import hiero
from support.brute_force import write_arpa
from support.commands import call, one_error_line


def bad_files(french: Path) -> dict[str, bytes]:
    arpa = (french / "lm.arpa").read_bytes()
    return {
        "junk": b"junk\n",
        "unigrams": b"\\data\\\nngram 1=1\n\n\\1-grams:\n-1\ta\n\\end\\\n",
        "cut": arpa[: len(arpa) // 2],
        "number": arpa.replace(b"-", b"x-", 5),
        "count": arpa.replace(b"ngram 1=", b"ngram 1=9", 1),
        "binary": b"mmap lm http://kheafield.com/code format version 5\n\0" + bytes(200),
    }


def test_messages_name_the_file_and_nothing_of_the_build(french: Path, tmp_path: Path) -> None:
    for name, content in bad_files(french).items():
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(hiero.FormatError) as caught:
            hiero.LanguageModel.load(str(path))
        message = str(caught.value)
        assert message.startswith(f"{path}: not a usable language model: ") and "\n" not in message
        said = message.split(": not a usable language model: ")[1]
        assert len(said) > 10
        for part in (".cc", ".hh", "threw", "lm::", "util::", "because `", "::"):
            assert part not in said, message


def test_what_is_neither_table_nor_model(tmp_path: Path) -> None:
    (tmp_path / "junk").write_bytes(gzip.compress(b"junk"))
    message = one_error_line(call("hiero", "info", tmp_path / "junk"), 1)
    assert message.startswith(f"hiero: {tmp_path / 'junk'}: not a usable language model: ")
    assert message.endswith("; nor a packed rule table (hiero pack makes one from text)\n")


@pytest.mark.parametrize("in_sentence", [False, True])
def test_each_model_weighs_its_own_unknown_words(tmp_path: Path, in_sentence: bool) -> None:
    """The unknown words come from rules of a table, or from sentence rules."""
    for k, word in enumerate("ab"):
        write_arpa(tmp_path / f"{k}.arpa", [[word, "d"]] * 3, 2)
    lms = [hiero.LanguageModel.load(str(tmp_path / f"{k}.arpa")) for k in range(2)]
    rules = [hiero.Rule(f"[X] ||| x ||| {target} ||| N=1") for target in ("a", "b", "a b b", "c c")]
    other = hiero.Rule("[X] ||| y ||| d ||| N=1")
    model = hiero.Model([hiero.RuleTable.from_rules([other] if in_sentence else rules)], lms, {"N": 0.0})
    sentence = (
        hiero.Sentence.from_source("x", rules=rules) if in_sentence else hiero.Sentence.from_source("x")
    )
    unknown = {"a": (0, 1), "b": (1, 0), "a b b": (2, 1), "c c": (2, 2)}
    for weights in ((-1.0, -3.0), (-3.0, -1.0), (2.0, -0.5), (0.25, 0.5)):
        decoder = hiero.Decoder(model).with_weights(dict(zip(("LM0_OOV", "LM1_OOV"), weights, strict=True)))
        expected = {text: sum(np.multiply(weights, counts)) for text, counts in unknown.items()}
        # Compare the search, and the forest, whose scores are computed from features.
        assert expected[decoder.translate(sentence).text] == max(expected.values())
        result = decoder.translate(sentence, keep="forest")
        assert expected[result.text] == max(expected.values()) == pytest.approx(result.score)
        derivations = {
            derivation.text: derivation for derivation in result.kbest(9) if derivation.text != "x"
        }
        assert {text: derivation.score for text, derivation in derivations.items()} == pytest.approx(expected)
        for text, derivation in derivations.items():
            counts = [derivation.features.get(f"LM{k}_OOV", 0.0) for k in range(2)]
            assert tuple(counts) == unknown[text]
