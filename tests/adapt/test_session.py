"""Tests of sessions: what is learned, kept, undone and shared."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

import hiero
from hiero import FormatError
from hiero._core import RESCORE_BEAM
from hiero.adapt import AdaptSettings, Correction, LearningModel, Session
from hiero.adapt.rules import CORRECTED
from hiero.adapt.session import context_path, read_corrections
from hiero.forest.losses import BleuDocument
from hiero.train import AlignmentModel
from hiero.tune.methods.mira.constraints import HopeFearSelection, solve_batch

Document = list[tuple[str, str]]
# Larger steps than by default, so that a few sentences move the weights.
STEPS = AdaptSettings(c=0.01)


def learn(session: Session, document: Document) -> list[Correction]:
    return [session.correct(source, target) for source, target in document]


def state(session: Session, document: Document) -> tuple[object, ...]:
    """All that can be seen of what a session has learned."""
    translations = [session.translate(source) for source, _ in document]
    scores = [(result.tokens, result.score, result.features) for result in translations]
    documents = [correction.document.counts.tolist() for correction in session.corrections]
    records = [(one.id, one.source, one.target, one.translation, one.links) for one in session.corrections]
    return session.weights, session.rule_count, documents, records, scores


def test_a_new_word_is_learned(trained_model: Path) -> None:
    session = Session(hiero.Model.load(trained_model))
    line = "机器人 买 了 书 。"
    assert "机器人" in session.translate(line).tokens
    correction = session.correct(line, "the robot bought the book .")
    assert "机器人" in correction.translation.split()
    assert "robot" in session.translate("他 看见 了 机器人 。").tokens
    assert session.translate("他 看见 了 机器人 。").features[CORRECTED] > 0
    assert CORRECTED not in session.translate("小狗").features
    assert session.corrections == [correction] and session.rule_count > 0


def test_a_correction_is_aligned_by_the_model(trained_model: Path, document: Document) -> None:
    model = hiero.Model.load(trained_model)
    assert model.learning is not None
    session = Session(model)
    aligner = AlignmentModel(model.learning.alignment)
    for source, target in document:
        assert session.correct(source, target).links == aligner.align(source, target).links


def test_weights_take_one_step_of_mira(trained_model: Path, document: Document) -> None:
    model = hiero.Model.load(trained_model)
    settings = AdaptSettings(rules=False, c=0.02, k=7, mu=0.3)
    session = Session(model, settings)
    weights, pseudo = dict(hiero.Decoder(model).weights), BleuDocument()
    moved = 0
    scale = 15 / sum(map(abs, weights.values()))
    assert settings.k <= RESCORE_BEAM
    for source, target in document:
        result = hiero.Decoder(model).translate(source, keep="forest", weights=weights)
        vector = scale * np.array([weights[name] for name in result.forest.feature_names])
        selection = HopeFearSelection(7, 0.3, "forest", True, "closest")
        constraints, pseudo = selection.select(result.forest, vector, [target.split()], pseudo)
        step = solve_batch([constraints], vector, np.zeros(len(vector), dtype=bool), 0.02, 1e-6)
        for number, change in zip(step.ids, step.changes, strict=True):
            weights[result.forest.feature_names[int(number)]] += float(change) / scale
        correction = session.correct(source, target)
        assert session.weights == pytest.approx(weights, abs=1e-12) and correction.translation == result.text
        assert correction.weights == {name: session.weights[name] for name in correction.weights}
        moved += len(correction.weights)
    assert moved > 0 and session.rule_count == 0 and CORRECTED not in session.weights


def test_rules_alone_leave_the_weights(trained_model: Path, document: Document) -> None:
    model = hiero.Model.load(trained_model)
    session = Session(model, AdaptSettings(weights=False))
    corrections = learn(session, document)
    assert session.weights == {**hiero.Decoder(model).weights, CORRECTED: 0.0}
    assert all(not correction.weights for correction in corrections) and session.rule_count > 0


def test_the_weight_of_corrected_rules_is_learned(trained_model: Path, document: Document) -> None:
    session = Session(hiero.Model.load(trained_model), STEPS)
    learn(session, document * 2)
    assert session.weights[CORRECTED] != 0


def test_a_context_goes_on(model: Path, document: Document) -> None:
    with Session.open(model, "anna", {"c": 0.01}) as session:
        learn(session, document[:5])
        before = state(session, document)
    content = context_path(model, "anna").read_bytes()
    with Session.open(model, "anna") as session:
        assert session.settings == STEPS
        assert state(session, document) == before
        assert context_path(model, "anna").read_bytes() == content
        learn(session, document[5:])
        after = state(session, document)
        assert [correction.id for correction in session.corrections] == list(range(1, len(document) + 1))
    whole = Session(hiero.Model.load(model), STEPS)
    learn(whole, document)
    assert state(whole, document) == after


def test_contexts_know_nothing_of_each_other(model: Path, document: Document) -> None:
    with Session.open(model, "anna") as anna, Session.open(model, "ben") as ben:
        learn(anna, document)
        assert not ben.corrections and ben.weights == {**hiero.Decoder(ben.model).weights, CORRECTED: 0.0}


@pytest.mark.parametrize("place", [0, 3, 7, None])
def test_undone_is_as_if_it_had_not_been(model: Path, document: Document, place: int | None) -> None:
    document = document[:8]
    with Session.open(model, "anna", {"c": 0.01}) as session:
        corrections = learn(session, document)
        assert (
            session.undo(None if place is None else corrections[place].id)
            == corrections[-1 if place is None else place]
        )
        left = [pair for number, pair in enumerate(document) if number != (7 if place is None else place)]
        without = Session(hiero.Model.load(model), STEPS)
        learn(without, left)
        expected, found = (state(one, document) for one in (without, session))
        assert [found[i] for i in (0, 1, 2, 4)] == [expected[i] for i in (0, 1, 2, 4)]
        again = session.correct(*document[0])
        assert again.id == 9
        after = state(session, document)
    with Session.open(model, "anna") as session:
        assert state(session, document) == after
        with pytest.raises(ValueError, match="no correction 10"):
            session.undo(10)
        for _ in range(8):
            session.undo()
        with pytest.raises(ValueError, match="no corrections"):
            session.undo()
    with Session.open(model, "anna") as session:
        assert session.corrections == [] and session.correct(*document[0]).id == 10


def test_another_model_learns_again(model: Path, document: Document) -> None:
    with Session.open(model, "anna", {"c": 0.01}) as session:
        learn(session, document)
    hiero.Model.load(model).with_weights({"WordPenalty": -0.5}).save(model)
    lines: list[str] = []
    with Session.open(model, "anna", report=lines.append) as session:
        assert lines == [f"learning again from {len(document)} corrections: the model or settings changed"]
        other = Session(hiero.Model.load(model), STEPS)
        learn(other, document)
        assert state(session, document) == state(other, document)
    with Session.open(model, "anna", {"c": 0.02}, report=lines.append) as session:
        assert len(lines) == 2 and session.settings.c == 0.02 and len(session.corrections) == len(document)
    with Session.open(LearningModel.open(model, pop_limit=7), "anna", report=lines.append):
        assert len(lines) == 3
    Session.open(model, "ben", report=lines.append).close()
    assert len(lines) == 3


def test_what_is_no_context(model: Path, document: Document) -> None:
    for name in ("", ".hidden", "a/b", "..", "x" * 65, "あ" * 22, "a b"):
        with pytest.raises(ValueError, match="expected up to 64 letters"):
            Session.open(model, name)
    path = context_path(model, "anna")
    with Session.open(model, "anna") as session:
        learn(session, document[:2])
        with pytest.raises(OSError, match="another process is using this context"):
            Session.open(model, "anna")
    other = context_path(model, "other")
    from hiero.adapt.journal import Journal

    for record in ({}, {"correction": 1}, {"undone": 5}, {"learner": {"settings": {"c": -1}}, "next": 1}):
        other.unlink(missing_ok=True)
        with Journal(other) as journal:
            journal.append(record)
        with pytest.raises(FormatError, match=r"other\.journal:1: no record of a context"):
            Session.open(model, "other")
    content = path.read_bytes()
    path.write_bytes(content.replace(b'"id"', b'"di"').replace(b'"source"', b'"sauce"'))
    with pytest.raises(FormatError, match=r"anna\.journal:2: damaged record"):
        Session.open(model, "anna")
    path.write_bytes(content)
    Session.open(model, "anna").close()  # the lock was given back


def test_texts_without_words_and_closed_sessions(model: Path) -> None:
    with Session.open(model, "anna") as session:
        for source, target, name in (("", "a", "source"), ("狗", " ", "target")):
            with pytest.raises(ValueError, match=f"{name}: no words"):
                session.correct(source, target)
        assert session.corrections == []
    with pytest.raises(ValueError, match="closed"):
        session.correct("狗", "dog")
    assert session.translate("狗").text and not session.corrections


def test_a_context_has_a_file_from_the_first_correction_on(model: Path, document: Document) -> None:
    with Session.open(model, "anna", {"c": 0.01}) as session:
        session.translate(document[0][0])
        assert not context_path(model, "anna").parent.exists()
        learn(session, document[:2])
    with Session.open(model, "anna") as again:
        assert again.settings.c == 0.01 and again.corrections == session.corrections


def test_sessions_share_a_model(model: Path, document: Document) -> None:
    shared = LearningModel.open(model)
    with Session.open(shared, "anna", {"c": 0.01}) as anna, Session.open(shared, "ben", {"c": 0.01}) as ben:
        learn(anna, document)
        learn(ben, document[:3])
        for session, pairs in ((anna, document), (ben, document[:3])):
            alone = Session(hiero.Model.load(model), STEPS)
            learn(alone, pairs)
            assert state(session, document) == state(alone, document)
    with pytest.raises(ValueError, match=r"use LearningModel\.open"):
        Session.open(LearningModel(shared.decoder), "anna")


def test_a_model_that_is_replaced_while_it_is_opened(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load = hiero.Model.load
    loads = 0

    def replacing(path: Path) -> hiero.Model:
        nonlocal loads
        loads += 1
        loaded = load(path)
        if loads == 1:
            loaded.with_weights({"WordPenalty": -0.5}).save(path)
        return loaded

    monkeypatch.setattr(hiero.Model, "load", replacing)
    opened = LearningModel.open(model)
    assert loads == 2 and opened.decoder.weights["WordPenalty"] == -0.5
    with pytest.raises(OSError, match="missing"):
        LearningModel.open(model.with_name("missing"))


def test_hidden_rules_of_corrections_are_not_used(trained_model: Path, document: Document) -> None:
    session = Session(hiero.Model.load(trained_model), STEPS)
    session.correct("机器人 很 忙 。", "the robot is very busy .")
    source = "他 的 机器人"
    assert "robot" in session.translate(source).tokens
    decoder, sentence, _ = session.resolve(source)
    assert sentence.rule_span_limit == decoder.settings.span_limit > 0
    hidden = [hiero.Rule(" ||| ".join(str(rule).split(" ||| ")[:3])) for rule in sentence.rules]
    assert "robot" not in session.translate(hiero.Sentence(source, hidden=hidden)).tokens
    kept = [rule for rule in hidden if rule.target != ["robot"]]
    assert "robot" in session.translate(hiero.Sentence(source, hidden=kept)).tokens


def test_a_deadline_learns_nothing(model: Path, document: Document) -> None:
    with Session.open(model, "anna", {"c": 0.01}) as session:
        learn(session, document[:3])
        before = state(session, document)
        late = hiero.Deadline(0)
        with pytest.raises(TimeoutError, match="no time to learn"):
            session.correct(*document[3], deadline=late)
        with session._learning, pytest.raises(TimeoutError, match="is learning something else"):
            session.correct(*document[3], deadline=late)
        assert state(session, document) == before
        assert session.correct(*document[3], deadline=hiero.Deadline(60)).id == 4


def test_a_full_disk(model: Path, document: Document, monkeypatch: pytest.MonkeyPatch) -> None:
    with Session.open(model, "anna") as session:
        learn(session, document[:2])
        before = state(session, document)
        monkeypatch.setattr("os.pwrite", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left")))
        for attempt in (lambda: session.correct(*document[2]), session.undo):
            with pytest.raises(OSError, match="No space left"):
                attempt()
            assert state(session, document) == before
        monkeypatch.undo()
        assert session.correct(*document[2]).id == 3


def test_a_model_that_cannot_align(trained_model: Path, document: Document) -> None:
    import dataclasses

    model = dataclasses.replace(hiero.Model.load(trained_model), learning=None)
    with pytest.raises(hiero.Error, match="learn weights alone"):
        Session(model)
    session = Session(model, AdaptSettings(rules=False, c=0.01))
    learn(session, document)
    assert session.weights != hiero.Decoder(model).weights


def test_bitext(model: Path, document: Document, tmp_path: Path) -> None:
    with Session.open(model, "anna") as session:
        learn(session, document[:3])
        session.correct(["小", "狗"], ["small", "dog"])
        session.write_bitext(tmp_path / "f", tmp_path / "e")
        assert [one.source for one in read_corrections(model, "anna")][3] == ["小", "狗"]
    with Session.open(model, "ben") as empty:
        empty.write_bitext(tmp_path / "no-f", tmp_path / "no-e")
    assert (tmp_path / "no-f").read_text() == (tmp_path / "no-e").read_text() == ""
    lines = [(tmp_path / name).read_text().splitlines() for name in ("f", "e")]
    assert list(zip(*lines, strict=True)) == [*document[:3], ("小 狗", "small dog")]


def test_weights_and_rules_of_one_call(trained_model: Path, document: Document) -> None:
    session = Session(hiero.Model.load(trained_model), STEPS)
    learn(session, document)
    line = document[0][0]
    without = session.translate(line, weights={CORRECTED: -1000.0})
    assert without.features.get(CORRECTED, 0) == 0 and without.weights[CORRECTED] == -1000
    rule = hiero.Rule("[X] ||| 狗 ||| hound ||| Mine=1")
    own = session.translate(hiero.Sentence("狗", rules=[rule]), weights={"Mine": 50.0})
    assert own.text == "hound" and own.weights["Mine"] == 50
    assert session.translate("狗", weights={CORRECTED: 1.0}).text


def test_threads_translate_while_one_learns(trained_model: Path, document: Document) -> None:
    session = Session(hiero.Model.load(trained_model), STEPS)
    errors: list[BaseException] = []
    ended = threading.Event()

    def translate() -> None:
        try:
            while not ended.is_set():
                for source, _ in document:
                    session.translate(source)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=translate) for _ in range(3)]
    for thread in threads:
        thread.start()
    learn(session, document)
    session.undo()
    ended.set()
    for thread in threads:
        thread.join()
    assert not errors
    alone = Session(hiero.Model.load(trained_model), STEPS)
    learn(alone, document)
    alone.undo()
    assert state(alone, document) == state(session, document)
