"""Options of commands that take raw text: how it is normalised before it becomes tokens."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from hiero.cli.base.commands import usage
from hiero.text import NormalForm, TextProcessing, TextSide, parse_side


@dataclass(frozen=True, kw_only=True)
class NormalisationOptions:
    """Options for the normalisation of raw text, and for what is protected from it."""

    unicode: Annotated[
        NormalForm,
        typer.Option(
            help="Unicode normal form of raw text; NFKC also replaces look-alikes, such as ﬁ by fi."
        ),
    ] = "NFC"
    keep_punctuation: Annotated[
        bool,
        typer.Option(
            "--keep-punctuation",
            help="Leave quotes, apostrophes, hyphens and dots of raw text as they are typed.",
        ),
    ] = False
    protect: Annotated[
        list[str] | None,
        typer.Option(
            metavar="REGEX",
            help="Regular expression of parts of raw text that are one token and come back as they are,"
            " besides tags and addresses; repeatable.",
        ),
    ] = None

    def side(self, text: str, lowercase: bool = False, truecaser: Path | None = None) -> TextSide:
        """Makes a side of LANGUAGE:SCHEME. Raises BadParameter for an unknown scheme, a wrong pattern, and
        options that text which is tokens does not have."""
        self._check(text)
        return self._side(text, lowercase, truecaser)

    def _check(self, *sides: str) -> None:
        """Raises BadParameter for options of raw text if the text of all sides is tokens."""
        is_default = not self.protect and not self.keep_punctuation and self.unicode == "NFC"
        if all(_is_tokens(side) for side in sides) and not is_default:
            raise typer.BadParameter(
                "--unicode, --keep-punctuation and --protect are for raw text, not for tokens"
            )

    def _side(self, text: str, lowercase: bool, truecaser: Path | None) -> TextSide:
        with usage():
            if _is_tokens(text):
                return parse_side(text, lowercase, truecaser or "")
            return parse_side(
                text,
                lowercase,
                truecaser or "",
                unicode=self.unicode,
                punctuation=not self.keep_punctuation,
                protect=self.protect or (),
            )

    def both(
        self,
        tokenize: tuple[str, str] | None,
        lowercase: bool,
        truecasers: tuple[Path, Path] | None = None,
    ) -> TextProcessing:
        """Makes both sides; text is tokens without ``tokenize``. Raises BadParameter as ``side`` does."""
        sides = tokenize or ("und:none", "und:none")
        self._check(*sides)
        files = truecasers or (None, None)
        return TextProcessing(
            *(self._side(side, lowercase, file) for side, file in zip(sides, files, strict=True))
        )


def _is_tokens(side: str) -> bool:
    return side.endswith(":none")
