"""The models that a server has, by name, with the contexts in which they learn from corrections.

A model whose directory was replaced is loaded again in the background, and takes the place of the one before
when it is there. What runs goes on with the one that it has, whose files stay mapped.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from hiero.adapt import LearningModel
from hiero.base.ownership import MANIFEST
from hiero.decode.decoder import Decoder
from hiero.serve.contexts import Contexts


class UnknownNameError(LookupError):
    """A name that is of no model, or a language pair that none translates."""


class ServedModel:
    """A model directory with its languages and its open contexts. Any number of threads may use it."""

    def __init__(
        self, name: str, path: Path, long_work: threading.Lock, report: Callable[[str], object]
    ) -> None:
        """Loads the model. ``long_work`` is that of ``Contexts``. Raises FormatError, OSError."""
        self.name = name
        self.path = path
        self._report = report
        # Before the files: what is replaced meanwhile is loaded again.
        self._version = self._version_on_disk()
        self._model = LearningModel.open(path)
        self.contexts = Contexts(self._model, long_work, lambda line: report(f"{name}: {line}"))
        self._lock = threading.Lock()
        self._loader: threading.Thread | None = None

    @property
    def decoder(self) -> Decoder:
        return self._model.decoder

    @property
    def source(self) -> str:
        return self._language(0, self.decoder.model.text.source.language)

    @property
    def target(self) -> str:
        return self._language(1, self.decoder.model.text.target.language)

    def _language(self, side: int, stated: str) -> str:
        """Returns the language that the model states, or else the one in its name, such as de in de-en."""
        pair = re.fullmatch(r"([a-z]{2,3})[-_]([a-z]{2,3})", self.name)
        return stated if stated != "und" or pair is None else pair[side + 1]

    def refresh(self) -> None:
        """Begins to load the model again if its directory was replaced. Each version is tried once."""
        try:
            version = self._version_on_disk()
        except OSError:  # there is none now, or not yet
            return
        with self._lock:
            if version == self._version or (self._loader and self._loader.is_alive()):
                return
            self._version = version
            self._loader = threading.Thread(target=self._load_again)
            self._loader.start()

    def _load_again(self) -> None:
        try:
            self._model = LearningModel.open(self.path)
        except Exception as error:  # the one that is loaded goes on
            self._report(f"{self.name}: cannot be loaded again: {error}")
        else:
            self.contexts.replace_model(self._model)
            self._report(f"{self.name}: loaded again, as it was replaced")

    def _version_on_disk(self) -> tuple[int, int]:
        status = (self.path / MANIFEST).stat()
        return status.st_ino, status.st_mtime_ns

    def close(self) -> None:
        """Closes the files of all contexts."""
        if self._loader is not None:
            self._loader.join()
        self.contexts.close()


class Catalogue:
    """Models by name. Any number of threads may use it."""

    def __init__(self, paths: Mapping[str, Path], report: Callable[[str], object]) -> None:
        """Loads the models. Raises FormatError, OSError."""
        long_work = threading.Lock()
        self._models = {
            name: ServedModel(name, path.absolute(), long_work, report) for name, path in paths.items()
        }

    def __iter__(self) -> Iterator[ServedModel]:
        return iter(self._models.values())

    def model(self, name: str | None = None) -> ServedModel:
        """Returns a model, the first one by default. Raises UnknownNameError."""
        name = next(iter(self._models)) if name is None else name
        if name not in self._models:
            raise UnknownNameError(f"no model {name}: expected one of {', '.join(self._models)}")
        self._models[name].refresh()
        return self._models[name]

    def pair(self, source: str, target: str) -> ServedModel:
        """Returns the first model of a language pair; the source may be "auto". Raises UnknownNameError.

        Regions do not count, as in en-US, unless there is a model for them.
        """
        for is_same in (_is_same_language, _has_same_primary_language):
            for model in self:
                if is_same(model.target, target) and (
                    source in ("auto", "") or is_same(model.source, source)
                ):
                    return self.model(model.name)
        pairs = ", ".join(f"{model.source}-{model.target}" for model in self)
        raise UnknownNameError(f"no model translates {source} to {target}: expected one of {pairs}")

    def without_paths(self, text: str) -> str:
        """Returns a message with names of models in place of paths of the server."""
        for model in self:
            for root in (model.path, model.path.resolve()):
                text = text.replace(str(root), model.name)
        return text

    def close(self) -> None:
        for model in self:
            model.close()


def _is_same_language(one: str, other: str) -> bool:
    return one.lower() == other.lower()


def _has_same_primary_language(one: str, other: str) -> bool:
    first, second = (re.split("[-_]", code)[0] for code in (one, other))
    return _is_same_language(first, second)
