"""The foundation of the other folders: files, lines, text, weights, rule tables, threads."""
