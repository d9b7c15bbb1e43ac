"""Input sentences with their annotations, built-in local features, and protocols for other local features.

>>> import hiero
>>> model = hiero.Model.load("model", local_features=[hiero.features.FineSyntax()])
"""

from hiero.features.alternatives import Variants, lattice_of
from hiero.features.distortion import CoarseDistortion, DistortionStatistics, FineDistortion
from hiero.features.glossary import Glossary, Term
from hiero.features.markup import Markup, Phrase, Wall
from hiero.features.protocols import GapFeatures, LocalFeatures, RuleFeatures, SpanFeatures
from hiero.features.sentence import Sentence
from hiero.features.syntax import CoarseSyntax, FineSyntax
from hiero.features.trees import Constituent, Tree

__all__ = [
    "CoarseDistortion",
    "CoarseSyntax",
    "Constituent",
    "DistortionStatistics",
    "FineDistortion",
    "FineSyntax",
    "GapFeatures",
    "Glossary",
    "LocalFeatures",
    "Markup",
    "Phrase",
    "RuleFeatures",
    "Sentence",
    "SpanFeatures",
    "Term",
    "Tree",
    "Variants",
    "Wall",
    "lattice_of",
]
