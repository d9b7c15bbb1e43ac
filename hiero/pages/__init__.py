"""HTML pages of derivations, small forests and charts for a browser. Each page is one self-contained file.

>>> import hiero
>>> decoder = hiero.Decoder(hiero.Model.load("model"))
>>> forest = decoder.translate("他 买 了 两 本 书 。").forest
>>> page = hiero.pages.derivation_page(forest.viterbi(forest.scores(decoder.weights)), decoder.weights)
"""

from hiero.pages.chart import chart_page
from hiero.pages.forest import derivation_page, derivations_page, forest_page

__all__ = ["chart_page", "derivation_page", "derivations_page", "forest_page"]
