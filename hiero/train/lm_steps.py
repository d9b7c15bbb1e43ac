"""The steps of a training that make language models: text is prepared early, so that errors in it are found
soon, and models are estimated after the rules."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial

from hiero.base.lines import PathLike, count_lines
from hiero.text import TextSide
from hiero.train.corpus import prepare_text
from hiero.train.lm import copy_lm, estimate_lm
from hiero.train.step_context import StepContext


class LmSteps:
    """The language models of a training, whose files are ``binaries``: first those that are estimated."""

    def __init__(self, context: StepContext) -> None:
        self._context = context
        self.estimated = 0
        self.binaries: list[str] = []

    def prepare(self, target: PathLike, mono: Sequence[PathLike], side: TextSide) -> None:
        """Prepares the bitext's target side, without a dictionary, and monolingual text."""
        texts: list[list[PathLike]] = [[target], list(mono)]
        if self._context.settings.lms == "together":
            texts = [[*texts[0], *texts[1]]]
        elif self._context.settings.lms == "given":
            texts = []
        for k, files in enumerate(group for group in texts if group):
            self._prepare(k, files, side)
            self.binaries.append(f"lm{k}.binary")
        self.estimated = len(self.binaries)

    def _prepare(self, k: int, files: Sequence[PathLike], side: TextSide) -> None:
        text = f"lm{k}.text"
        inputs = {f"text {i}": path for i, path in enumerate(files)}
        if side.truecaser:
            inputs["truecaser"] = side.truecaser

        def prepare() -> None:
            progress = self._context.progress("sentences", partial(count_lines, *files))
            lines = prepare_text(files, self._context.folder / text, side, progress, self._context.threads)
            self._context.report(f"text {k}: {lines:,} sentences")

        self._context.run(f"text {k}", inputs, [text], prepare, "text")

    def copy(self, path: PathLike) -> None:
        """Copies an existing language model as a KenLM binary."""
        k = len(self.binaries)
        binary = f"lm{k}.binary"

        def copy() -> None:
            copy_lm(path, self._context.folder / binary)
            self._context.report(f"lm {k}: {os.fspath(path)}")

        self._context.run(f"lm {k}", {"given": path}, [binary], copy)
        self.binaries.append(binary)

    def estimate(self) -> None:
        """Estimates a language model from each prepared text."""
        for k in range(self.estimated):
            self._estimate(k)

    def _estimate(self, k: int) -> None:
        context, settings = self._context, self._context.settings
        text = context.folder / f"lm{k}.text"

        def estimate() -> None:
            counts = estimate_lm(
                [text],
                context.folder / self.binaries[k],
                order=settings.lm_order,
                memory=context.memory,
                binary=settings.lm_binary,
                quantize=settings.lm_quantize,
                progress=context.progress("sentences", partial(count_lines, text)),
            )
            if counts.fallback_orders:
                orders = ", ".join(map(str, counts.fallback_orders))
                context.report(f"warning: lm {k}: too little text for Kneser-Ney discounts of order {orders}")

        context.run(
            f"lm {k}",
            context.paths(text.name),
            [self.binaries[k]],
            estimate,
            "lm_order",
            "lm_binary",
            "lm_quantize",
        )
