"""What everything else stands on: files, lines, text, weights, rule tables; knows no decoder, no forest."""
