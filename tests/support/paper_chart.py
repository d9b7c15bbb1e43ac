"""The example sentence of Zhai et al. (2015), its grammar, and its chart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import hiero
from hiero import Chart
from support.brute_force import write_arpa

# The rules of Figure 1 (a).
PAPER = """\
[X] ||| Aimi ||| Amy ||| P=0
[X] ||| Aimi ||| Amy has ||| P=-2
[X] ||| zhuzai bolin ||| lived in Berlin ||| P=0
[X] ||| zhuzai bolin ||| living in Berlin ||| P=-1
[X] ||| qian ||| before ||| P=0
[X] ||| qian ||| former ||| P=-1
[X] ||| jiehun ||| got married ||| P=-1
[X] ||| jiehun ||| getting married ||| P=0
[X] ||| [X,1] qian [X,2] ||| [X,2] before [X,1] ||| P=0
[X] ||| [X,1] qian [X,2] ||| [X,1] before [X,2] ||| P=-1
"""


REFERENCE = "Amy lived in Berlin before getting married"


SENTENCE = "Aimi jiehun qian zhuzai bolin"


def paper(tmp_path: Path, grammar: str, **settings: Any) -> Chart:
    """Decodes the sentence and returns its chart."""
    (tmp_path / "grammar").write_text(grammar)
    (tmp_path / "weights").write_text("P 1\nGlue -0.1\n")
    # The language model has weight 0; its states keep items apart.
    write_arpa(tmp_path / "lm", [REFERENCE.split(), ["Amy", "has", "got", "living"]], 3)
    model = hiero.Model.assemble([tmp_path / "grammar"], [tmp_path / "lm"], tmp_path / "weights")
    decoder = hiero.Decoder(model, pass_through="none", **settings)
    chart = decoder.translate(SENTENCE.split(), keep="splits").chart
    assert chart is not None
    return chart
