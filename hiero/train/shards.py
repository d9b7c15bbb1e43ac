"""Shares of a step of training, which several processes or machines work on."""

from __future__ import annotations

# The number of a shard, from 0, and the number of all shards.
Shard = tuple[int, int]

# Shards for each machine of a cluster: more cost little, and those of a machine that dies are done again.
SHARDS_PER_MACHINE = 2

# Bytes for sorting and counts of a step that is done by itself.
STEP_MEMORY = 1 << 30
