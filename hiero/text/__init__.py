"""Text as people write it, and tokens as models see it: normalisation, protected parts, tokenisation, and
back."""

from hiero.text.normalisation import NormalForm
from hiero.text.schemes import SCHEMES, Scheme
from hiero.text.side import TextProcessing, TextSide, parse_side

__all__ = ["SCHEMES", "NormalForm", "Scheme", "TextProcessing", "TextSide", "parse_side"]
