"""README's recipe for one's own data, word by word, on raw text; and the same step by step.

    python benchmarks/recipe.py ../shared/data FOLDER

Writes German-English captions as people write them, untokenised and with capitals, as all.de and all.en. Runs
both of README's blocks for one's own data in the folder, with the `hiero` of this Python: `hiero run`, and on
the sets that it drew the commands one by one. Started again it goes on. Prints BLEU of both by sacrebleu, and
ends with an error if they differ.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import sacrebleu
from machine import argument_parser, machine

from hiero.text import TextSide

sys.path.append(str(Path(__file__).parents[1] / ".ci"))
from readme import commands


def write_raw(tokens: Path, path: Path) -> None:
    side = TextSide("moses", tokens.suffix[1:])
    lines = (side.text(line.split()) for line in tokens.read_text(encoding="utf-8").splitlines())
    path.write_text("".join(f"{line[:1].upper()}{line[1:]}\n" for line in lines), encoding="utf-8")


def run(command: str, folder: Path) -> None:
    """Runs a command in a shell, with this Python's `hiero`, and prints its end and its seconds."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    started = time.monotonic()
    print(f"$ {command}", flush=True)
    done = subprocess.run(command, shell=True, cwd=folder, env={**os.environ, "PATH": path}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)  # fmt: skip
    print(f"{done.stdout[-1000:]}{time.monotonic() - started:.1f} s", flush=True)
    done.check_returncode()


def main() -> None:
    arguments = argument_parser(__doc__, "data", "folder").parse_args()
    folder = arguments.folder
    folder.mkdir(parents=True, exist_ok=True)
    print(machine())
    for side in ("de", "en"):
        if not (folder / f"all.{side}").exists():
            write_raw(arguments.data / "de-en" / f"train.{side}", folder / f"all.{side}")
    shutil.copyfile(arguments.data / "de-en" / "test2016.de", folder / "new.de")
    (whole, use), by_hand = commands("own data")
    run(whole, folder)
    run(f"{use} | tail -2", folder)
    sets = folder / "my-system" / "sets"
    for name, drawn in (("train", "train"), ("dev", "tune"), ("test", "test")):
        for suffix, side in (("de", "source"), ("en", "target")):
            shutil.copyfile(sets / f"{drawn}.{side}", folder / f"{name}.{suffix}")
    for command in by_hand:
        run(command, folder)
    references = (folder / "test.en").read_text(encoding="utf-8").splitlines()
    scores = {}
    for name, path in (("hiero run", "my-system/translations/test/mert.txt"), ("by hand", "test.out")):
        lines = (folder / path).read_text(encoding="utf-8").splitlines()
        scores[name] = sacrebleu.corpus_bleu(lines, [references]).score
    metrics = json.loads((folder / "my-system" / "translations" / "test" / "scores.json").read_text())
    scores["scores.json"] = metrics[0]["systems"][1]["score"]
    print(f"BLEU (sacrebleu, 13a): {', '.join(f'{name} {score:.4f}' for name, score in scores.items())}")
    if len({round(score, 6) for score in scores.values()}) > 1:
        sys.exit("they differ")


if __name__ == "__main__":
    main()
