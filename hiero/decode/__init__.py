"""Models and decoders. The package ``hiero`` exports the public names."""
