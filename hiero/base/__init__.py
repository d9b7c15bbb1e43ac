"""The foundation of the other parts: files, lines, text, weights, rule tables; knows no decoder, no
forest."""
