"""The models that a server has, by name, with the contexts in which they learn from corrections.

A model whose directory was replaced is loaded again when it is asked for next. What runs meanwhile goes on
with the one that it has, whose files stay mapped.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hiero.base.ownership import MANIFEST
from hiero.decode.decoder import Decoder
from hiero.decode.model import Model

if TYPE_CHECKING:
    from hiero.adapt import Session

_OPEN_CONTEXTS = 64  # of a model; of more, those not used for longest are closed


class UnknownNameError(LookupError):
    """A name that is of no model, or a language pair that none translates."""


@dataclass
class ServedModel:
    """A model with its languages and its open contexts."""

    name: str
    path: Path
    decoder: Decoder
    version: tuple[int, int]
    _sessions: OrderedDict[str, Session] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def source(self) -> str:
        return self._language(0, self.decoder.model.text.source.language)

    @property
    def target(self) -> str:
        return self._language(1, self.decoder.model.text.target.language)

    def _language(self, side: int, stated: str) -> str:
        """Returns the language that the model states, or else the one in its name, such as de in de-en."""
        pair = re.search(r"(?<![a-z])([a-z]{2,3})[-_]([a-z]{2,3})(?![a-z])", self.name)
        return stated if stated != "und" or pair is None else pair[side + 1]

    def session(self, context: str) -> Session:
        """Returns the session of a context, which is opened if it is not. Raises what ``Session.open``
        raises."""
        from hiero.adapt import Session

        with self._lock:
            if context not in self._sessions:
                settings = {} if self.decoder.model.learning else {"rules": False}
                self._sessions[context] = Session.open(self.path, context, settings, decoder=self.decoder)
            self._sessions.move_to_end(context)
            while len(self._sessions) > _OPEN_CONTEXTS:
                self._sessions.popitem(last=False)[1].close()
            return self._sessions[context]

    def close(self) -> None:
        """Closes the files of all contexts."""
        with self._lock:
            while self._sessions:
                self._sessions.popitem()[1].close()


class Catalogue:
    """Models by name. Any number of threads may use it."""

    def __init__(self, paths: Mapping[str, Path], report: Callable[[str], object]) -> None:
        """Loads the models. Raises FormatError, OSError."""
        self._report = report
        self._paths = {name: path.absolute() for name, path in paths.items()}
        self._models = {name: self._load(name) for name in self._paths}
        self._lock = threading.Lock()

    def _load(self, name: str) -> ServedModel:
        path = self._paths[name]
        version = self._version(name)  # before the files: what is replaced meanwhile is loaded again
        return ServedModel(name, path, Decoder(Model.load(path)), version)

    def _version(self, name: str) -> tuple[int, int]:
        status = (self._paths[name] / MANIFEST).stat()
        return status.st_ino, status.st_mtime_ns

    def names(self) -> list[str]:
        return list(self._paths)

    def model(self, name: str | None = None) -> ServedModel:
        """Returns a model, the first one by default. Raises UnknownNameError."""
        name = next(iter(self._paths)) if name is None else name
        if name not in self._paths:
            raise UnknownNameError(f"no model {name}: expected one of {', '.join(self._paths)}")
        with self._lock:
            try:
                if self._version(name) != self._models[name].version:
                    model = self._load(name)
                    self._models[name].close()
                    self._models[name] = model
                    self._report(f"{name}: loaded again, as it was replaced")
            except Exception as error:  # the one that is loaded goes on
                self._report(f"{name}: cannot be loaded again: {error}")
            return self._models[name]

    def pair(self, source: str, target: str) -> ServedModel:
        """Returns the first model of a language pair; the source may be "auto". Raises UnknownNameError."""
        for name in self._paths:
            model = self._models[name]
            if target == model.target and source in ("auto", "", model.source):
                return self.model(name)
        pairs = ", ".join(f"{model.source}-{model.target}" for model in self._models.values())
        raise UnknownNameError(f"no model translates {source} to {target}: expected one of {pairs}")

    def without_paths(self, text: str) -> str:
        """Returns a message with names of models in place of paths of the server."""
        for name, path in self._paths.items():
            for root in (path, path.resolve()):
                text = text.replace(f"{root}.contexts", f"{name}.contexts").replace(str(root), name)
        return text

    def close(self) -> None:
        for model in self._models.values():
            model.close()
