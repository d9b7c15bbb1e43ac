"""The local features of this package, as a model directory names them with their settings."""

from __future__ import annotations

from typing import Annotated, get_args

from pydantic import Field

from hiero.features.distortion import CoarseDistortion, FineDistortion
from hiero.features.syntax import CoarseSyntax, FineSyntax

BuiltIn = CoarseSyntax | FineSyntax | CoarseDistortion | FineDistortion
BuiltInSettings = Annotated[BuiltIn, Field(discriminator="kind")]
BUILT_IN = get_args(BuiltIn)
