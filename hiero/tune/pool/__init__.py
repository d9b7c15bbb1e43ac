"""Hypotheses accumulated from decoding: pools of k-best lists, spans as instances, and forests."""
