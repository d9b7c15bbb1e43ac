"""Models and decoders; `hiero` itself has the public names."""
