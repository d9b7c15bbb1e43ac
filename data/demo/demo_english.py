"""English inflection for the demo grammar: regular morphology plus the exceptions listed in forms.txt.

Agreement is "1" (i), "3" (he, the book) or "p" (you, we, the books).
"""

from pathlib import Path

VERB_FORMS = ("inf", "3", "ing", "past", "part")
VOWEL_SOUND_DESPITE_SPELLING = ("hour", "honest")
CONSONANT_SOUND_DESPITE_SPELLING = ("university", "one", "useful", "european")


def _ends_in_consonant_y(word: str) -> bool:
    return word.endswith("y") and word[-2] not in "aeiou"


def _with_s(word: str) -> str:
    if _ends_in_consonant_y(word):
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")


def _regular_verb(base: str) -> tuple[str, ...]:
    stem = base[:-1] if base.endswith("e") else base
    past = base[:-1] + "ied" if _ends_in_consonant_y(base) else stem + "ed"
    return base, _with_s(base), stem + "ing", past, past


def _regular_adjective(base: str) -> tuple[str, str]:
    if len(base) > 6 or base.endswith(("ous", "ful", "ing", "ern", "x")) or "-" in base:
        return "more " + base, "most " + base
    if _ends_in_consonant_y(base):
        return base[:-1] + "ier", base[:-1] + "iest"
    stem = base.removesuffix("e")
    return stem + "er", stem + "est"


class Morphology:
    """Inflects verbs, nouns and adjectives; of several words the first of a verb, the last of a noun."""

    def __init__(self, path: Path) -> None:
        self._irregular: dict[tuple[str, str], tuple[str, ...]] = {}
        for line in path.read_text(encoding="utf-8").splitlines():
            if line and not line.startswith("#"):
                kind, base, *forms = line.split()
                self._irregular[kind, base] = tuple(forms)

    def verb(self, base: str, form: str, agreement: str) -> str:
        """Inflect the verb `base` for form inf, pres, past, ing or part."""
        if base == "be" and form in ("pres", "past"):
            by_agreement = {"1": ("am", "was"), "p": ("are", "were")}
            return by_agreement.get(agreement, ("is", "was"))[form == "past"]
        if form == "pres":
            form = "inf" if agreement in ("1", "p") else "3"
        rest = self._irregular.get(("verb", base))
        forms = (base, *rest) if rest else _regular_verb(base)
        return forms[VERB_FORMS.index(form)]

    def plural(self, noun: str) -> str:
        """The plural of a noun."""
        rest = self._irregular.get(("noun", noun))
        return rest[0] if rest else _with_s(noun)

    def compare(self, adjective: str, form: str) -> list[str]:
        """The comparative (form er) or superlative (form est), possibly two words."""
        forms = self._irregular.get(("adjective", adjective)) or _regular_adjective(adjective)
        return forms[form == "est"].split()


def adjust_articles(words: list[str]) -> list[str]:
    """Return `words` with each "a" made "an" where the next word starts with a vowel sound."""

    def starts_with_vowel(word: str) -> bool:
        if word.startswith(VOWEL_SOUND_DESPITE_SPELLING):
            return True
        return word[0] in "aeiou" and not word.startswith(CONSONANT_SOUND_DESPITE_SPELLING)

    following = [*words[1:], "."]
    return [
        "an" if word == "a" and starts_with_vowel(after) else word
        for word, after in zip(words, following, strict=True)
    ]
