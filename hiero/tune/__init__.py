"""Tuning: the weights with which a model's translations have the best metric."""
