"""Pictures of translations, derivations and small forests for notebooks: their pages, in frames."""

from __future__ import annotations

import html

from hiero._core import Derivation, Forest, Translation
from hiero.pages.forest import MOST_EDGES, derivation_page, forest_page


def picture(shown: Translation | Derivation | Forest) -> str | None:
    """HTML for ``_repr_html_``; None for what has no derivation, and for forests too large to draw."""
    if isinstance(shown, Forest):
        return _frame(forest_page(shown)) if 0 < shown.edge_count <= MOST_EDGES else None
    derivation = shown.derivation if isinstance(shown, Translation) else shown
    if len(derivation.edges) == 0:
        return None
    weights = shown.weights if isinstance(shown, Translation) else None
    return _frame(derivation_page(derivation, weights, shown.text))


def _frame(page: str) -> str:
    """A page has styles and a script of its own, which are to change nothing else of the notebook."""
    size = "width:100%;height:32rem;border:0"
    return f'<iframe srcdoc="{html.escape(page)}" sandbox="allow-scripts" style="{size}"></iframe>'
