"""The contexts of a model that requests use: one session for each, shared by threads and closed when nobody
needs it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from hiero._core import Deadline
from hiero.adapt import Correction, LearningModel, Session
from hiero.base.locks import LOOK_EVERY, held
from hiero.serve.work import NotYetError

_MOST_OPEN = 64  # contexts; of more, those not used for longest are closed


@dataclass
class _OpenContext:
    model: LearningModel
    session: Session | None = None  # None while a thread opens it
    users: int = 1


class Contexts:
    """Open sessions by context. Any number of threads may use them.

    Whatever learns again from many corrections holds ``long_work`` meanwhile, so that not all threads of a
    server do.
    """

    def __init__(
        self, model: LearningModel, long_work: threading.Lock, report: Callable[[str], object]
    ) -> None:
        self._report = report
        self._model = model
        self._long_work = long_work
        self._open: OrderedDict[str, _OpenContext] = OrderedDict()
        self._changed = threading.Condition()

    def replace_model(self, model: LearningModel) -> None:
        """Lets all sessions from now on be of another version of the model."""
        with self._changed:
            self._model = model
            self._close_unused()

    @contextmanager
    def use(self, context: str, deadline: Deadline) -> Iterator[Session]:
        """Yields the session of a context, which stays open meanwhile.

        A context that has to learn again, because the model was replaced, does so for as long as it takes.
        Others that wait for it, or for the last request with the model before, wait until their deadline. A
        context whose file another process has changed is opened anew. Raises NotYetError, and what
        ``Session.open`` raises.
        """
        used = self._take(context, deadline)
        try:
            if used.session is None:
                only_weights = used.model.words is None
                with self._alone(deadline):
                    used.session = Session.open(
                        used.model, context, only_weights=only_weights, report=self._report
                    )
                with self._changed:
                    self._changed.notify_all()
            yield used.session
        finally:
            with self._changed:
                used.users -= 1
                if used.session is None:
                    del self._open[context]
                self._close_unused()
                self._changed.notify_all()

    def undo(self, context: str, number: int | None, deadline: Deadline) -> Correction:
        """Forgets a correction, for as long as that takes; see ``Session.undo``. Raises NotYetError."""
        with self.use(context, deadline) as session, self._alone(deadline):
            return session.undo(number)

    def _alone(self, deadline: Deadline) -> AbstractContextManager[None]:
        """Waits until nothing else learns again. Raises NotYetError if the deadline passes before."""
        late = NotYetError("another context learns again: try again in a moment")
        return held(self._long_work, deadline, late)

    def _take(self, context: str, deadline: Deadline) -> _OpenContext:
        """Returns an open context, or a new one that is to be opened."""
        with self._changed:
            while (opened := self._open.get(context)) is not None:
                if self._is_current(opened):
                    opened.users += 1
                    self._open.move_to_end(context)
                    return opened
                if opened.session is not None and opened.users == 0:
                    self._close(context)
                    continue
                if deadline.passed:
                    raise NotYetError(f"the context {context} learns again: try again in a moment")
                self._changed.wait(LOOK_EVERY)
            self._open[context] = _OpenContext(self._model)
            return self._open[context]

    def _is_current(self, opened: _OpenContext) -> bool:
        return opened.session is not None and opened.model is self._model and opened.session.is_current

    def _close_unused(self) -> None:
        """Closes sessions that no request uses: those that are not current, and the oldest of too many."""
        unused = [name for name, opened in self._open.items() if opened.users == 0]
        too_many = len(self._open) - _MOST_OPEN
        for number, name in enumerate(unused):
            if number < too_many or not self._is_current(self._open[name]):
                self._close(name)

    def _close(self, context: str) -> None:
        session = self._open.pop(context).session
        assert session is not None
        session.close()

    def close(self) -> None:
        """Closes all sessions; no request may use one any more."""
        with self._changed:
            for context in list(self._open):
                self._close(context)
