"""A session: a model that learns from corrections, for one user or one document."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from hiero._core import Deadline, FormatError, Translation
from hiero.adapt.adapted_decoder import AdaptedDecoder, Correction, Text, tokens_of
from hiero.adapt.journal import Journal, Record, read_records
from hiero.adapt.learning_model import LearningModel
from hiero.adapt.settings import AdaptSettings
from hiero.base.files import write_atomically
from hiero.base.locks import held
from hiero.decode.decoder import Decoder, Keep, Source
from hiero.decode.model import Model, PathLike
from hiero.features.sentence import Sentence

_FORMAT = 1
_NAME = re.compile(r"[\w-][\w.-]*")
_LONGEST_NAME = 64  # bytes, which leaves room in names of files


def context_path(model: PathLike, context: str) -> Path:
    """Returns the file of a context of a model. Raises ValueError for a name that is none: letters, digits,
    and inside ``.``, ``-`` and ``_``, at most 64 bytes in UTF-8."""
    if not _NAME.fullmatch(context) or len(context.encode()) > _LONGEST_NAME:
        raise ValueError(f"context {context!r}: expected up to 64 letters, digits, '-', '_' and '.'")
    path = Path(os.path.abspath(model))
    return path.with_name(f"{path.name}.contexts") / f"{context}.journal"


class Session:
    """A model that learns from corrections (Denkowski et al. 2014).

    Each correction is aligned with what the model's training learned, its rules join a table beside the
    model's, and one step of online MIRA moves the weights. Any number of threads may use a session.

    >>> session = Session(Model.load("model"))  # doctest: +SKIP
    >>> session.correct("je ne sais pas", "i do not know")  # doctest: +SKIP
    """

    def __init__(self, model: Model | LearningModel, settings: AdaptSettings | None = None) -> None:
        """Begins a session without corrections, which no file keeps; ``open`` has one with a file.

        Raises Error for a model that cannot learn rules, because its training was not aligned by hiero, if
        ``settings`` ask for these.
        """
        self._learning_model = model if isinstance(model, LearningModel) else LearningModel(Decoder(model))
        self.model = self._learning_model.decoder.model
        self.settings = settings or AdaptSettings()
        self._journal: Journal | None = None
        self._header: Record | None = None  # to be written before the first record
        self._is_open = True
        self._adapted = AdaptedDecoder(self._learning_model, self.settings)
        self._next = 1  # the number of the next correction
        self._learning = threading.Lock()

    @classmethod
    def open(
        cls,
        model: PathLike | LearningModel,
        context: str,
        settings: Mapping[str, Any] | None = None,
        *,
        only_weights: bool = False,
        report: Callable[[str], object] = lambda line: None,
    ) -> Self:
        """Opens the session of a context of a model directory, whose file is in MODEL.contexts beside it.

        The file is made with the first correction. ``model`` may be what ``LearningModel.open`` returned,
        which sessions then share.

        The session goes on after the corrections that it had, with the settings that it had but for those of
        ``AdaptSettings`` that ``settings`` names. With ``only_weights``, it learns no rules all the same. If
        the model or a setting has changed, it learns from all of them again, and ``report`` is told so.
        Raises OSError, also if another process uses the context; FormatError for a damaged file; ValueError
        for a context whose name is none.
        """
        loaded = model if isinstance(model, LearningModel) else LearningModel.open(model)
        if loaded.path is None:
            raise ValueError("a context is of a model directory: use LearningModel.open")
        journal = Journal(context_path(loaded.path, context))
        try:
            recorded = _Recorded.read(journal.path, journal.read())
            chosen = AdaptSettings(**{**recorded.settings, **(settings or {})})
            session = cls(loaded, chosen.model_copy(update={"rules": False}) if only_weights else chosen)
            session._restore(journal, recorded, chosen, report)
        except BaseException:
            journal.close()
            raise
        return session

    def _restore(
        self,
        journal: Journal,
        recorded: _Recorded,
        chosen: AdaptSettings,
        report: Callable[[str], object],
    ) -> None:
        """Goes on with what a journal has recorded, and with the journal."""
        self._next = recorded.next
        learner = {
            "format": _FORMAT,
            "model": self._learning_model.checksum,
            "settings": chosen.model_dump(),
            "decoding": self._learning_model.decoder.settings.model_dump(),
        }
        if self.settings != chosen:
            learner["only_weights"] = True
        corrections = recorded.corrections
        if recorded.learner == learner:
            for correction in corrections:
                self._adapted.apply(correction)
        else:
            if corrections:
                report(f"learning again from {len(corrections):,} corrections: the model or settings changed")
            for correction in corrections:
                self._adapted.apply(self._adapted.update(correction.id, correction.source, correction.target))
            records = [correction.to_record() for correction in self._adapted.corrections]
            header = {"learner": learner, "next": self._next, "corrections": records}
            if corrections:
                journal.append(header)
            else:
                self._header = header
        self._journal = journal

    def close(self) -> None:
        """Closes the file of the context. The session translates on, and learns no more."""
        with self._learning:
            self._is_open = False
            if self._journal is not None:
                self._journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def is_current(self) -> bool:
        """Whether the session has all that the file of its context has, which another process may change
        unless the session has corrections."""
        return self._journal is None or self._journal.is_current

    @property
    def weights(self) -> dict[str, float]:
        """The weights by feature name, with those of features of corrections."""
        return self._adapted.weights

    @property
    def corrections(self) -> list[Correction]:
        """The corrections that the session has learned from, in order."""
        return list(self._adapted.corrections)

    @property
    def rule_count(self) -> int:
        """The number of different rules of the corrections."""
        return self._adapted.rule_count

    def resolve(
        self, source: Source, weights: Mapping[str, float] | None = None
    ) -> tuple[Decoder, Sentence, dict[str, float]]:
        """Returns the decoder with the learned weights, the sentence with its learned rules, and the weights
        for ``Decoder.translate``, over which ``weights`` are merged."""
        return self._adapted.resolve(source, weights or {})

    def translate(
        self,
        source: Source,
        *,
        keep: Keep = "none",
        weights: Mapping[str, float] | None = None,
        deadline: Deadline | None = None,
    ) -> Translation:
        """Translates one sentence by what was learned; see ``Decoder.translate``."""
        decoder, sentence, merged = self.resolve(source, weights)
        return decoder.translate(sentence, keep=keep, weights=merged, deadline=deadline)

    def correct(self, source: Text, target: Text, *, deadline: Deadline | None = None) -> Correction:
        """Learns from a correct translation of a sentence, and returns what was learned.

        Each is raw text, or its tokens. When the call returns, a session with a file has it there. Raises
        ValueError for texts without words, and for a session that is closed; OSError if the file cannot be
        written, TimeoutError if the deadline passes before, and then learns nothing.
        """
        with held(self._learning, deadline, TimeoutError("the context is learning something else")):
            self._check(source, target)
            correction = self._adapted.update(self._next, source, target, deadline)
            self._record(correction.to_record())
            self._adapted.apply(correction)
            self._next += 1
        return correction

    def undo(self, number: int | None = None) -> Correction:
        """Forgets a correction, given by its ``id``, or the last one, and returns it.

        Everything is then as if it had not been made: the session learns again from those behind it. Raises
        ValueError if there is no such correction; OSError, and then forgets nothing.
        """
        with self._learning:
            kept = self.corrections
            places = [place for place, one in enumerate(kept) if number in (None, one.id)]
            if not places:
                raise ValueError("no corrections" if number is None else f"no correction {number}")
            undone = kept.pop(places[-1])
            adapted = AdaptedDecoder(self._learning_model, self.settings)
            for correction in kept[: places[-1]]:
                adapted.apply(correction)
            for correction in kept[places[-1] :]:
                adapted.apply(adapted.update(correction.id, correction.source, correction.target))
            later = [correction.to_record() for correction in adapted.corrections[places[-1] :]]
            self._record({"undone": undone.id, "corrections": later})
            self._adapted = adapted
        return undone

    def write_bitext(self, source: PathLike, target: PathLike) -> None:
        """Writes the corrections as two files of lines, to train on."""
        write_bitext(self.corrections, source, target)

    def _check(self, source: Text, target: Text) -> None:
        text = self.model.text
        for name, words, side in (("source", source, text.source), ("target", target, text.target)):
            if not tokens_of(words, side):
                raise ValueError(f"{name}: no words")

    def _record(self, record: Record) -> None:
        if not self._is_open:
            raise ValueError("the session is closed")
        if self._journal is None:
            return
        if self._header is not None:
            self._journal.append(self._header)
            self._header = None
        self._journal.append(record)


def read_corrections(model: PathLike, context: str) -> list[Correction]:
    """Reads the corrections of a context, which a process may be using. Raises FormatError, OSError,
    ValueError."""
    path = context_path(model, context)
    return _Recorded.read(path, read_records(path)).corrections


def write_bitext(corrections: Iterable[Correction], source: PathLike, target: PathLike) -> None:
    """Writes corrections as two files of lines, to train on; tokens have blanks between them."""
    kept = list(corrections)
    sides = [correction.source for correction in kept], [correction.target for correction in kept]
    for path, texts in zip((source, target), sides, strict=True):
        lines = (" ".join((text if isinstance(text, str) else " ".join(text)).split()) for text in texts)
        write_atomically(path, "".join(f"{line}\n" for line in lines))


@dataclass
class _Recorded:
    """The state that a journal has recorded: the model and settings of the corrections, and the number of the
    next one."""

    learner: Any = None
    corrections: list[Correction] = field(default_factory=list)
    next: int = 1

    @property
    def settings(self) -> dict[str, Any]:
        return {} if self.learner is None else self.learner["settings"]

    @classmethod
    def read(cls, path: Path, records: Sequence[Record]) -> Self:
        """Goes through the records of a journal. Raises FormatError, naming the line, for what is no record
        of a context."""
        recorded = cls()
        for number, record in enumerate(records, start=1):
            try:
                recorded._add(record)
            except (KeyError, TypeError, ValueError):
                raise FormatError(f"{path}:{number}: no record of a context") from None
        return recorded

    def _add(self, record: Record) -> None:
        if "learner" in record:
            self.learner, self.next = record["learner"], record["next"]
            AdaptSettings(**self.learner["settings"])
            self.corrections = []
        elif "undone" in record:
            place = [correction.id for correction in self.corrections].index(record["undone"])
            del self.corrections[place:]
        else:
            self.corrections.append(Correction.from_record(record))
            self.next = self.corrections[-1].id + 1
        self.corrections += map(Correction.from_record, record.get("corrections", ()))
