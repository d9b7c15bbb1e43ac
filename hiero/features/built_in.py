"""The local features of this package that ``model.toml`` can describe."""

from __future__ import annotations

from typing import get_args

from hiero.features.distortion import CoarseDistortion, FineDistortion
from hiero.features.syntax import CoarseSyntax, FineSyntax

BuiltIn = CoarseSyntax | FineSyntax | CoarseDistortion | FineDistortion
BUILT_IN = get_args(BuiltIn)
