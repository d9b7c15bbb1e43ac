"""The part of a report about tuning: the metric of the tuning set by iteration, and weights."""

from __future__ import annotations

from collections.abc import Sequence

from hiero.cli.report.advice import tuning_scores
from hiero.cli.report.run import FinishedRun
from hiero.pages.markup import escape_html
from hiero.pages.tables import score_text, table


def tuning_part(run: FinishedRun) -> str:
    """Returns a curve for each system whose directory of tuning is there, and the weights of all systems."""
    curves = [
        _curve(system, scores) for system, folder in run.tuning.items() if (scores := tuning_scores(folder))
    ]
    names = list(dict.fromkeys(name for weights in run.weights.values() for name in weights))
    rows = [(name, *(f"{weights.get(name, 0.0):.4f}" for weights in run.weights.values())) for name in names]
    return "".join(curves) + table("Weights by system", ("weight", *run.systems), rows)


def _curve(system: str, scores: Sequence[float]) -> str:
    low, high = min(scores), max(scores)
    width, height, left, top = 560, 180, 60, 16
    step = (width - left - 20) / max(len(scores) - 1, 1)
    points = [
        (left + k * step, top + (height - 50) * (high - score) / ((high - low) or 1.0))
        for k, score in enumerate(scores)
    ]
    line = " ".join(f"{x:.1f} {y:.1f}" for x, y in points)
    marks = [
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{5 if k == scores.index(high) else 3}">'
        f"<title>iteration {k}: {score_text(score)}</title></circle>"
        for k, ((x, y), score) in enumerate(zip(points, scores, strict=True))
    ]
    labels = [f'<text x="{left - 12}" y="{top + 5}" class="end">{score_text(high)}</text>']
    if low < high:
        labels.append(f'<text x="{left - 12}" y="{height - 29}" class="end">{score_text(low)}</text>')
    every = -(-len(scores) // 10)
    labels += [
        f'<text x="{points[k][0]:.1f}" y="{height - 6}">{k}</text>' for k in range(0, len(scores), every)
    ]
    content = "\n".join([f'<path d="M{line}"/>', *marks, *labels])
    name = escape_html(f"BLEU of the tuning set by iteration of {system}")
    return (
        f'<figure><svg class="curve" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{name}">\n{content}</svg>\n'
        f"<figcaption>{name}</figcaption></figure>\n"
    )
