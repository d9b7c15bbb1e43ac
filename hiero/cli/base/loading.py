"""`--load MODULE:NAME`: local features and rule generators written by users, for commands that open a model.

The name stands for an object with the methods of ``hiero.features.LocalFeatures`` or of
``hiero.generators.RuleGenerator``, a list or tuple of such objects, or a class or function that makes one of
these without arguments. Only the command line can name modules to import; files cannot.
"""

from __future__ import annotations

import difflib
import importlib
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, TypedDict, TypeVar

import typer

from hiero import Error, Model
from hiero.decode.model_directory import ModelFile, abbreviated, read_config
from hiero.features.protocols import LocalFeatures
from hiero.generators.protocol import RuleGenerator

LOAD_METAVAR = "MODULE:NAME"
LOAD = "Python object with features or rule generators that the model was saved with; repeatable."
Load = Annotated[list[str] | None, typer.Option(metavar=LOAD_METAVAR, help=LOAD)]

T = TypeVar("T")
_KINDS = ("by_span", "by_gap", "by_rule")


class LoadedParts(TypedDict):
    """Arguments of ``Model.load`` for features and generators in Python."""

    local_features: list[LocalFeatures]
    generators: list[RuleGenerator]


def load_model(path: Path, load: Sequence[str] | None, weights: Path | None = None) -> Model:
    """Opens a model directory with the objects that ``--load`` names. Raises as ``loaded_parts`` and
    ``Model.load`` do."""
    return Model.load(path, weights=weights, **loaded_parts(path, load))


def loaded_parts(path: Path, load: Sequence[str] | None) -> LoadedParts:
    """Imports the objects that ``--load`` names for the model in this directory.

    Raises Error for names that cannot be imported, for objects of another kind, and for features and
    generators that the model does not have or that were named before; typer.BadParameter for a malformed
    name.
    """
    loaded = LoadedParts(local_features=[], generators=[])
    if not load:
        return loaded
    model = _SavedParts(path, read_config(path))
    for text in load:
        for part in _guarded(text, lambda text=text: _parts(text)):  # type: ignore[misc]
            if _is_local(part):
                model.check_features(text, part)
                loaded["local_features"].append(part)
            if _is_generator(part):
                model.check_generator(text, part)
                loaded["generators"].append(part)
    return loaded


class _SavedParts:
    """The features and generators of a model directory, and the options that have loaded them."""

    def __init__(self, path: Path, config: ModelFile) -> None:
        self._path = path
        self._features = {name for part in config.local_features for name in part.names}
        self._generators = {part.name: set(part.features) for part in config.generators}
        # The text of the option by the name of the feature or generator.
        self._loaded: dict[str, str] = {}

    def check_features(self, text: str, part: LocalFeatures) -> None:
        self._check(text, "local features", part.names, self._features)
        self._take(text, part.names)

    def check_generator(self, text: str, part: RuleGenerator) -> None:
        self._check(text, "rule generator", [part.name], self._generators)
        self._check(text, f"features of {part.name}", part.features, self._generators[part.name])
        self._take(text, [part.name])

    def _check(
        self, text: str, kind: str, names: Sequence[str], available: set[str] | dict[str, Any]
    ) -> None:
        if unknown := [name for name in names if name not in available]:
            others = f"but {abbreviated(sorted(available))}" if available else "and none at all"
            raise _refused(text, f"{self._path} has no {kind} {abbreviated(unknown)}, {others}")

    def _take(self, text: str, names: Sequence[str]) -> None:
        for name in names:
            if name in self._loaded:
                raise _refused(text, f"{name} is given by --load {self._loaded[name]}")
        self._loaded.update(dict.fromkeys(names, text))


def _parts(text: str) -> list[Any]:
    """Returns the features and generators that a name stands for."""
    module, colon, name = text.partition(":")
    words = [*module.split("."), *name.split(".")]
    if not colon or not all(map(str.isidentifier, words)) or module.endswith(".py"):
        raise typer.BadParameter(
            f"--load {text}: expected {LOAD_METAVAR}, as own:InQuotes for InQuotes of own.py"
        )
    value = _named(text, module, name)
    if isinstance(value, type) or (callable(value) and not _is_part(value)):
        value = value()
    parts = list(value) if isinstance(value, list | tuple) else [value]
    for part in parts:
        if isinstance(part, type) or not _is_part(part):
            raise _refused(
                text,
                f"expected names and one of {', '.join(_KINDS)}, or name, features and rules, found {part!r}",
            )
        _check_texts(text, part)
    if not parts:
        raise _refused(text, "names neither features nor generators")
    return parts


def _named(text: str, module: str, name: str) -> Any:
    """Imports an object, also from the current folder, as `python -m` does."""
    if not sys.flags.safe_path and os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        value: Any = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise  # a module that the named one imports
        folder = "" if sys.flags.safe_path else " in this folder or"
        raise _refused(text, f"no module {error.name}{folder} where Python looks") from None
    for word in name.split("."):
        if not hasattr(value, word):
            near = difflib.get_close_matches(word, vars(value)) if hasattr(value, "__dict__") else []
            place = getattr(value, "__file__", None) or module
            raise _refused(text, f"{place} has no {word}" + (f": is it {', '.join(near)}?" if near else ""))
        value = getattr(value, word)
    return value


def _is_part(value: object) -> bool:
    return _is_local(value) or _is_generator(value)


def _is_local(value: object) -> bool:
    return hasattr(value, "names") and any(hasattr(value, kind) for kind in _KINDS)


def _is_generator(value: object) -> bool:
    return all(hasattr(value, name) for name in ("name", "features", "rules"))


def _check_texts(text: str, part: Any) -> None:
    several = {"names": part.names} if _is_local(part) else {}
    if _is_generator(part):
        several["features"] = part.features
        if not isinstance(part.name, str):
            raise _refused(text, f"name: expected a string, found {part.name!r}")
    for what, names in several.items():
        if (
            not isinstance(names, Sequence)
            or isinstance(names, str)
            or not all(isinstance(name, str) for name in names)
        ):
            raise _refused(text, f"{what}: expected several strings, found {names!r}")


def _guarded(text: str, work: Callable[[], T]) -> T:
    """Turns an exception of the user's code into an Error of one line with its place."""
    try:
        return work()
    except (Error, typer.BadParameter):
        raise
    except (Exception, SystemExit) as error:
        raise _refused(text, f"{_place(error)}{type(error).__name__}: {_message(error)}") from None


def _place(error: BaseException) -> str:
    """Returns file and line of the code that raised an exception, or that has wrong syntax."""
    if isinstance(error, SyntaxError):
        return f"{error.filename}:{error.lineno}: "
    frames: Iterator[traceback.FrameSummary] = reversed(traceback.extract_tb(error.__traceback__))
    return next((f"{f.filename}:{f.lineno}: " for f in frames if not f.filename.startswith("<")), "")


def _message(error: BaseException) -> str:
    return error.msg if isinstance(error, SyntaxError) else str(error)


def _refused(text: str, why: str) -> Error:
    return Error(f"--load {text}: {why}")
