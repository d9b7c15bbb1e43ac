"""Makes lm.arpa, a bigram model with absolute discounting, from english.txt."""

import math
from collections import Counter
from itertools import pairwise
from pathlib import Path

DISCOUNT = 0.5


def main() -> None:
    here = Path(__file__).parent
    unigrams: Counter[str] = Counter()
    bigrams: Counter[tuple[str, str]] = Counter()
    for line in (here / "english.txt").read_text().splitlines():
        words = ["<s>", *line.split(), "</s>"]
        unigrams.update(words[1:])
        bigrams.update(pairwise(words))
    total = sum(unigrams.values())
    contexts: Counter[str] = Counter()
    for (context, _), count in bigrams.items():
        contexts[context] += count
    probability = {w: (c - DISCOUNT) / total for w, c in unigrams.items()}
    probability["<unk>"] = DISCOUNT * len(unigrams) / total
    lines = ["\\data\\", f"ngram 1={len(probability) + 1}", f"ngram 2={len(bigrams)}"]
    lines += ["", "\\1-grams:", f"-99\t<s>\t{backoff('<s>', bigrams, contexts, probability):.6f}"]
    for word in sorted(probability):
        weight = backoff(word, bigrams, contexts, probability) if word in contexts else 0.0
        lines.append(f"{math.log10(probability[word]):.6f}\t{word}\t{weight:.6f}")
    lines += ["", "\\2-grams:"]
    for (context, word), count in sorted(bigrams.items()):
        share = (count - DISCOUNT) / contexts[context]
        lines.append(f"{math.log10(share):.6f}\t{context} {word}")
    (here / "lm.arpa").write_text("\n".join([*lines, "", "\\end\\", ""]))


def backoff(
    context: str,
    bigrams: Counter[tuple[str, str]],
    contexts: Counter[str],
    probability: dict[str, float],
) -> float:
    """log10 of the mass left by the bigrams of this context over that of the words they lack."""
    seen = [word for first, word in bigrams if first == context]
    left = DISCOUNT * len(seen) / contexts[context]
    return math.log10(left / (1 - sum(probability[word] for word in seen)))


if __name__ == "__main__":
    main()
