"""The synchronous grammar of the demo corpus: reading it, and sampling Mandarin derivations from it.

`Grammar(folder)` reads lexicon.txt and rules.txt, each of which explains its own notation, and keeps the
instances of rules that can derive something. `sample(random)` draws a derivation of a Mandarin sentence
top-down; demo_render.py makes English and the word alignment of it.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from pathlib import Path
from random import Random
from typing import TypeVar

VARIABLE = re.compile(r"\$(\w)")
RANGE = re.compile(r"(\d+)\.\.(\d+) =$")
# Categories of which no word comes twice in a sentence.
NAMED_ONCE = (
    *("N", "Name", "City", "Country", "Kin", "Mate", "Adj"),
    *("V", "VE", "VF", "VT", "VD", "Tm", "Weekday"),
)
Option = TypeVar("Option")


def is_nonterminal(token: str) -> bool:
    """Tells whether a Mandarin-side token is a nonterminal: a capital Latin letter first."""
    return "A" <= token[0] <= "Z"


@cache
def category(symbol: str) -> str:
    """The category of a symbol: what stands before its tags."""
    return symbol.partition(".")[0]


def _bind(text: str, values: dict[str, str]) -> str:
    """Put the values of variables into one side of a rule."""
    return VARIABLE.sub(lambda match: values[match[1]], text)


def pick(random: Random, options: Sequence[Option], weights: Sequence[float]) -> Option:
    """Draw by weight with random() alone, whose values are the same in every Python version."""
    left = random.random() * sum(weights)
    for option, weight in zip(options, weights, strict=True):
        left -= weight
        if left < 0:
            return option
    return options[-1]


@dataclass(frozen=True)
class Entry:
    """A lexical entry (`category` and `tags` say where it fits) or one instance of a rule."""

    category: str
    source: tuple[str, ...]
    targets: tuple[tuple[str, ...], ...]
    tags: frozenset[str] = frozenset()

    @property
    def symbols(self) -> list[str]:
        """The nonterminals of the Mandarin side, in order."""
        return [token for token in self.source if is_nonterminal(token)]

    @property
    def words(self) -> list[str]:
        """The Mandarin side without what only shapes the parse."""
        words = [token for token in self.source if token != ")" and not token.startswith("(")]
        return [token.partition("/")[0] for token in words]


@dataclass
class Node:
    """A node of a Mandarin derivation; `starts` are the positions of its right-hand side, then its end."""

    symbol: str
    entry: Entry
    children: list["Node"]
    lexical: bool
    starts: list[int] = field(default_factory=list)

    def place(self, start: int) -> int:
        """Number the words from `start`; returns the position after the last."""
        self.starts, children = [start], iter(self.children)
        for token in self.entry.words:
            last = self.starts[-1]
            self.starts.append(next(children).place(last) if is_nonterminal(token) else last + 1)
        return self.starts[-1]

    def source(self) -> list[str]:
        """The Mandarin words below this node."""
        children = iter(self.children)
        parts = [next(children).source() if is_nonterminal(t) else [t] for t in self.entry.words]
        return [word for part in parts for word in part]

    def below(self, stop: frozenset[str] = frozenset()) -> Iterator["Node"]:
        """Yields this node and those below it, not entering categories in `stop`."""
        yield self
        for child in self.children:
            if category(child.symbol) not in stop:
                yield from child.below(stop)


class Grammar:
    """Lexicon and rules; `settings` are the domain, kind, once, clause and label lines of rules.txt."""

    def __init__(self, folder: Path) -> None:
        self.settings: dict[str, dict[str, str]] = {"domain": {}, "label": {}}
        self.rules: list[tuple[str, float, str]] = []
        self.lexicon: dict[str, list[Entry]] = {}
        self._matches: dict[str, list[Entry]] = {}
        self._read_lexicon(folder / "lexicon.txt")
        self._read_rules(folder / "rules.txt")
        self._instances = self._expand("TOP")

    def _read_lexicon(self, path: Path) -> None:
        heading: list[str] = []
        self.entry_count = 0
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("["):
                heading = line.strip("[]").split(".")
            elif numbers := RANGE.match(line):
                for number in range(int(numbers[1]), int(numbers[2]) + 1):
                    self._add(heading, str(number), str(number))
            elif line and not line.startswith("#"):
                source, _, rest = line.partition(" = ")
                target, *tags = rest.split(" +")
                self._add(heading + [tag.strip() for tag in tags], source, target)
                self.entry_count += 1

    def _add(self, heading: list[str], source: str, target: str) -> None:
        tags = {*heading[1:], *(source.split() if " " not in source else [])}
        if "agrp" not in tags:
            tags.add("sg")
        targets = tuple(tuple(option.split()) for option in target.split("|"))
        entry = Entry(heading[0], tuple(source.split()), targets, frozenset(tags))
        self.lexicon.setdefault(heading[0], []).append(entry)

    def _read_rules(self, path: Path) -> None:
        for line in path.read_text(encoding="utf-8").splitlines():
            left, arrow, right = line.partition(" -> ")
            if line.startswith("#") or not line:
                continue
            if arrow:
                symbol, _, weight = left.partition(" ")
                self.rules.append((symbol, float(weight or 1), right))
                continue
            setting, *words = line.split()
            if setting in ("domain", "label"):
                for word in words[1:]:
                    if setting == "domain":
                        words[0] += " " + word
                    else:
                        self.settings["label"][word] = words[0]
                if setting == "domain":
                    name, *values = words[0].split()
                    self.settings["domain"][name] = " ".join([self.settings["domain"].get(name, ""), *values])
            else:
                self.settings[setting] = dict.fromkeys(words, setting)

    def matches(self, symbol: str) -> list[Entry]:
        """The lexical entries of a symbol: those with all its tags."""
        if symbol not in self._matches:
            name, *tags = symbol.split(".")
            self._matches[symbol] = [e for e in self.lexicon[name] if e.tags.issuperset(tags)]
        return self._matches[symbol]

    def _bindings(self, left: str, right: str, symbol: str) -> Iterator[dict[str, str]]:
        """Values of the variables of a rule under which its left-hand side is `symbol`."""
        pattern, tags = left.split("."), symbol.split(".")
        if len(pattern) != len(tags):
            return
        bound: dict[str, str] = {}
        for part, tag in zip(pattern, tags, strict=True):
            if part.startswith("$"):
                if tag not in self.settings["domain"][part[1]].split():
                    return
                bound[part[1]] = tag
            elif part != tag:
                return
        free = [name for name in dict.fromkeys(VARIABLE.findall(right)) if name not in bound]
        for values in product(*(self.settings["domain"][name].split() for name in free)):
            yield bound | dict(zip(free, values, strict=True))

    def _ground(self, symbol: str) -> list[tuple[float, list[Entry]]]:
        """Returns for each rule of `symbol` its weight, and its instances all of whose words exist."""
        found = []
        for left, weight, right in self.rules:
            if category(left) != category(symbol):
                continue
            source, _, target = right.partition(" => ")
            instances = []
            for bound in self._bindings(left, right, symbol):
                tokens = _bind(source, bound).split()
                lexical = [t for t in tokens if is_nonterminal(t) and category(t) in self.lexicon]
                if all(self.matches(token) for token in lexical):
                    targets = tuple(tuple(option.split()) for option in _bind(target, bound).split("|"))
                    instances.append(Entry(left, tuple(tokens), targets))
            if instances:
                found.append((weight, instances))
        return found

    def _expand(self, start: str) -> dict[str, list[tuple[float, list[Entry]]]]:
        """The rule instances of all symbols reachable from `start`, without those that derive nothing."""
        grounded: dict[str, list[tuple[float, list[Entry]]]] = {}
        waiting = [start]
        while waiting:
            symbol = waiting.pop()
            if symbol not in grounded and category(symbol) not in self.lexicon:
                grounded[symbol] = self._ground(symbol)
                waiting += [s for _, found in grounded[symbol] for entry in found for s in entry.symbols]
        productive: dict[str, bool] = {}

        def usable(entry: Entry) -> bool:
            return all(category(s) in self.lexicon or s in productive for s in entry.symbols)

        size = -1
        while size != len(productive):
            size = len(productive)
            for symbol, found in grounded.items():
                if symbol not in productive and any(usable(e) for _, entries in found for e in entries):
                    productive[symbol] = True
        kept = {}
        for symbol, found in grounded.items():
            usables = [(weight, [e for e in entries if usable(e)]) for weight, entries in found]
            kept[symbol] = [(weight, entries) for weight, entries in usables if entries]
        return kept

    def sample(self, random: Random) -> Node:
        """Draw a derivation of a Mandarin sentence."""
        node = self._sample(random, "TOP", False)
        node.place(0)
        return node

    def _sample(self, random: Random, symbol: str, inside: bool) -> Node:
        once = self.settings["once"]
        inside = inside or category(symbol) in once
        if category(symbol) in self.lexicon:
            entries = self.matches(symbol)
            return Node(symbol, pick(random, entries, [1] * len(entries)), [], True)
        options = []
        for weight, entries in self._instances[symbol]:
            allowed = [e for e in entries if not inside or not any(category(s) in once for s in e.symbols)]
            if allowed:
                options.append((weight, allowed))
        entries = pick(random, [allowed for _, allowed in options], [weight for weight, _ in options])
        entry = pick(random, entries, [1] * len(entries))
        return Node(symbol, entry, [self._sample(random, s, inside) for s in entry.symbols], False)

    def is_natural(self, node: Node) -> bool:
        """Tells whether no content word occurs twice, and no clause names a person twice."""
        used = [n.entry.source for n in node.below() if n.lexical and category(n.symbol) in NAMED_ONCE]
        if max(Counter(used).values(), default=1) > 1:
            return False
        clauses = frozenset(self.settings["clause"])
        for root in node.below():
            if root is node or category(root.symbol) in clauses:
                persons = [
                    dict.fromkeys(c.source()[0][0] for c in parent.children if category(c.symbol) == "Pron")
                    for parent in root.below(clauses)
                    if category(parent.symbol) not in ("KinP", "NP", "DObj")
                ]
                if max(Counter(p for group in persons for p in group).values(), default=1) > 1:
                    return False
        return True

    def parse(self, node: Node) -> str:
        """The Mandarin derivation as a bracketed tree; unary chains of one label are collapsed."""
        return _collapse(self._tree(node))

    def _tree(self, node: Node) -> str:
        labels = self.settings["label"]
        if node.lexical:
            tag, _, phrase = labels[category(node.symbol)].partition("/")
            first, *others = node.entry.source
            words = [f"({tag} {first})", *(f"({labels.get(word, tag)} {word})" for word in others)]
            return f"({phrase} {' '.join(words)})"
        children, parts = iter(node.children), []
        for token in node.entry.source:
            if is_nonterminal(token):
                parts.append(self._tree(next(children)))
            elif token == ")" or token.startswith("("):
                parts.append(token)
            else:
                word, _, tag = token.partition("/")
                parts.append(f"({tag or labels[word]} {word})")
        return f"({labels[category(node.symbol)]} {' '.join(parts).replace(' )', ')')})"


def _collapse(tree: str) -> str:
    """Remove nodes whose only child has the same label."""
    stack: list[list[str]] = [[]]
    for token in tree.replace("(", " ( ").replace(")", " ) ").split():
        if token == "(":
            stack.append([])
        elif token == ")":
            label, *children = stack.pop()
            same = len(children) == 1 and children[0].startswith(f"({label} ")
            stack[-1].append(children[0] if same else f"({label} {' '.join(children)})")
        else:
            stack[-1].append(token)
    return stack[0][0]
