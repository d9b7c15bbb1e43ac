"""Pictures of translations, derivations and small forests for notebooks: HTML pages in frames."""

from __future__ import annotations

import html

from hiero._core import Derivation, Forest, Translation
from hiero.pages.forest import MOST_EDGES, derivation_page, forest_page


def picture(value: Translation | Derivation | Forest) -> str | None:
    """Returns HTML for ``_repr_html_``; None if there is no derivation, or a forest is too large to draw."""
    if isinstance(value, Forest):
        return _frame(forest_page(value)) if 0 < value.edge_count <= MOST_EDGES else None
    derivation = value.derivation if isinstance(value, Translation) else value
    if len(derivation.edges) == 0:
        return None
    if isinstance(value, Derivation):
        return _frame(derivation_page(derivation, None, value.text))
    confidence = value.confidence() if hasattr(value, "forest") else ()
    return _frame(derivation_page(derivation, value.weights, value.text, confidence))


def _frame(page: str) -> str:
    """Puts a page into a frame, because its styles and script must not affect the notebook."""
    size = "width:100%;height:32rem;border:0"
    return f'<iframe srcdoc="{html.escape(page)}" sandbox="allow-scripts" style="{size}"></iframe>'
