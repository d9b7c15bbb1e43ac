"""The origin and the features of rules, as data that pages show when a rule is selected."""

from __future__ import annotations

from typing import Any

from hiero.forest.derivations import RuleApplication
from hiero.pages.markup import Weights, escape_html, number_text, printable

_DIGITS = 6  # significant digits of values, of which pages show three decimals


class Details:
    """A collection of rules without duplicates.

    ``data()`` returns ``{"features": names, "weights": null or a list, "rules": [[origin, [[feature, value],
    ...]], ...]}``, where features are indices into the names.
    """

    def __init__(self, weights: Weights | None) -> None:
        self._weights = weights
        self._features: dict[str, int] = {}
        self._rules: dict[tuple[Any, ...], int] = {}

    def add(self, rule: RuleApplication, where: str = "") -> int:
        """Returns the index of a rule. Its origin is its table, its id, and the text ``where``."""
        origin = f"rule {rule.rule:,} of {rule.table}" if rule.table else "into the root"
        features = tuple(
            (self._features.setdefault(name, len(self._features)), float(f"{value:.{_DIGITS}g}"))
            for name, value in rule.features.items()
        )
        return self._rules.setdefault((printable(f"{origin}{where}"), features), len(self._rules))

    def data(self) -> dict[str, Any]:
        weights = self._weights
        return {
            "features": [printable(name) for name in self._features],
            "weights": None if weights is None else [weights.get(name, 0.0) for name in self._features],
            "rules": list(self._rules),
        }


def rule_score(features: Weights, weights: Weights) -> float:
    return sum(value * weights.get(name, 0.0) for name, value in features.items())


def feature_table(features: Weights, weights: Weights | None) -> str:
    """Returns the features of a derivation as an HTML table."""
    heads = ["feature", "value"] if weights is None else ["feature", "value", "weight", "product"]
    rows = ["<tr>" + "".join(f"<th>{head}</th>" for head in heads) + "</tr>"]
    for name, value in features.items():
        weight = 0.0 if weights is None else weights.get(name, 0.0)
        cells = [escape_html(name), number_text(value), f"{weight:g}", number_text(value * weight)][
            : len(heads)
        ]
        rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    return "<table>\n<caption>the whole derivation</caption>\n" + "\n".join(rows) + "\n</table>\n"
