"""A server of models for browsers and programs; see `hiero serve` and docs/serving.md."""

from hiero.serve.app import make_app

__all__ = ["make_app"]
