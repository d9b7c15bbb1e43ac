"""`python -m hiero` is `hiero`."""

from hiero.cli import main

main()
