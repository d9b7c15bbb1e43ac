"""Tests of models that are replaced, and of the sessions that are open for requests."""

from __future__ import annotations

import dataclasses
import threading
from pathlib import Path

import pytest
from starlette.testclient import TestClient

import hiero
from hiero.adapt import LearningModel, Session
from hiero.adapt.session import context_path
from hiero.serve import contexts
from hiero.serve.catalogue import Catalogue, ServedModel
from hiero.serve.contexts import Contexts
from hiero.serve.work import NotYetError
from hiero.text import TextProcessing, TextSide

PAIR = "机器人 很 忙 。", "the robot is very busy ."
LATE = hiero.Deadline(0)


@pytest.fixture
def shared(model: Path) -> LearningModel:
    return LearningModel.open(model)


def test_the_oldest_unused_contexts_are_closed(
    shared: LearningModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contexts, "_MOST_OPEN", 2)
    opened = Contexts(shared, threading.Lock(), lambda line: None)
    with opened.use("a", LATE) as used:
        for name in ("b", "c", "d"):
            with opened.use(name, LATE) as session:
                session.correct(*PAIR)
        with opened.use("a", LATE) as again:
            assert again is used
        used.correct(*PAIR)
    for name, first in (("d", session), ("a", used)):
        with opened.use(name, LATE) as again:
            assert again is first
    with opened.use("b", LATE) as other:
        assert len(other.corrections) == 1
    with pytest.raises(ValueError, match="closed"):
        session.correct(*PAIR)  # of a, b and d, d was not used for longest
    used.correct(*PAIR)
    opened.close()
    assert shared.path is not None
    for name in "abcd":
        Session.open(shared.path, name).close()


def test_a_context_that_cannot_be_opened(shared: LearningModel) -> None:
    assert shared.path is not None
    opened = Contexts(shared, threading.Lock(), lambda line: None)
    with Session.open(shared.path, "anna") as session:
        session.correct(*PAIR)
        for _ in range(2):
            with pytest.raises(BlockingIOError), opened.use("anna", LATE):
                pass
    with opened.use("anna", LATE) as found:
        assert len(found.corrections) == 1
    opened.close()


def test_a_session_is_of_one_version_of_the_model(model: Path, shared: LearningModel) -> None:
    lines: list[str] = []
    opened = Contexts(shared, threading.Lock(), lines.append)
    with opened.use("anna", LATE) as session:
        session.correct(*PAIR)
        hiero.Model.load(model).with_weights({"WordPenalty": -0.5}).save(model)
        opened.replace_model(LearningModel.open(model))
        with pytest.raises(NotYetError, match="anna learns again"), opened.use("anna", LATE):
            pass
        found: list[Session] = []

        def wait() -> None:
            with opened.use("anna", hiero.Deadline(60)) as one:
                found.append(one)

        threads = [threading.Thread(target=wait) for _ in range(3)]
        for thread in threads:
            thread.start()
        session.correct(*PAIR)  # the journal is still of the model before
    for thread in threads:
        thread.join()
    assert len(set(map(id, found))) == 1 and found[0] is not session
    assert [one.id for one in found[0].corrections] == [1, 2]
    assert lines == ["learning again from 2 corrections: the model or settings changed"]
    assert found[0].weights["WordPenalty"] != session.weights["WordPenalty"]
    opened.close()
    # What was closed in the end is of the new model, so that it need not learn again.
    Session.open(model, "anna", report=lines.append).close()
    assert len(lines) == 1


def test_a_context_that_another_program_has_changed(model: Path, shared: LearningModel) -> None:
    opened = Contexts(shared, threading.Lock(), lambda line: None)
    with opened.use("anna", LATE) as session:
        with Session.open(model, "anna") as other:
            other.correct(*PAIR)
        with pytest.raises(BlockingIOError):
            session.correct(*PAIR)
        Session.open(model, "anna").close()  # the lock was given back
    with opened.use("anna", LATE) as again:
        assert [one.id for one in again.corrections] == [1]
        assert again.correct(*PAIR).id == 2
    context_path(model, "anna").unlink()
    with opened.use("anna", LATE) as empty:
        assert empty.corrections == [] and empty.correct(*PAIR).id == 1
    opened.close()


def test_one_context_learns_again_at_a_time(shared: LearningModel) -> None:
    long_work = threading.Lock()
    opened, other = (Contexts(shared, long_work, lambda line: None) for _ in range(2))
    with opened.use("anna", LATE) as session:
        session.correct(*PAIR)
        with long_work:
            with pytest.raises(NotYetError, match="another context learns again"):
                opened.undo("anna", 1, LATE)
            with pytest.raises(NotYetError, match="another context learns again"), other.use("ben", LATE):
                pass
            with opened.use("anna", LATE) as again:
                assert len(again.corrections) == 1
    assert opened.undo("anna", 1, hiero.Deadline()).id == 1
    with other.use("ben", LATE) as ben:
        assert ben.corrections == []
    opened.close()
    other.close()


def test_a_model_that_cannot_align_for_a_while(model: Path, trained_model: Path) -> None:
    able = hiero.Model.load(trained_model)
    with Session.open(model, "anna", {"c": 0.01}) as session:
        session.correct(*PAIR)
        rules = session.rule_count
    dataclasses.replace(able, learning=None).save(model)
    opened = Contexts(LearningModel.open(model), threading.Lock(), lambda line: None)
    with opened.use("anna", LATE) as session:
        assert session.rule_count == 0 < rules and not session.settings.rules
    able.save(model)
    opened.replace_model(LearningModel.open(model))
    with opened.use("anna", LATE) as session:
        assert session.rule_count == rules and session.settings.rules and session.settings.c == 0.01
    opened.close()


def load_again(served: ServedModel) -> None:
    served.refresh()
    if served._loader is not None:
        served._loader.join()


def test_each_version_is_loaded_once(model: Path) -> None:
    lines: list[str] = []
    catalogue = Catalogue({"zh-en": model}, lines.append)
    served, before = catalogue.model("zh-en"), catalogue.model().decoder
    content = (model / "manifest.json").read_bytes()
    (model / "manifest.json").write_bytes(b"{")
    for _ in range(3):
        load_again(served)
    assert len(lines) == 1 and "zh-en: cannot be loaded again" in lines[0] and served.decoder is before
    (model / "manifest.json").unlink()
    load_again(served)
    assert len(lines) == 1
    (model / "manifest.json").write_bytes(content)
    load_again(served)
    load_again(served)
    assert lines[1:] == ["zh-en: loaded again, as it was replaced"] and served.decoder is not before
    catalogue.close()


def test_looking_at_a_context_makes_no_file(client: TestClient, model: Path) -> None:
    assert client.get("/api/contexts/anna").json()["corrections"] == []
    assert client.post("/api/translate", json={"text": "狗", "context": "ben"}).status_code == 200
    assert not context_path(model, "anna").parent.exists()


def test_languages(trained_model: Path, tmp_path: Path) -> None:
    model = hiero.Model.load(trained_model)
    for name, languages in (
        ("ur-en", ("ur", "en")),
        ("my-new-model", ("und", "und")),
        ("model", ("und",) * 2),
    ):
        served = ServedModel(name, trained_model, threading.Lock(), print)
        assert (served.source, served.target) == languages
    text = TextProcessing(TextSide("moses", "de"), TextSide("moses", "fr"))
    dataclasses.replace(model, text=text).save(tmp_path / "model")
    served = ServedModel("ur-en", tmp_path / "model", threading.Lock(), print)
    assert (served.source, served.target) == ("de", "fr")
