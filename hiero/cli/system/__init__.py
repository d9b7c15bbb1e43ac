"""Parts of `hiero run`: its data, the commands that it runs one after the other, and its report."""
