"""Systems that benchmarks of decoding measure: rules, weights, and language models of two kinds."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

import hiero
from hiero.base.tables import pack
from hiero.train import estimate_lm

# Test set and reference of the corpora that have a prepared system.
PREPARED = {"ja-en": ("test.ja", "test.en"), "de-en": ("test2016.de", "test2016.en")}
# The same of corpora for which a model is to be trained.
TRAINED = {"ur-en": ("test.ur", "test.en.0"), "es-en": ("test.es", "test.en.0")}


class System:
    """Paths of packed rules, of weights, and of two language models with the same probabilities.

    ``binary`` has the rest costs that ``hiero lm`` makes, ``plain`` has none. ``source``, of the file
    ``source_file``, and ``reference`` are lines of the test set.
    """

    def __init__(self, data: Path, corpus: str, scratch: Path, model: Path | None = None) -> None:
        """Unpacks a prepared system into ``scratch``, or takes rules and weights of a trained ``model``."""
        self.corpus = corpus
        self.folder = data / corpus
        self.grammar = self.folder / "system" / "grammar.gz"
        self.packed = scratch / f"{corpus}.hrt"
        self.arpa = scratch / f"{corpus}.arpa"
        self.plain = scratch / f"{corpus}.plain"
        self.binary = scratch / f"{corpus}.binary"
        text = self.folder / "train.en"
        if model is None:
            self.weights = self.folder / "system" / "weights.txt"
            with gzip.open(self.folder / "system" / "lm.arpa.gz") as packed, self.arpa.open("wb") as plain:
                shutil.copyfileobj(packed, plain)
            pack(self.grammar, self.packed)
        else:
            self.weights = model / "weights.txt"
            shutil.copyfile(model / "rules0.hrt", self.packed)
            estimate_lm([text], self.arpa)
        hiero.LanguageModel.write_binary(str(self.arpa), str(self.plain))
        estimate_lm([text], self.binary)
        source, reference = (PREPARED | TRAINED)[corpus]
        self.source_file = self.folder / source
        self.source = self.source_file.read_text(encoding="utf-8").splitlines()
        self.reference = (self.folder / reference).read_text(encoding="utf-8").splitlines()

    def model(self) -> hiero.Model:
        """Returns the system with rest costs."""
        return hiero.Model.assemble([self.packed], [self.binary], self.weights)
