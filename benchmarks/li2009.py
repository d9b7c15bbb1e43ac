"""`hiero experiment li2009` on two corpora.

    python benchmarks/li2009.py ../shared/data OUTPUT [--corpora ja-en] [--threads 2]

trains a model for each corpus and runs the experiment; its table is in OUTPUT/CORPUS/li2009/tables.md. The
second stage learns from 20,000 sentences of ja-en, and from all of ur-en, three times as well. Tests are on
the test set, and on the last pairs of the bitext of ja-en or of the tuning set of ur-en, which are held out.
The pop limit is 50, and forests have 1,000 edges. What is done is kept: started again, it goes on where it
was interrupted.
"""

from __future__ import annotations

import json
from pathlib import Path

from corpora import CORPORA, name_of, run

USED = ("ja-en", "ur-en")
POP_LIMIT = 50
EDGES = 1000


def configure(data: Path, name: str, path: Path) -> None:
    """Writes the configuration of the experiment."""
    corpus, folder = CORPORA[name], path.parent.absolute()
    own = corpus.data(data.absolute())
    tuning, test = [[own / part for part in parts] for parts in (corpus.tuning, corpus.test)]
    held_out = [folder / name_of("held-out", k) for k in range(len(corpus.tuning))]
    if corpus.held == "tuning set":
        tuning = [folder / name_of("tuning", k) for k in range(len(corpus.tuning))]
    bitext = {"source": folder / "train.source", "target": folder / "train.target"}
    with path.open("w", encoding="utf-8") as file:
        file.write('model = "model"\nlarge_runs = 3\n')
        for head, label, (source, *references) in (
            ("[tuning]", "tuning", tuning),
            ("[[test]]", "test", test),
            ("[[test]]", "held out", held_out),
        ):
            file.write(f"\n{head}\nname = {json.dumps(label)}\nsource = {json.dumps(str(source))}\n")
            file.write(f"references = {json.dumps([str(path) for path in references])}\n")
        file.write("\n[bitext]\n")
        file.writelines(f"{side} = {json.dumps(str(path))}\n" for side, path in bitext.items())
        if "--dictionary" in corpus.training:
            begin = corpus.training.index("--dictionary") + 1
            files = [str(own / part) for part in corpus.training[begin : begin + 2]]
            file.write(f"dictionary = {json.dumps(files)}\n")
        file.write(f"\n[decoding]\npop_limit = {POP_LIMIT}\n")
        file.write(f"\n[risk]\nedges = {EDGES}\n")
        file.write(f"\n[second]\nsentences = {20_000 if name == 'ja-en' else 0}\n")


if __name__ == "__main__":
    run("li2009", __doc__, USED, configure)
