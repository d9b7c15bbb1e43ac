"""Experiments that papers report, repeated on other models and sets."""
