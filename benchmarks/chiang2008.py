"""`hiero experiment chiang2008` on four corpora.

    python benchmarks/chiang2008.py ../shared/data OUTPUT [--corpora en-de] [--threads 2]

trains a model for each corpus and runs the experiment; its tables are in OUTPUT/CORPUS/chiang2008/tables.md.
Sets that are held out are the last pairs of the bitext where there is one reference, else the last sentences
of the tuning set, and on the demo corpus others of the same grammar. Parses of held-out English are by
`hiero parse`. Started again, it goes on where it was interrupted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from corpora import CORPORA, name_of, run

# A third of the time of 200, for 0.04 less of the model's score a sentence on en-de.
POP_LIMIT = 50
# Settings by corpus; small tuning sets need more passes.
SETTINGS: dict[str, Mapping[str, object]] = {
    "en-de": {},
    "demo": {
        "coarse_labels": ["NP", "VP", "IP", "PP", "QP", "ADJP", "DP", "CP"],
        "fine_labels": ["NP", "VP", "IP", "PP", "QP", "ADJP", "DP", "CP", "LCP", "ADVP", "DNP"],
    },
    "ja-en": {},
    "ur-en": {},
}
MIRA: dict[str, Mapping[str, object]] = {
    "en-de": {},
    "demo": {"iterations": 40, "patience": 8},
    "ja-en": {"iterations": 20, "patience": 5},
    "ur-en": {"iterations": 30, "patience": 5},
}


def configure(data: Path, name: str, path: Path) -> None:
    """Writes the configuration of the experiment."""
    corpus, folder = CORPORA[name], path.parent.absolute()
    data = corpus.data(data)
    tuning = [data.absolute() / name for name in corpus.tuning]
    if corpus.held == "tuning set":
        tuning = [folder / name_of("tuning", k) for k in range(len(tuning))]
    held_out = [folder / name_of("held-out", k) for k in range(len(tuning))]
    sets = {
        "[tuning]": ("tuning", tuning, f"{tuning[0]}.parse"),
        "[held_out]": (
            "held out",
            held_out[: 2 if corpus.held == "bitext" else None],
            folder / "held-out.parse",
        ),
        "[[test]]": (
            "test",
            [data.absolute() / name for name in corpus.test],
            data.absolute() / f"{corpus.test[0]}.parse",
        ),
    }
    with path.open("w", encoding="utf-8") as file:
        file.write('model = "model"\n')
        file.writelines(f"{key} = {json.dumps(value)}\n" for key, value in SETTINGS[name].items())
        file.write("\n[mira]\n")
        file.writelines(f"{key} = {json.dumps(value)}\n" for key, value in MIRA[name].items())
        file.write(f"\n[decoding]\npop_limit = {POP_LIMIT}\n")
        for head, (name, (source, *references), trees) in sets.items():
            file.write(f"\n{head}\nname = {json.dumps(name)}\nsource = {json.dumps(str(source))}\n")
            file.write(f"references = {json.dumps([str(path) for path in references])}\n")
            if corpus.parses:
                file.write(f"parses = {json.dumps(str(trees))}\n")


if __name__ == "__main__":
    run("chiang2008", __doc__, list(SETTINGS), configure)
