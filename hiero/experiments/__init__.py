"""The experiments of the papers that this package implements, on one's own models and sets."""
