"""Files of rule estimates: damaged ones, and those that belong to another language model."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

import hiero
from support.brute_force import write_arpa


def test_stale_and_damaged_estimates(french: Path, tmp_path: Path) -> None:
    model = hiero.Model.assemble([french / "grammar.txt"], [french / "lm.arpa"], french / "weights.txt")
    model.save(tmp_path / "m")
    statics = tmp_path / "m" / "rules0.statics"
    expected = hiero.Decoder(model).translate("le chat dort .").score
    assert hiero.Decoder(hiero.Model.load(tmp_path / "m")).translate("le chat dort .").score == expected
    data = bytearray(statics.read_bytes())
    data[100] ^= 1
    statics.write_bytes(data)
    with pytest.raises(hiero.FormatError, match="damaged file of rule estimates"):
        hiero.Model.load(tmp_path / "m")
    data[100] ^= 1
    statics.write_bytes(data)
    write_arpa(tmp_path / "other.arpa", [["the", "cat", "sleeps", "."]], 2)
    other = hiero.LanguageModel.load(str(tmp_path / "other.arpa"))
    fresh = hiero.Model(model.tables, [other], model.weights)
    stale = hiero.Model(model.tables, [other], model.weights, estimates=[str(statics)])
    scores = [hiero.Decoder(m).translate("le chat dort .").score for m in (fresh, stale)]
    assert scores[0] == scores[1] != expected


def test_estimates_belong_to_all_of_a_language_model(tmp_path: Path) -> None:
    words = [f"a-rather-long-word-{n}" for n in range(6000)]
    ends = 1 << 16

    def binary(name: str, log10: float) -> Path:
        head = f"\\data\\\nngram 1={len(words) + 3}\nngram 2={len(words)}\n\n\\1-grams:\n"
        unigrams = "".join(f"-4\t{word}\t-0.5\n" for word in [*words, "<s>", "</s>", "<unk>"])
        pairs = zip(words, [*words[1:], "</s>"], strict=True)
        bigrams = "".join(f"{log10}\t{first} {second}\n" for first, second in pairs)
        (tmp_path / "arpa").write_text(f"{head}{unigrams}\n\\2-grams:\n{bigrams}\n\\end\\\n")
        hiero.LanguageModel.write_binary(str(tmp_path / "arpa"), str(tmp_path / name))
        return tmp_path / name

    likely, unlikely = binary("likely", -0.25), binary("unlikely", -3)
    # The two differ, but not at their ends.
    data = likely.read_bytes(), unlikely.read_bytes()
    assert data[0] != data[1] and len(data[0]) == len(data[1]) > 4 * ends
    assert data[0][:ends] == data[1][:ends] and data[0][-ends:] == data[1][-ends:]

    # The one language model makes two words the best target, the other one word.
    targets = [f"{words[7]} {words[8]}", words[3]]
    grammar = tmp_path / "rules"
    grammar.write_text(f"[X] ||| a ||| {targets[0]} ||| A=0\n[X] ||| a ||| {targets[1]} ||| A=-4.6\n")
    weights = {"LM0": 1.0, "A": 1.0}
    hiero.Model.assemble([grammar], [likely], weights).save(tmp_path / "m")
    texts = [hiero.Decoder(hiero.Model.load(tmp_path / "m"), ttable_limit=1).translate("a").text]
    (tmp_path / "m" / "lm0.binary").write_bytes(data[1])
    texts.append(hiero.Decoder(hiero.Model.load(tmp_path / "m"), ttable_limit=1).translate("a").text)
    assert texts == targets


def test_damage_is_found_where_it_is_read(tmp_path: Path) -> None:
    """Blocks of 64 KB have checksums of their own: a large file is not read through at every load."""
    count = 40_000
    rules = "".join(f"[X] ||| w{n:05} ||| v{n % 7} ||| A={n % 5}\n" for n in range(count))
    (tmp_path / "rules").write_text(rules)
    write_arpa(tmp_path / "arpa", [["v1", "v2"]], 2)
    weights = {"LM0": 1.0, "A": 1.0}
    hiero.Model.assemble([tmp_path / "rules"], [tmp_path / "arpa"], weights).save(tmp_path / "m")
    statics = tmp_path / "m" / "rules0.statics"
    good = statics.read_bytes()
    # A header; an estimate a rule, words of the language model, and of a rule its unknown words, its words,
    # whether it has features that most have not, and what it reorders. Checksums of blocks end the file.
    vocabulary = hiero.RuleTable.open(str(tmp_path / "m" / "rules0.hrt")).word_count
    sizes = (4 * count, 4 * vocabulary, 2 * count, 2 * count, count, count)
    starts = [sum(sizes[:i]) for i in range(len(sizes))]
    assert 64 + sum(sizes) + 8 * -(-sum(sizes) // 65_536) == len(good)

    def places(rule: int) -> list[int]:
        return [starts[i] + sizes[i] // count * rule for i in (0, 2, 3, 4, 5)]

    # The estimates of two of them are on either side of a border.
    rules_read = (3, 16_383, 16_384, 39_999)
    assert places(16_384)[0] == 65_536
    words = {rule: f"w{rule:05}" for rule in rules_read}
    scores = {
        rule: hiero.Decoder(hiero.Model.load(tmp_path / "m")).translate(words[rule]).score for rule in words
    }
    seen = set()
    for place in itertools.chain(*map(places, rules_read)):
        data = bytearray(good)
        data[64 + place] ^= 1
        statics.write_bytes(data)
        if starts[1] // 65_536 <= place // 65_536 <= (starts[2] - 1) // 65_536:  # words are read at once
            with pytest.raises(hiero.FormatError, match="damaged file of rule estimates: wrong checksum"):
                hiero.Model.load(tmp_path / "m")
            continue
        decoder = hiero.Decoder(hiero.Model.load(tmp_path / "m"))
        for rule in rules_read:
            damaged = place // 65_536 in {other // 65_536 for other in places(rule)}
            seen.add(damaged)
            if not damaged:
                assert decoder.translate(words[rule]).score == scores[rule]
            for _ in range(2 if damaged else 0):  # also when it is asked for again
                with pytest.raises(
                    hiero.FormatError, match="damaged file of rule estimates: wrong checksum of block"
                ):
                    decoder.translate(words[rule])
        # Nor are they taken over into another file.
        with pytest.raises(
            hiero.FormatError, match="damaged file of rule estimates: wrong checksum of block"
        ):
            decoder.model.core.save_estimates(0, str(tmp_path / "other.statics"))
    assert seen == {True, False}
    # What the checksums themselves are under, and the header.
    for place in (len(good) - 1, 12, 20, 50, 60):
        data = bytearray(good)
        data[place] ^= 1
        statics.write_bytes(data)
        with pytest.raises(hiero.FormatError, match="damaged file of rule estimates"):
            hiero.Model.load(tmp_path / "m")
    # Of another version: computed anew.
    data = bytearray(good)
    data[8] = 1
    statics.write_bytes(data)
    decoder = hiero.Decoder(hiero.Model.load(tmp_path / "m"))
    assert {rule: decoder.translate(word).score for rule, word in words.items()} == scores
