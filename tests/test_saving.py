"""Saving a model: with files of users."""

from __future__ import annotations

import os
from pathlib import Path

import hiero
from hiero import tables

FRENCH = Path(__file__).parent / "french"


def translation(directory: Path) -> hiero.Translation:
    return hiero.Decoder(hiero.Model.load(directory)).translate("elle voit un chien noir .")


def same(one: Path, other: Path) -> bool:
    return os.path.samestat(one.stat(), other.stat())


def test_files_of_users_are_copied(tmp_path: Path) -> None:
    table, lm = tmp_path / "g.hrt", tmp_path / "lm.binary"
    tables.pack(FRENCH / "grammar.txt", table)
    hiero.LanguageModel.write_binary(str(FRENCH / "lm.arpa"), str(lm))
    hiero.Model.assemble([table], [lm], FRENCH / "weights.txt").save(tmp_path / "m")
    before = translation(tmp_path / "m")
    for path in (table, lm):
        with path.open("r+b") as file:
            file.write(bytes(path.stat().st_size))
    after = translation(tmp_path / "m")
    assert (after.text, after.score) == (before.text, before.score)
    # Those of models are shared, but not what somebody else put beside them.
    hiero.Model.load(tmp_path / "m").save(tmp_path / "n")
    for name in ("rules0.hrt", "lm0.binary"):
        assert same(tmp_path / "m" / name, tmp_path / "n" / name)
    foreign = tmp_path / "m" / "other.binary"
    foreign.write_bytes((tmp_path / "m" / "lm0.binary").read_bytes())
    (tmp_path / "n" / "lm0.binary").unlink()
    (tmp_path / "n" / "lm0.binary").symlink_to(foreign)
    for path in (foreign, tmp_path / "n" / "lm0.binary"):
        other = hiero.Model.assemble([tmp_path / "n" / "rules0.hrt"], [path], FRENCH / "weights.txt")
        other.save(tmp_path / "o")
        assert same(tmp_path / "o" / "rules0.hrt", tmp_path / "m" / "rules0.hrt")
        assert not same(tmp_path / "o" / "lm0.binary", foreign)
        assert not (tmp_path / "o" / "lm0.binary").is_symlink()
        assert translation(tmp_path / "o").score == before.score
