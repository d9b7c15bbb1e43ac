"""The local features of this package, as a model directory names them with their settings."""

from __future__ import annotations

from typing import get_args

from hiero.features.distortion import CoarseDistortion, FineDistortion
from hiero.features.syntax import CoarseSyntax, FineSyntax

BuiltIn = CoarseSyntax | FineSyntax | CoarseDistortion | FineDistortion
BUILT_IN = get_args(BuiltIn)
