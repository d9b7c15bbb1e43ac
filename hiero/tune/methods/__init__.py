"""The tuning methods, each with its options and its algorithm in one file or folder.

To add one, write a subclass of one of ``kinds`` in a file of its own, and add its line below.
"""

from hiero.tune.methods.mert import HypergraphMert, Mert
from hiero.tune.methods.mira import Mira, MiraBatch
from hiero.tune.methods.pro import Pro
from hiero.tune.methods.risk import Risk
from hiero.tune.methods.simplex import Simplex
from hiero.tune.run.method import register_built_in

register_built_in(
    {
        "mert": Mert(),
        "hypergraph-mert": HypergraphMert(),
        "simplex": Simplex(),
        "pro": Pro(),
        "mira-batch": MiraBatch(),
        "mira": Mira(),
        "risk": Risk(),
    }
)
