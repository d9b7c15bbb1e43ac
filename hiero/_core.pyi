"""C++ core of hiero."""

import mmap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import IO, Any, overload

import numpy as np
import numpy.typing as npt
import scipy.sparse

class Error(Exception):
    """Base class of hiero's own errors."""

class FormatError(Error, ValueError):
    """
    Malformed input; the message names the file and line, or the sentence and token.
    """

class ForestError(FormatError):
    """Malformed forest, or one that is too large."""

def exchange(one: str, other: str) -> None:
    """
    Exchanges the names of two files or directories of one file system in one step.

    Args:
        one: A path.
        other: Another path.

    Raises:
        OSError: One of them does not exist, or, with errno ENOSYS, EINVAL or ENOTSUP, the file system or
            platform cannot exchange names. The error names the first path.
    """

def return_freed_memory() -> None:
    """
    Gives back to the system what the C library keeps of freed memory, where it can.
    """

class Setting:
    """A setting of the core: its default and its limits."""

    @property
    def name(self) -> str:
        """Name."""

    @property
    def meaning(self) -> str:
        """Description of one sentence."""

    @property
    def default(self) -> Any:
        """Default value."""

    @property
    def least(self) -> float | None:
        """Least value, or None if there is none."""

    @property
    def most(self) -> float | None:
        """Greatest value, or None if there is none."""

    @property
    def choices(self) -> list[str]:
        """All values, if they are names; else empty."""

class Rule:
    """Synchronous rule."""

    def __init__(self, text: str) -> None:
        """
        Reads a rule from text.

        Args:
            text: One line, such as `[X] ||| ne [X,1] pas ||| do not [X,1] ||| A=-0.3 ||| 0-1`: label, source
                side, target side, features, and links from source to target token positions.

        Raises:
            FormatError: The text is no rule.
        """

    @property
    def lhs(self) -> str:
        """Left-hand label."""

    @property
    def source(self) -> list[str]:
        """
        Source side as in rule text: [X,1] is a nonterminal; words that look like one are escaped.
        """

    @property
    def target(self) -> list[str]:
        """
        Target side as in rule text: [X,1] is a nonterminal; words that look like one are escaped.
        """

    @property
    def features(self) -> dict[str, float]:
        """Feature values by name."""

    @property
    def links(self) -> list[tuple[int, int]]:
        """
        Word alignment: (source, target) token positions, which count nonterminals.
        """

    def __eq__(self, other: object, /) -> bool: ...

class RuleTable:
    """
    Packed rule table: immutable, memory-mapped, and safe to share between threads.
    """

    @staticmethod
    def open(path: str, name: str = "") -> RuleTable:
        """
        Maps a packed table, which takes no parsing.

        Args:
            path: The file.
            name: Name of the table in error messages (default: its path).

        Raises:
            OSError: The file cannot be read.
            FormatError: The file is no table, is cut short, or has another format version.
        """

    @staticmethod
    def from_rules(rules: Sequence[Rule], owner: str = "", span_limit: int = 0) -> RuleTable:
        """
        Makes a table in memory.

        Args:
            rules: The rules.
            owner: Owner name; "": none.
            span_limit: Greatest number of source words that a rule may cover; 0: not set.

        Raises:
            FormatError: The rules do not fit into one table.
        """

    def save(self, path: str) -> None:
        """
        Writes the packed table to a file, in full or not at all.

        Args:
            path: The file.

        Raises:
            OSError: The file cannot be written.
        """

    @property
    def path(self) -> str:
        """Path of the file; "" for a table in memory."""

    @property
    def owner(self) -> str:
        """Owner name; "" if none was given."""

    @property
    def span_limit(self) -> int:
        """
        Greatest number of source words that a rule may cover; 0 if it was not set.
        """

    @property
    def rule_count(self) -> int:
        """Number of rules."""

    @property
    def node_count(self) -> int:
        """Number of nodes of the trie of source sides."""

    @property
    def word_count(self) -> int:
        """Number of words."""

    @property
    def dense_count(self) -> int:
        """Number of dense features."""

    @property
    def labels(self) -> list[str]:
        """Nonterminal labels."""

    @property
    def feature_names(self) -> list[str]:
        """
        Names of the features, dense ones first. Features that came without a name are called
        tm_pt_0, tm_pt_1, ..., with the owner instead of pt.
        """

    def lookup(self, tokens: Sequence[str]) -> list[Rule]:
        """
        Returns the rules with exactly this source side.

        Args:
            tokens: Source side as in rule text; [X] and [X,1] are nonterminals.
        """

    def rule(self, rule: int) -> Rule:
        """
        Returns the rule of an id.

        Raises:
            IndexError: There is no such rule.
        """

    def check(self) -> None:
        """
        Verifies every checksum and reads every rule.

        Raises:
            FormatError: The table is damaged.
        """

def pack(
    file: IO[bytes],
    name: str,
    output: str,
    owner: str,
    span_limit: int,
    memory: int,
    input: tuple[IO[bytes], str] | None,
    goal: str,
    progress: Callable[[int], object] | None,
) -> None:
    """
    Packs rules from text into a table file.

    Args:
        file: Binary file of rule text, open for reading.
        name: Name of the file in error messages.
        output: The table file, written in full or not at all.
        owner: Owner name of the table; "": none.
        span_limit: Greatest number of source words that a rule may cover; 0: not set.
        memory: Bytes for sorting.
        input: File of source sentences and its name in error messages: only rules that can apply to one
            of the sentences are packed. None: all rules.
        goal: Label of whole sentences; with `input`, rules of this label may cover any number of words.
        progress: Called with the number of rules read from time to time.

    Raises:
        FormatError: A line is no rule, or the file is damaged.
        OSError: A file cannot be read or written.
    """

def unpack(table: RuleTable, write: Callable[[bytes], object]) -> None:
    """
    Writes all rules of a table as text.

    Args:
        table: The table.
        write: Called with pieces of text, many lines each.

    Raises:
        FormatError: The table is damaged.
    """

def escape(token: str) -> str:
    """
    Returns a token as it stands in rule, n-best and forest text: tokens that look like syntax begin
    with a backslash.
    """

class LanguageModel:
    """KenLM n-gram model; immutable."""

    @staticmethod
    def load(path: str) -> LanguageModel:
        """
        Loads a language model.

        Args:
            path: An ARPA file, plain or compressed, or a KenLM binary.

        Raises:
            OSError: The file cannot be read.
            FormatError: The file is no language model.
        """

    @staticmethod
    def write_binary(
        arpa: str,
        output: str,
        *,
        trie: bool = False,
        quantize_bits: int = 0,
        memory: int = 1073741824,
        lower_orders: Sequence[str] = [],
    ) -> None:
        """
        Writes an ARPA file as a KenLM binary.

        Args:
            arpa: The ARPA file, plain or compressed.
            output: The binary, written in full or not at all.
            trie: Write a trie, which is smaller and slower, instead of hash tables.
            quantize_bits: Bits of each probability and backoff of a trie, 1 to 25; 0: exact.
            memory: Bytes for sorting n-grams while a trie is built.
            lower_orders: ARPA files of models of orders 1, 2, ... of the same text, one for each order
                below that of the model. With them, hash tables have rest costs, and search finds as good
                translations with half the hypotheses.

        Raises:
            OSError: A file cannot be read or written.
            FormatError: The input is no ARPA file, or models of lower order are not of the same text.
            ValueError: The options contradict each other.
        """

    @property
    def path(self) -> str:
        """Path that it was loaded from."""

    @property
    def kind(self) -> str:
        """Data structure: "probing", "trie", "quantised trie", ..."""

    @property
    def order(self) -> int:
        """Greatest length of its n-grams."""

    def knows(self, word: str) -> bool:
        """Tells whether a word is in the vocabulary."""

    def score(self, tokens: Sequence[str]) -> float:
        """
        Returns the log probability of a sentence, with <s> and </s>.

        Args:
            tokens: Words of the sentence.

        Returns:
            Natural log.
        """

class FeatureNames(Sequence[str]):
    """
    Names of features in the order of their ids.

    An immutable sequence of strings that finds the id of a name at once. A model, its forests and archives
    of them share one.
    """

    def __init__(self, names: Sequence[str]) -> None:
        """
        Numbers names in their order.

        Raises:
            FormatError: A name is repeated.
            ValueError: `names` is no sequence of strings.
        """

    def __len__(self) -> int:
        """Returns the number of features."""

    @overload
    def __getitem__(self, arg: int, /) -> str: ...
    @overload
    def __getitem__(self, arg: slice, /) -> tuple[str, ...]: ...
    def __iter__(self) -> Iterator[str]: ...
    def __contains__(self, name: object, /) -> bool: ...
    def ids(self, names: Iterable[str]) -> npt.NDArray[np.int32]:
        """
        Returns the ids of names.

        Returns:
            int32 (names).

        Raises:
            FormatError: There is no such feature.
        """

    def vector(self, weights: Mapping[str, float]) -> npt.NDArray[np.float64]:
        """
        Returns weights as a vector by feature id.

        Args:
            weights: Weights by name.

        Returns:
            float64 (features), 0 for features without a weight.

        Raises:
            FormatError: A weight names no feature.
        """

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the names in their order: 16 hexadecimal digits."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

class Forest:
    """
    Translation forest: a hypergraph as flat read-only arrays.

    Nodes are in topological order, tails before heads; the edges of a node are contiguous. The arrays
    are views of the core's memory. Methods never change a forest, but return another one.

    Most methods take `scores`, a score for each edge (natural log): an array of shape (edges,), or a
    mapping from feature names to weights, whose scores are weights . features. A feature without a
    weight counts 0; a weight without a feature raises FormatError. Scores must be finite or -inf, which
    excludes an edge; anything else raises ValueError.
    """

    @property
    def node_count(self) -> int:
        """Number of nodes."""

    @property
    def root(self) -> int:
        """
        Index of the root, which is the last node; -1 if nothing derives the whole sentence.
        """

    @property
    def node_spans(self) -> npt.NDArray[np.int32]:
        """
        First source word of each node and the word past its last, int32 (nodes, 2).
        """

    @property
    def node_labels(self) -> npt.NDArray[np.int32]:
        """
        Label of each node, int32 (nodes): indices into `labels`, -1 for the root.
        """

    @property
    def edge_offsets(self) -> npt.NDArray[np.int32]:
        """
        Offsets of the nodes' edges, int32 (nodes + 1): edges edge_offsets[v] to
        edge_offsets[v + 1] have the head v.
        """

    @property
    def edge_count(self) -> int:
        """Number of edges."""

    @property
    def tail_offsets(self) -> npt.NDArray[np.int32]:
        """Offsets of the edges' tails in `tails`, int32 (edges + 1)."""

    @property
    def tails(self) -> npt.NDArray[np.int32]:
        """
        Tail nodes of all edges in source order, int32: those of edge e are
        tails[tail_offsets[e]:tail_offsets[e + 1]].
        """

    @property
    def edge_tables(self) -> npt.NDArray[np.int32]:
        """
        Rule table of each edge, int32 (edges): indices into `tables`, -1 for edges into the root.
        """

    @property
    def edge_rules(self) -> npt.NDArray[np.int64]:
        """
        Rule of each edge, int64 (edges): ids in its table, -1 for edges into the root.
        """

    @property
    def edge_targets(self) -> npt.NDArray[np.int32]:
        """Target template of each edge, int32 (edges)."""

    @property
    def edge_origins(self) -> npt.NDArray[np.int32]:
        """
        Edges of the forest that this one was made from, int32 (edges); empty if it was made
        from none.
        """

    @property
    def target_offsets(self) -> npt.NDArray[np.int32]:
        """
        Offsets of the target templates in `target_symbols`, int32 (templates + 1).
        """

    @property
    def target_symbols(self) -> npt.NDArray[np.int32]:
        """
        Symbols of all target templates, int32: an index into `words`, or -1 - i for the yield of
        the edge's tail i.
        """

    @property
    def link_offsets(self) -> npt.NDArray[np.int32]:
        """Offsets of the target templates in `links`, int32 (templates + 1)."""

    @property
    def links(self) -> npt.NDArray[np.int32]:
        """
        Word alignment of the target templates, int32 (links, 2): source and target token positions
        in the rule.
        """

    @property
    def features(self) -> scipy.sparse.csr_array:
        """
        Feature row of each edge, a scipy.sparse.csr_array (edges, features). It shares the forest's
        memory, unless the forest was made from another one: then the rows are copied.
        """

    @property
    def feature_names(self) -> FeatureNames:
        """Names of the columns of `features`."""

    @property
    def source(self) -> list[str]:
        """Tokens of the source sentence, or of all arcs of a source lattice."""

    @property
    def source_length(self) -> int:
        """
        Number of source tokens, or of the last node of a source lattice: where spans end.
        """

    @property
    def source_nodes(self) -> npt.NDArray[np.int32]:
        """
        Nodes that the arcs of a source lattice lead from and to, int32 (tokens, 2); without rows for
        a sentence. `node_spans` are pairs of these nodes then.
        """

    @property
    def path_offsets(self) -> npt.NDArray[np.int32]:
        """
        Offsets of the target templates in `path`, int32 (templates + 1); empty for a sentence.
        """

    @property
    def path(self) -> npt.NDArray[np.int32]:
        """
        Arcs of a source lattice that the rules of edges have, by template, int32: indices into
        `source`.
        """

    def source_side(self, edge: int) -> list[int]:
        """
        Returns the source side of an edge: positions in `source`, and -1 - i for its tail i.

        Args:
            edge: Index of the edge.

        Raises:
            IndexError: There is no such edge.
        """

    @property
    def words(self) -> list[str]:
        """Target words, by the numbers in `target_symbols`."""

    @property
    def labels(self) -> list[str]:
        """Nonterminal labels, by the numbers in `node_labels`."""

    @property
    def tables(self) -> list[str]:
        """Owner names of the rule tables, by the numbers in `edge_tables`."""

    @staticmethod
    def from_arrays(
        *,
        edge_offsets: npt.ArrayLike,
        tail_offsets: npt.ArrayLike,
        tails: npt.ArrayLike,
        node_spans: npt.ArrayLike = ...,
        node_labels: npt.ArrayLike = ...,
        edge_tables: npt.ArrayLike = ...,
        edge_rules: npt.ArrayLike = ...,
        edge_targets: npt.ArrayLike = ...,
        target_offsets: npt.ArrayLike = ...,
        target_symbols: npt.ArrayLike = ...,
        link_offsets: npt.ArrayLike = ...,
        links: npt.ArrayLike = ...,
        features: npt.ArrayLike | scipy.sparse.csr_array = ...,
        feature_names: Sequence[str] = ...,
        source: Sequence[str] = ...,
        source_nodes: npt.ArrayLike = ...,
        path_offsets: npt.ArrayLike = ...,
        path: npt.ArrayLike = ...,
        words: Sequence[str] = ...,
        labels: Sequence[str] = ...,
        tables: Sequence[str] = ...,
    ) -> Forest:
        """
        Makes a forest of the arrays that forests have as attributes.

        By default there are no spans, labels, rules, words and features, and every edge joins the yields of
        its tails. The root is the last node. A lattice is a forest whose edges have one tail each, but for
        the edges into the first node, which have none.

        Args:
            edge_offsets: int32 (nodes + 1), edges of each node.
            tail_offsets: int32 (edges + 1), tails of each edge.
            tails: int32, tail nodes; a tail comes before its head.
            node_spans: int32 (nodes, 2), first source word and the word past the last one (default: 0, 0).
            node_labels: int32 (nodes), indices into `labels` (default: -1).
            edge_tables: int32 (edges), indices into `tables` (default: -1).
            edge_rules: int64 (edges), rule ids (default: -1).
            edge_targets: int32 (edges), target templates.
            target_offsets: int32 (templates + 1), symbols of each target template.
            target_symbols: int32, indices into `words`, or -1 - i for the yield of tail i.
            link_offsets: int32 (templates + 1), links of each target template (default: no links).
            links: int32 (links, 2), source and target token positions in the rule.
            features: Matrix (edges, features), dense or sparse; needs `feature_names`.
            feature_names: Names of the columns of `features`.
            source: Tokens of the source sentence, or of all arcs of a source lattice.
            source_nodes: int32 (tokens, 2), the nodes that the arcs of a source lattice lead from and to.
            path_offsets: int32 (templates + 1), of a source lattice: arcs of each target template.
            path: int32, of a source lattice: the arcs that the rule of an edge has, in order.
            words: Target words.
            labels: Nonterminal labels.
            tables: Owner names of rule tables.

        Raises:
            ForestError: The arrays make no forest; the message says what is wrong.
            TypeError: An argument is missing or unknown.
        """

    def with_features(
        self, features: npt.ArrayLike | scipy.sparse.csr_array, feature_names: Sequence[str]
    ) -> Forest:
        """
        Returns the same forest with other features; all else is shared.

        Args:
            features: Matrix (edges, features), dense or sparse.
            feature_names: Names of its columns.

        Raises:
            ForestError: The matrix does not fit, or has values that are not finite.
        """

    def scores(self, weights: npt.ArrayLike | Mapping[str, float]) -> npt.NDArray[np.float64]:
        """
        Returns weights . features for every edge.

        Args:
            weights: float64 (features) in the order of `feature_names`, or a mapping by name; a feature
                without a weight counts 0.

        Returns:
            float64 (edges), natural log.

        Raises:
            FormatError: A weight names no feature (of a forest with edges).
            ValueError: The vector does not have a weight per feature.
        """

    def weighted_features(self, factors: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """
        Returns the sum of the feature rows of all edges, each times a factor.

        Args:
            factors: float64 (edges).

        Returns:
            float64 (features).

        Raises:
            ValueError: There is not one factor per edge.
        """

    @property
    def derivation_count(self) -> int:
        """
        Number of derivations of the root, an int of any size.

        Raises:
            ForestError: There are more than 2^(2^20).
        """

    def viterbi(
        self, scores: npt.ArrayLike | Mapping[str, float], node: int | None = None
    ) -> Derivation | None:
        """
        Returns the derivation with the greatest sum of edge scores, ties by edge index.

        Args:
            scores: float64 (edges), finite or -inf, or weights by feature name.
            node: The node to derive (default: the root).

        Returns:
            The derivation, or None if there is none of a score above -inf.

        Raises:
            ValueError: There is not one score per edge, or one is neither finite nor -inf.
            FormatError: A weight names no feature.
            IndexError: There is no such node.
        """

    def derivation(
        self,
        edges: Sequence[int],
        scores: npt.ArrayLike | Mapping[str, float] | None = None,
        node: int | None = None,
    ) -> Derivation:
        """
        Returns the derivation with these edges.

        Args:
            edges: Edge indices in preorder, children in the order of tails.
            scores: float64 (edges), or weights by feature name; without them its score is 0.
            node: The node to derive (default: the root).

        Raises:
            ForestError: The edges are not the preorder of a derivation of the node.
            IndexError: There is no such node.
        """

    def prune(
        self,
        scores: npt.ArrayLike | Mapping[str, float],
        *,
        posterior: float | None = None,
        margin: float | None = None,
        edges: int | None = None,
    ) -> Forest:
        """
        Returns the forest without its worst edges, by one of three criteria.

        The best derivation always stays; an empty forest stays empty.

        Args:
            scores: float64 (edges), or weights by feature name.
            posterior: Least posterior of an edge that stays, 0 to 1.
            margin: Greatest difference (natural log) between the best derivation with an edge that stays
                and the best of all.
            edges: Greatest number of edges; those stay whose best derivations score highest.

        Raises:
            ValueError: Not exactly one criterion is given, it is negative, or scores are not allowed; with
                `posterior` see also `distribution`.
        """

    def subforest(self, keep: npt.ArrayLike) -> Forest:
        """
        Returns the forest of the derivations that use marked edges only.

        Args:
            keep: bool (edges).

        Raises:
            ValueError: There is not one mark per edge.
        """

    @staticmethod
    def union(forests: Sequence[Forest]) -> Forest:
        """
        Returns the forest of all derivations of several forests of one sentence.

        A derivation that several forests have appears once, with its features in the first of them.
        Derivations are equal if they apply the same rules to the same spans; edges without a rule are equal
        by target and features.

        Raises:
            ValueError: There is no forest, or they are of different sentences.
        """

    def constrain(self, references: Sequence[Sequence[str]]) -> Forest:
        """
        Returns the forest of the derivations that yield a reference (forced decoding).

        Args:
            references: Token lists; a derivation has to yield one of them.

        Returns:
            A forest, without nodes if no derivation yields a reference.
        """

    def kbest(
        self,
        k: int,
        scores: npt.ArrayLike | Mapping[str, float],
        unique: bool = False,
        node: int | None = None,
    ) -> list[Derivation]:
        """
        Returns the k best derivations, best first (Huang and Chiang 2005, Algorithm 3).

        Args:
            k: Number of derivations; fewer are returned where no more score above -inf.
            scores: float64 (edges), finite or -inf, or weights by feature name.
            unique: Return only the best derivation of every target string.
            node: The node to derive (default: the root).

        Raises:
            ValueError: k is negative, or scores are not allowed (see `viterbi`).
            FormatError: A weight names no feature.
            IndexError: There is no such node.
        """

    def kbest_arrays(
        self,
        k: int,
        scores: npt.ArrayLike | Mapping[str, float],
        unique: bool = False,
        node: int | None = None,
    ) -> KBestArrays:
        """
        Returns the k best derivations as arrays, which is faster than a list of objects.

        Args:
            k: Number of derivations; fewer are returned where no more score above -inf.
            scores: float64 (edges), finite or -inf, or weights by feature name.
            unique: Return only the best derivation of every target string.
            node: The node to derive (default: the root).

        Raises:
            ValueError: k is negative, or scores are not allowed (see `viterbi`).
            FormatError: A weight names no feature.
            IndexError: There is no such node.
            ForestError: An array would have more than 2^31 - 1 entries.
        """

    def kbest_iter(
        self, scores: npt.ArrayLike | Mapping[str, float], unique: bool = False, node: int | None = None
    ) -> KBestIterator:
        """
        Returns an iterator over derivations, best first, which are computed as they are asked for.

        Args:
            scores: float64 (edges), finite or -inf, or weights by feature name.
            unique: Yield only the best derivation of every target string.
            node: The node to derive (default: the root).

        Raises:
            ValueError: Scores are not allowed (see `viterbi`).
            FormatError: A weight names no feature.
            IndexError: There is no such node.
        """

    def distribution(self, scores: npt.ArrayLike | Mapping[str, float]) -> Distribution:
        """
        Returns the distribution p(d) = exp(score(d)) / Z over the derivations of the root.

        Args:
            scores: float64 (edges), of at most 1e12 in size or -inf, or weights by feature name.

        Raises:
            ValueError: A score is out of range, or no derivation has a score above -inf.
            FormatError: A weight names no feature.
        """

    def annotate_ngrams(
        self,
        n: int,
        *,
        max_edges: int = 20000000,
        scores: npt.ArrayLike | Mapping[str, float] | None = None,
        beam: int = 0,
    ) -> Forest:
        """
        Returns a forest of the same derivations whose n-grams can be counted edge by edge.

        All strings of one of its nodes, but for the root, have the same first and last n - 1 words. The
        forest is exact, unless a beam keeps only some of the nodes that one node is split into.

        Args:
            n: Greatest length of n-grams, 1 to 100.
            max_edges: Greatest number of edges of the result.
            scores: float64 (edges), or weights by feature name; for a beam only.
            beam: Number of nodes to keep of those that a node is split into, by best inside score
                (default: all).

        Raises:
            ForestError: The forest would have more than max_edges edges.
            ValueError: n is out of range, or only one of scores and beam is given.
        """

    @property
    def ngram_order(self) -> int:
        """
        Greatest length n of the n-grams that the forest is annotated with; 0: not annotated.
        """

    @property
    def node_boundaries(self) -> npt.NDArray[np.int32]:
        """
        First and last n - 1 words of each node's strings, int32 (nodes, 2, n - 1): indices into
        `words`, and -1 behind and before shorter strings and for the root.
        """

    def ngrams(self) -> tuple[list[tuple[str, ...]], scipy.sparse.csr_array]:
        """
        Returns the n-grams of an annotated forest and how often each arises at each edge.

        The sum over a derivation's edges is the number of times that its string has the n-gram.

        Returns:
            ngrams: The n-grams of up to `ngram_order` words, as tuples.
            counts: scipy.sparse.csr_array (edges, n-grams).

        Raises:
            ValueError: The forest is not annotated (see `annotate_ngrams`).
        """

    def ngram_matches(
        self, references: Sequence[Sequence[str]]
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """
        Returns the numbers of n-grams that arise at each edge, and of those that match references.

        Matches are not clipped: an n-gram of a reference matches as often as it arises (Tromble et al. 2008).

        Args:
            references: Token lists.

        Returns:
            totals: int32 (edges, n), n-grams of 1, 2, ... words.
            matches: int32 (edges, n), those of them that occur in a reference.

        Raises:
            ValueError: The forest is not annotated (see `annotate_ngrams`).
        """

    @property
    def target_words(self) -> npt.NDArray[np.int32]:
        """Number of target words in each edge's own rule, int32 (edges)."""

    @property
    def covered_shares(self) -> npt.NDArray[np.float64]:
        """
        Share of the source sentence that each edge's own rule covers, float64 (edges): the sum over a
        derivation is 1.
        """

    def record(self) -> bytes:
        """
        Returns the forest as bytes with a checksum, without the names of its features: the form in which
        archives and pickles hold forests.
        """

    @staticmethod
    def from_record(record: bytes | memoryview, feature_names: Sequence[str]) -> Forest:
        """
        Reads a forest from the bytes that `record` returns.

        Args:
            record: The bytes, or a view of them.
            feature_names: Names of the features.

        Raises:
            ForestError: The bytes are damaged.
        """

    def rescore(
        self,
        scores: npt.ArrayLike | Mapping[str, float],
        mu: float,
        references: Sequence[Sequence[str]],
        *,
        document: npt.ArrayLike,
        document_source: float,
        k: int = 10,
        beam: int = 10,
        unique: bool = True,
        effective_length: str = "shortest",
    ) -> list[OracleHypothesis]:
        """
        Returns the k best derivations by model score and BLEU together (Chiang et al. 2008, section 2.4).

        The objective is (1 - mu) B + mu score, B = (document_source + |f|) BLEU(document + counts), where |f|
        is the length of the source sentence; mu = 0.5 gives oracles, mu = 0 the best BLEU, and mu = inf
        maximises score - B. B counts matches without clipping, and does not decompose over edges, so that the
        search is not exact.

        Args:
            scores: float64 (edges), finite, or weights by feature name.
            mu: Weight of the model score, 0 to inf.
            references: Token lists.
            document: float64 (10), statistics of the document so far; see bleu_counts.
            document_source: Number of source words of the document so far.
            k: Number of derivations.
            beam: Number of items that nodes below the root keep; 1 in the paper.
            unique: Of items with the same string, keep the best one only.
            effective_length: "shortest", "closest" or "average".

        Raises:
            ValueError: An argument is out of range, or all references are empty.
            ForestError: A derivation has over 2^27 edges, or a string over 2^30 words.
        """

    def envelope(
        self, intercepts: npt.ArrayLike | Mapping[str, float], slopes: npt.ArrayLike | Mapping[str, float]
    ) -> tuple[
        npt.NDArray[np.float64],
        npt.NDArray[np.float64],
        npt.NDArray[np.float64],
        npt.NDArray[np.int32],
        npt.NDArray[np.int32],
    ]:
        """
        Returns the derivations that win somewhere on a line through weight space (Kumar et al. 2009).

        Edge e scores intercepts[e] + gamma slopes[e]. Of derivations that are equal everywhere the one wins
        that `viterbi` returns.

        Args:
            intercepts: float64 (edges), finite, or weights by feature name.
            slopes: float64 (edges), finite, or weights by feature name.

        Returns:
            begins: float64 (n), gamma where each derivation begins to win, ascending from -inf.
            intercepts: float64 (n), intercepts of the derivations.
            slopes: float64 (n), slopes of the derivations.
            word_offsets: int32 (n + 1), offsets of their strings in `words`.
            words: int32, target words as indices into the forest's `words`.

        Raises:
            ValueError: The arrays do not fit, or a value is not finite.
            ForestError: The strings have over 2^31 - 1 words.
        """

class Derivation:
    """A derivation of a forest, with its score."""

    @property
    def score(self) -> float:
        """Sum of the scores of its edges (natural log)."""

    @property
    def edges(self) -> npt.NDArray[np.int32]:
        """
        Edges in preorder, children in source order: int32 indices into the forest's edges.
        """

    @property
    def tokens(self) -> list[str]:
        """Target words that it yields."""

    @property
    def text(self) -> str:
        """Target words with blanks between them."""

    @property
    def features(self) -> dict[str, float]:
        """Feature sums by name; features that it does not have are 0."""

    @property
    def alignment(self) -> list[tuple[int, int]]:
        """Word alignment: sorted (source position, target position) pairs."""

    @property
    def path(self) -> list[int]:
        """
        Positions of the source words that it translates: all, or those of a path through a lattice.
        """

    @property
    def forest(self) -> Forest:
        """The forest that it is part of."""

class KBestArrays:
    """K-best list as arrays; see Forest.kbest_arrays."""

    def __len__(self) -> int:
        """Returns the number of derivations."""

    @property
    def scores(self) -> npt.NDArray[np.float64]:
        """Score of each derivation (natural log), best first: float64 (k)."""

    @property
    def edge_offsets(self) -> npt.NDArray[np.int32]:
        """Offsets of the derivations in `edges`, int32 (k + 1)."""

    @property
    def edges(self) -> npt.NDArray[np.int32]:
        """Edges of all derivations, each in preorder: int32."""

    @property
    def word_offsets(self) -> npt.NDArray[np.int32]:
        """Offsets of the derivations' strings in `words`, int32 (k + 1)."""

    @property
    def words(self) -> npt.NDArray[np.int32]:
        """
        Target words of all derivations, int32: indices into the forest's `words`.
        """

    @property
    def features(self) -> scipy.sparse.csr_array:
        """
        Feature sums of each derivation, a scipy.sparse.csr_array (k, features).
        """

class KBestIterator:
    """Iterator over derivations, best first; see Forest.kbest_iter."""

    def __iter__(self) -> KBestIterator: ...
    def __next__(self) -> Derivation: ...

class Distribution:
    """
    Distribution p(d) = exp(score(d)) / Z over a forest's derivations d.

    See Forest.distribution, which makes one, and hiero.forest for expectations, entropy and risk (Li and
    Eisner 2009).
    """

    @property
    def forest(self) -> Forest:
        """The forest."""

    @property
    def scores(self) -> npt.NDArray[np.float64]:
        """Score of each edge (natural log), float64 (edges)."""

    @property
    def log_z(self) -> float:
        """Natural log of Z, the sum of exp(score) over all derivations."""

    @property
    def edges(self) -> npt.NDArray[np.float64]:
        """
        Posterior of each edge, float64 (edges): its expected number of uses in a derivation,
        more than 1 where derivations can use it several times.
        """

    @property
    def nodes(self) -> npt.NDArray[np.float64]:
        """
        Posterior of each node, float64 (nodes): its expected number of uses in a derivation.
        """

    @property
    def shares(self) -> npt.NDArray[np.float64]:
        """
        Probability of each edge among those with its head, given the head: float64 (edges).
        """

    @property
    def inside(self) -> npt.NDArray[np.float64]:
        """Natural log of each node's inside value, float64 (nodes)."""

    @property
    def outside(self) -> npt.NDArray[np.float64]:
        """
        Natural log of each node's outside value, float64 (nodes); -inf for nodes that no derivation
        of the root uses.
        """

    def edge_expectations(self, values: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """
        Returns p(e) E[r(d) | e] for every edge, where r(d) is the sum of `values` over d's edges.

        A derivation that uses an edge twice counts twice. Inside-outside in the expectation semiring E_{P,R}
        (Li and Eisner 2009, section 4.4).

        Args:
            values: float64 (edges), finite.

        Returns:
            float64 (edges).

        Raises:
            ValueError: There is not one value per edge, or one is not finite.
        """

    def edge_second_moments(self, values: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """
        Returns p(e) E[r(d)^2 | e] for every edge, where r(d) is the sum of `values` over d's edges.

        Args:
            values: float64 (edges), finite.

        Returns:
            float64 (edges).

        Raises:
            ValueError: There is not one value per edge, or one is not finite.
        """

    def word_posteriors(self, words: Sequence[str]) -> list[float]:
        """
        Returns how sure each word of a translation is, from 0 to 1 (Translation.confidence).

        It is the expected number of times that a derivation's string has the word, over the number of
        times that the translation has it.

        Args:
            words: Tokens of the translation.
        """

    def sample(self, count: int, seed: int) -> list[Derivation]:
        """
        Returns independent derivations drawn from the distribution.

        Args:
            count: Number of derivations.
            seed: Seed of the random numbers; the same seed gives the same derivations on every platform.
        """

    def ngrams(self) -> tuple[list[tuple[str, ...]], npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """
        Returns the n-grams of an annotated forest with their probabilities and expected numbers.

        Exact (Tromble et al. 2008).

        Returns:
            ngrams: The n-grams of up to `ngram_order` words, as tuples.
            posteriors: float64 (n-grams), the probability that a derivation's string has the n-gram.
            expectations: float64 (n-grams), its expected number of occurrences.

        Raises:
            ValueError: The forest is not annotated (see Forest.annotate_ngrams).
        """

    def mbr_values(self, theta: Sequence[float]) -> npt.NDArray[np.float64]:
        """
        Returns edge scores whose best derivation has the greatest expected linear BLEU.

        Minimum Bayes risk over the forest (Tromble et al. 2008).

        Args:
            theta: theta[0] is the value of a word, theta[n] of an n-gram that occurs, times the probability
                that it occurs.

        Returns:
            float64 (edges).

        Raises:
            ValueError: The forest is not annotated with n-grams of len(theta) - 1 words or more.
        """

    def variational_values(self, order: int) -> npt.NDArray[np.float64]:
        """
        Returns edge scores whose sum over a derivation is log q of its string.

        q is the n-gram model nearest to the distribution p over strings by KL(p || q) (Li, Eisner and
        Khudanpur 2009).

        Args:
            order: n of the n-gram model.

        Returns:
            float64 (edges), natural log.

        Raises:
            ValueError: The forest is not annotated with n-grams of this order or more.
        """

class Scaled:
    """Real number of either sign, as precise as a float and of any size."""

    def __init__(self, value: float) -> None:
        """
        Makes a number from a float.

        Args:
            value: The float.

        Raises:
            ValueError: The float is not finite.
        """

    @staticmethod
    def exp(x: float) -> Scaled:
        """
        Returns e**x.

        Raises:
            ValueError: x is neither -inf nor of at most 1e12 in size.
        """

    @property
    def sign(self) -> int:
        """Sign: -1, 0 or 1."""

    @property
    def log_abs(self) -> float:
        """Natural log of the absolute value; -inf for 0."""

    def __float__(self) -> float: ...
    def __add__(self, arg: Scaled | float, /) -> Scaled: ...
    def __sub__(self, arg: Scaled | float, /) -> Scaled: ...
    def __mul__(self, arg: Scaled | float, /) -> Scaled: ...
    def __truediv__(self, arg: Scaled | float, /) -> Scaled: ...
    def __neg__(self) -> Scaled: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

class _Semiring:
    """Base class of the semirings of this module."""

    @property
    def zero(self) -> Any:
        """Neutral element of plus."""

    @property
    def one(self) -> Any:
        """Neutral element of times."""

    def plus(self, a: Any, b: Any) -> Any:
        """Returns a + b."""

    def times(self, a: Any, b: Any) -> Any:
        """Returns a b."""

    def star(self, a: Any) -> Any:
        """
        Returns 1 + a + a a + ...

        Raises:
            ValueError: The sum does not exist.
        """

class BooleanSemiring(_Semiring):
    """Booleans with or and and: is there a derivation?"""

    def __init__(self) -> None: ...

class CountingSemiring(_Semiring):
    """Integers of 0 or more with + and *: the number of derivations."""

    def __init__(self) -> None: ...

class RealSemiring(_Semiring):
    """Floats with + and *."""

    def __init__(self) -> None: ...

class LogSemiring(_Semiring):
    """Natural logs of floats with + and *."""

    def __init__(self) -> None: ...

class TropicalSemiring(_Semiring):
    """Costs with min and +: the least total cost."""

    def __init__(self) -> None: ...

class ScaledSemiring(_Semiring):
    """Numbers of any size with + and *: Scaled, or floats as input."""

    def __init__(self) -> None: ...

class ViterbiSemiring(_Semiring):
    """
    Best derivations: values are (score, edges).

    The zero is (-inf, ()). Of equal scores the smaller sequence of edges wins; neither of the sequences of
    plus(a, b) may be the beginning of the other, as holds for the derivations of one node.
    """

    def __init__(self) -> None: ...

class KBestSemiring(_Semiring):
    """Lists of the k best derivations (score, edges), best first."""

    def __init__(self, k: int) -> None:
        """
        Makes a semiring of lists of up to k derivations.

        Raises:
            ValueError: k is below 1.
        """

class ExpectationSemiring(_Semiring):
    """
    Expectation semiring E_{R,R^n} (Li and Eisner 2009, Table 1).

    Values are (p, r), r a vector of n components. With weights (p, p r) of edges, the root's inside value
    is (Z, the sum over derivations of p r). Components are Scaled, or floats as input.
    """

    def __init__(self, n: int) -> None:
        """Makes a semiring whose vectors have n components."""

class SecondOrderSemiring(_Semiring):
    """
    Second-order expectation semiring E_{R,R^n,R^m,R^(n m)} (Li and Eisner 2009, Table 2).

    Values are (p, r, s, t): r a vector of n components, s of m, and t of n m, row by row.
    """

    def __init__(self, n: int, m: int) -> None:
        """Makes a semiring whose vectors have n, m and n m components."""

class LiftedSemiring(_Semiring):
    """
    SecondOrderSemiring as a first-order one over E_{R,R^n} (Li and Eisner 2009, Table 4).

    Values are ((p, r), (s, t)).
    """

    def __init__(self, n: int, m: int) -> None:
        """Makes a semiring whose vectors have n, m and n m components."""

def inside(forest: Forest, semiring: Any, weights: Iterable[Any]) -> list[Any]:
    """
    Returns the inside value of every node (Goodman 1999; Li and Eisner 2009, Figure 2).

    The root's is the sum over all derivations of the product of their edges' weights.

    Args:
        forest: The forest.
        semiring: A semiring of this module, or any object with zero, one, plus(a, b) and times(a, b),
            which is slower.
        weights: A value of the semiring for each edge.

    Raises:
        ValueError: There is not one weight per edge.
        TypeError: A weight is no value of the semiring.
    """

def outside(forest: Forest, semiring: Any, weights: Iterable[Any], inside: Iterable[Any]) -> list[Any]:
    """
    Returns the outside value of every node (Li and Eisner 2009, Figure 3).

    Args:
        forest: The forest.
        semiring: A semiring whose times commutes: of this module, or any object with zero, one,
            plus(a, b) and times(a, b), which is slower.
        weights: A value of the semiring for each edge.
        inside: Inside value of each node.

    Raises:
        ValueError: There is not one weight per edge and one inside value per node.
        TypeError: A value is none of the semiring.
    """

class ReferenceSet:
    """
    References of the segments of a test set, for counting n-grams of hypotheses.

    Hypotheses are given as arrays: the segment of each, int32 (n); a vocabulary; the words of all, int32
    indices into the vocabulary; and the offsets of each hypothesis in the words, int32 (n + 1).
    """

    def __init__(self, segments: Sequence[Sequence[Sequence[str]]]) -> None:
        """
        Indexes the n-grams of references.

        Args:
            segments: For each segment its references, each a list of tokens. Empty references count as
                missing.

        Raises:
            ValueError: All references of a segment are empty; the message names it, from 0.
        """

    def __len__(self) -> int:
        """Returns the number of segments."""

    def bleu(
        self,
        segments: npt.ArrayLike,
        vocabulary: Sequence[str],
        words: npt.ArrayLike,
        offsets: npt.ArrayLike,
        effective_length: str = "closest",
    ) -> npt.NDArray[np.float64]:
        """
        Returns BLEU's statistics of hypotheses (Papineni et al. 2002).

        Args:
            segments: int32 (n), segment of each hypothesis.
            vocabulary: Words, by the numbers in `words`.
            words: int32, words of all hypotheses.
            offsets: int32 (n + 1), offsets of the hypotheses in `words`.
            effective_length: "shortest", "closest" (ties go to the shorter) or "average".

        Returns:
            float64 (n, 10), columns length, effective reference length, n-gram totals for n = 1 to 4, and
                clipped matches for n = 1 to 4.

        Raises:
            IndexError: There is no such segment or word.
            ValueError: The arrays do not fit, or the effective length is unknown.
        """

    def unclipped(
        self, segments: npt.ArrayLike, vocabulary: Sequence[str], words: npt.ArrayLike, offsets: npt.ArrayLike
    ) -> npt.NDArray[np.float64]:
        """
        Returns the numbers of n-grams of hypotheses that occur in a reference, without clipping.

        They are the statistics of linear BLEU (Tromble et al. 2008).

        Args:
            segments: int32 (n), segment of each hypothesis.
            vocabulary: Words, by the numbers in `words`.
            words: int32, words of all hypotheses.
            offsets: int32 (n + 1), offsets of the hypotheses in `words`.

        Returns:
            float64 (n, 4), for n-grams of 1 to 4 words.

        Raises:
            IndexError: There is no such segment or word.
            ValueError: The arrays do not fit.
        """

    def nist(
        self, segments: npt.ArrayLike, vocabulary: Sequence[str], words: npt.ArrayLike, offsets: npt.ArrayLike
    ) -> npt.NDArray[np.float64]:
        """
        Returns NIST's statistics of hypotheses (Doddington 2002).

        The information of an n-gram is log2 of how often its first n - 1 words occur in all references,
        divided by how often it does; for one word, of the number of words divided by that.

        Args:
            segments: int32 (n), segment of each hypothesis.
            vocabulary: Words, by the numbers in `words`.
            words: int32, words of all hypotheses.
            offsets: int32 (n + 1), offsets of the hypotheses in `words`.

        Returns:
            float64 (n, 12), columns length, mean reference length, information of clipped matches in bits for
                n = 1 to 5, and n-gram totals for n = 1 to 5.

        Raises:
            IndexError: There is no such segment or word.
            ValueError: The arrays do not fit.
        """

def bleu_counts(
    tokens: Sequence[str], references: Sequence[Sequence[str]], effective_length: str = "shortest"
) -> npt.NDArray[np.float64]:
    """
    Returns BLEU's statistics of one sentence.

    Args:
        tokens: Tokens of the hypothesis.
        references: Token lists; empty ones count as missing.
        effective_length: "shortest", "closest" or "average".

    Returns:
        float64 (10), as a row of ReferenceSet.bleu.

    Raises:
        ValueError: All references are empty, or the effective length is unknown.
    """

class OracleHypothesis:
    """Hypothesis of Forest.rescore."""

    @property
    def derivation(self) -> Derivation:
        """The derivation; its score is the model's."""

    @property
    def objective(self) -> float:
        """
        The objective that it was chosen by, computed from matches that are not clipped.
        """

    @property
    def counts(self) -> npt.NDArray[np.float64]:
        """
        BLEU's statistics of its string, float64 (10), with clipped matches; see ReferenceSet.bleu.
        """

RESCORE_K: int = 10

RESCORE_BEAM: int = 10

def bleu(counts: npt.ArrayLike, orders: npt.ArrayLike = 4) -> Any:
    """
    Returns BLEU, from 0 to 1, of rows of statistics or of sums of rows (Papineni et al. 2002).

    Args:
        counts: float64 (..., 10), see ReferenceSet.bleu.
        orders: Greatest length of n-grams, 1 to 4: one number, or an array of shape (...).

    Returns:
        float64 (...), a float for one row; 0 where a precision is 0.

    Raises:
        ValueError: Rows do not have 10 numbers, or an order is out of range.
    """

def bleu_plus_one(counts: npt.ArrayLike) -> Any:
    """
    Returns BLEU with 1 added to matches and totals of n > 1 (Lin and Och 2004).

    Args:
        counts: float64 (..., 10), see ReferenceSet.bleu.

    Returns:
        float64 (...), a float for one row; 0 where no word matches.

    Raises:
        ValueError: Rows do not have 10 numbers.
    """

class Applications:
    """
    Rule applications: the rules of a source side and label, applied to a span and its gaps.
    """

    def __len__(self) -> int:
        """Returns the number n of applications."""

    @property
    def tables(self) -> npt.NDArray[np.int32]:
        """Rule table of each application, int32 (n)."""

    @property
    def labels(self) -> npt.NDArray[np.uint32]:
        """
        Left-hand label of each application, uint32 (n): indices into the model's labels.
        """

    @property
    def spans(self) -> npt.NDArray[np.int32]:
        """
        First source word of each application and the word past its last, int32 (n, 2).
        """

    @property
    def gaps(self) -> npt.NDArray[np.int32]:
        """
        Spans of the nonterminals in source order, int32 (n, g, 2), and -1 where there is none; g is 2,
        or more where a rule of the sentence has more nonterminals.
        """

class ApplicationBatch:
    """
    Rule applications with a row for each rule of each, the input of local features.
    """

    def __len__(self) -> int:
        """Returns the number of rows."""

    @property
    def applications(self) -> Applications:
        """The applications."""

    @property
    def application(self) -> npt.NDArray[np.uint32]:
        """Application of each row, uint32 (rows), ascending."""

    @property
    def rules(self) -> npt.NDArray[np.uint32]:
        """Rule of each row, uint32 (rows): id in the application's table."""

    @property
    def reordered(self) -> npt.NDArray[np.uint8]:
        """
        Reordering flags of each row, uint8 (rows): bit i is set if nonterminal i is reordered.
        """

class Chart:
    """
    Chart of a sentence: the items that search left in every cell.

    All items are nodes of one forest. Scores are those of the weights that the sentence was searched with.
    """

    @property
    def forest(self) -> Forest:
        """
        Forest of the items of all cells, including those that no complete derivation uses.
        """

    @property
    def survived(self) -> npt.NDArray[np.uint8]:
        """Flag of each node, uint8 (nodes): 1 if the item survived pruning."""

    @property
    def completed(self) -> npt.NDArray[np.uint8]:
        """
        Flag of each node, uint8 (nodes): 1 if the item was made after search had stopped, only
        for its split point (with keep="splits").
        """

    @property
    def scores(self) -> npt.NDArray[np.float64]:
        """
        Score of the best derivation of each node (natural log), float64 (nodes).
        """

    @property
    def edge_scores(self) -> npt.NDArray[np.float64]:
        """weights . features of each edge (natural log), float64 (edges)."""

    @property
    def spans(self) -> list[tuple[int, int]]:
        """
        All spans with an item, in order: first source word and the word past the last one.
        """

    def nodes(self, begin: int, end: int) -> npt.NDArray[np.int32]:
        """
        Returns the items of a span, of all labels, best first; the root is no item.

        Args:
            begin: First source word.
            end: Source word past the last one.

        Returns:
            int32, nodes; empty if the span has no item.
        """

    def derivation(self, node: int) -> Derivation:
        """
        Returns the best derivation of a node.

        Raises:
            IndexError: There is no such node.
        """

    def splits(self, begin: int, end: int) -> dict[int, Derivation]:
        """
        Returns the best derivation of a span for each split point.

        The split point of a derivation is the source position where the first nonterminal of its topmost rule
        ends, leaving out unary rules (Zhai et al. 2015, section 3.2.3). Where search stops at a limit, only a
        chart with keep="splits" has all split points.

        Args:
            begin: First source word.
            end: Source word past the last one.

        Returns:
            Derivations by split point, in order.
        """

    def outside(
        self,
        kind: str,
        references: Sequence[Sequence[str]] | None = None,
        *,
        k: int = 50,
        beam: int = 30,
        recovered: int = 50,
        margin: float = float("inf"),
        effective_length: str = "average",
    ) -> OutsideStrings:
        """
        Returns the target words left and right of each span in translations (Zhai et al. 2015, section 3.2).

        Args:
            kind: "nothing"; "concatenation" of the best translations before and behind the span; "top-down"
                from the k best translations; or "guided" backtrace, for a chart with keep="splits".
            references: Token lists, for "guided" only.
            k: Number of translations of the sentence, with distinct strings.
            beam: Number of items of each span that are considered, the best ones.
            recovered: Greatest number of derivations that the guided backtrace recovers for a span.
            margin: How far below the worst other candidate of its span a recovered derivation may score to be
                a candidate, in units of the distance from the best to the worst of these.
            effective_length: "shortest", "closest" or "average".

        Raises:
            ValueError: An argument is out of range, or "guided" has no reference with a token.
        """

class OutsideStrings:
    """
    Target words left and right of the spans of a chart, in translations of the sentence.

    With them, partial derivations can be judged by whole translations (Zhai et al. 2015, section 3.2). See
    Chart.outside, which makes them. Not for several threads at once.
    """

    @property
    def chart(self) -> Chart:
        """The chart."""

    @property
    def kind(self) -> str:
        """Kind of outside strings, as it was given to Chart.outside."""

    @property
    def reached(self) -> list[tuple[int, int]]:
        """
        Spans that the top-down or guided traversal reached, in order; all spans for other kinds.
        """

    def around(self, begin: int, end: int) -> tuple[list[str], list[str]]:
        """
        Returns the tokens left and right of a span.

        Spans that are not reached have those of the kind "concatenation".

        Args:
            begin: First source word.
            end: Source word past the last one.

        Raises:
            IndexError: The sentence has no such span.
        """

    def candidates(self, begin: int, end: int) -> KBestArrays:
        """
        Returns the candidate translations of a span for tuning.

        For the whole sentence they are the k best translations, for other spans the items of the beam, or
        only the best item where the span is not reached; then the derivations that the guided backtrace
        recovers.

        Args:
            begin: First source word.
            end: Source word past the last one.

        Returns:
            Candidates, none for a span without items. `words` are those of whole translations, or with the
                kind "nothing" of the span alone; `features` and `scores` are those of the partial
                derivations. The tails of edges of recovered derivations are not the heads of the edges that
                follow.

        Raises:
            IndexError: The sentence has no such span.
        """

    def recovered(self, begin: int, end: int) -> list[tuple[Derivation, float]]:
        """
        Returns the derivations that the guided backtrace recovers for a span, best first.

        Args:
            begin: First source word.
            end: Source word past the last one.

        Returns:
            Pairs of a derivation, in a forest that has no other, and the BLEU+1, from 0 to 1, of the
                translation that it would be part of.
        """

    @property
    def oracle(self) -> list[str]:
        """
        Tokens of the translation with the highest BLEU+1 that the guided backtrace came across.
        """

    @property
    def oracle_bleu(self) -> float:
        """BLEU+1 of `oracle`, from 0 to 1."""

    @property
    def best_bleu(self) -> float:
        """Highest BLEU+1 among the k best translations, from 0 to 1."""

class DecodeStats:
    """Cost of decoding a sentence."""

    @property
    def applications(self) -> int:
        """Number of rule applications matched."""

    @property
    def cells(self) -> int:
        """Number of chart cells searched."""

    @property
    def hypotheses(self) -> int:
        """Number of complete hypotheses."""

    @property
    def completed(self) -> int:
        """
        Number of further hypotheses, for split points without one (keep="splits").
        """

    @property
    def lm_queries(self) -> int:
        """Number of n-gram look-ups in all language models."""

class Translation:
    """Translation of a sentence."""

    @property
    def has_parse(self) -> bool:
        """Whether rules derive the sentence; if not, there are no tokens."""

    @property
    def tokens(self) -> list[str]:
        """Target words."""

    @property
    def text(self) -> str:
        """
        Translation as text: detokenised if raw text was translated, else tokens with blanks between
        them.
        """

    @text.setter
    def text(self, arg: str, /) -> None: ...
    @property
    def score(self) -> float:
        """Model score, weights . features (natural log)."""

    @property
    def features(self) -> dict[str, float]:
        """Feature sums by name; features that it does not have are 0."""

    @property
    def weights(self) -> dict[str, float]:
        """Weights that it was scored with, by feature name."""

    @property
    def derivation(self) -> Derivation:
        """Best derivation."""

    @property
    def alignment(self) -> list[tuple[int, int]]:
        """Word alignment: sorted (source position, target position) pairs."""

    @property
    def source(self) -> list[str]:
        """Tokens of the source sentence."""

    @property
    def uncovered_source(self) -> list[int]:
        """
        Positions of source words that no rule translates in agreement with the sentence's constraint,
        where no derivation obeys it.
        """

    @property
    def uncovered_target(self) -> list[int]:
        """
        Positions of words of the only reference, or of the prefix without one, that no rule brings in
        agreement with the sentence's constraint, where no derivation obeys it.
        """

    @property
    def unknown(self) -> list[int]:
        """
        Positions of unknown source words: those that are the whole source side of no rule, but for
        rules that copy words, and that no rule of the sentence itself covers.
        """

    @property
    def forest(self) -> Forest:
        """
        Forest of all derivations that search considered (with keep="forest").

        Raises:
            AttributeError: The forest was not kept.
        """

    @property
    def chart(self) -> Chart:
        """
        Chart of all items that search left (with keep="chart" or keep="splits").

        Raises:
            AttributeError: The chart was not kept.
        """

    @property
    def optimal(self) -> bool:
        """
        Whether no derivation within the decoder's span_limit and ttable_limit has a higher score,
        but for the rounding of sums.
        """

    @property
    def gap(self) -> float:
        """
        Bound on how much higher the score of the best derivation can be (natural log): 0 if the
        translation is optimal, infinity if nothing is known.
        """

    @property
    def was_late(self) -> bool:
        """
        Whether the deadline ended the search, which then is not what it is without one.
        """

    @property
    def stats(self) -> DecodeStats:
        """Cost of decoding."""

    def kbest(self, k: int, unique: bool = False) -> list[Derivation]:
        """
        Returns the k best derivations, best first (with keep="forest").

        Args:
            k: Number of derivations; fewer are returned where there are no more.
            unique: Return only the best derivation of every target string.

        Raises:
            ValueError: The forest was not kept, or k is negative.
        """

    def confidence(self, derivation: Derivation | None = None) -> list[float]:
        """
        Returns how sure each target word is, from 0 to 1 (with keep="forest").

        It is the expected number of times that a translation has the word, by the forest, over the
        number of times that this one has it: for a word that stands once, the probability that a
        translation has it. A derivation has the probability exp(score / temperature) / Z, with the
        decoder's confidence_temperature. Words that were unknown and copied have 0.

        Args:
            derivation: A derivation of the sentence; the best one by default.

        Raises:
            ValueError: The forest was not kept.
        """

class DecoderOptions:
    """Options of a decoder."""

    def __init__(self, **values: Any) -> None:
        """
        Sets settings by name; the others have their defaults.

        Raises:
            ValueError: A value is out of its limits or of a wrong type.
            TypeError: A name is unknown.
        """

    @staticmethod
    def settings() -> list[Setting]:
        """Returns a description of each setting."""

class TargetConstraint:
    """
    Constraint on the words of a translation. See hiero.Sentence, which takes text.
    """

    def __init__(
        self,
        prefix: Sequence[str] = [],
        unfinished: Sequence[str] = [],
        references: Sequence[Sequence[str]] = [],
        required: Sequence[Sequence[str]] = [],
        forbidden: Sequence[Sequence[str]] = [],
    ) -> None:
        """
        Makes a constraint.

        Args:
            prefix: First words.
            unfinished: Beginnings of the word after the prefix, one of which it has; empty: any.
            references: All words: those of one of these; empty: any.
            required: Phrases that must occur, as lists of words.
            forbidden: Phrases that must not occur.
        """

    @property
    def prefix(self) -> list[str]:
        """First words."""

    @property
    def unfinished(self) -> list[str]:
        """
        Beginnings of the word after the prefix, one of which it has; empty: any.
        """

    @property
    def references(self) -> list[list[str]]:
        """Lists of all words, one of which it has; empty: any."""

    @property
    def required(self) -> list[list[str]]:
        """Phrases that must occur."""

    @property
    def forbidden(self) -> list[list[str]]:
        """Phrases that must not occur."""

class SourceMarkup:
    """
    Marks of words of a source sentence. See hiero.Sentence, which has them.
    """

    def __init__(
        self,
        phrases: Sequence[tuple[tuple[int, int], str, str, Sequence[Sequence[str]], Sequence[float]]],
        zones: Sequence[tuple[int, int]],
        walls: Sequence[tuple[int, tuple[int, int]]],
        kept: Sequence[str],
    ) -> None:
        """
        Makes marks. Positions count words from 0, and ends are exclusive.

        Args:
            phrases: Begin and end, mode ("exclusive", "inclusive" or "constraint"), label of its rules or "",
                translations as lists of words, and natural logarithms of their probabilities, of each phrase.
            zones: Begin and end of each phrase that is translated as a block.
            walls: Position of the word behind each wall, and the begin and end of its scope.
            kept: Words, without marks of joined tokens, that the translation has as often as the sentence.

        Raises:
            ValueError: A mode is unknown.
        """

class SourceLattice:
    """
    Arcs of a source sentence that is a lattice. See hiero.Lattice, which has words.
    """

    def __init__(self, arcs: Sequence[tuple[int, int]], scores: Sequence[Sequence[float]]) -> None:
        """
        Makes arcs.

        Args:
            arcs: Nodes that each arc leads from and to, sorted by the first; none: a string.
            scores: Scores of each arc.

        Raises:
            ValueError: Arcs have not all as many scores.
        """

class TranslationModel:
    """
    Tables, language models and features that a Decoder searches with; immutable. See
    hiero.Model, which holds one.
    """

    def __init__(
        self,
        tables: Sequence[RuleTable],
        owners: Sequence[str],
        estimates: Sequence[str],
        lms: Sequence[LanguageModel],
        local_features: Sequence[Any],
        goal: str,
        copy_labels: Sequence[str],
        glue_labels: Sequence[str],
        log_base: float = 0.0,
        log_features: Sequence[str] = [],
        sentence_features: Sequence[str] = [],
    ) -> None:
        """
        Joins the parts of a model.

        Args:
            tables: Rule tables.
            owners: Owner name of each table.
            estimates: For each table a file of estimates of its rules, or "" to compute them.
            lms: Language models, whose features are LM0, LM1, ...
            local_features: Objects with names and one of by_rule, by_span and by_gap; see
                hiero.features.protocols.
            goal: Label of whole sentences; "": the label whose rules open sentences with <s>, or S.
            copy_labels: Labels of words that are copied to the output; empty: X, or all labels without an X.
            glue_labels: Labels that glue rules are made for; empty: all left-hand labels.
            log_base: Base of the logarithms that features are given in; 0: natural.
            log_features: Names of features that are logarithms, besides those of language models; empty: the
                usual names of log probabilities.
            sentence_features: Names of features that rules of a sentence can have besides the model's.

        Raises:
            FormatError: The parts do not fit together.
            OSError: A file cannot be read.
            TypeError: An object is no local feature.
        """

    @property
    def feature_names(self) -> FeatureNames:
        """Names of all features, in the order of weights."""

    @property
    def scales(self) -> list[float]:
        """
        Factor by which each feature's natural logarithm is multiplied; 1 for other features.
        """

    def save_estimates(self, table: int, path: str) -> None:
        """
        Writes the estimates of a table's rules to a file.

        Args:
            table: Index of the table.
            path: Output file, written in full or not at all.

        Raises:
            IndexError: There is no such table.
            OSError: The file cannot be written.
        """

    def rule(self, table: int, rule: int) -> Rule:
        """
        Returns a rule of a table.

        Args:
            table: Index of the table.
            rule: Rule id in the table.

        Raises:
            IndexError: There is no such table or rule.
        """

    @property
    def goal(self) -> str:
        """Label of whole sentences."""

    @property
    def labels(self) -> list[str]:
        """Nonterminal labels of all tables."""

    @property
    def owners(self) -> list[str]:
        """Owner name of each table."""

class Deadline:
    """
    Moment after which a search ends with what it has.

    Any thread may bring it forward to now.
    """

    def __init__(self, seconds: float = float("inf")) -> None:
        """
        Makes a deadline.

        Args:
            seconds: Seconds from now; infinity: until expire() is called.

        Raises:
            ValueError: The number is negative or not a number.
        """

    @property
    def passed(self) -> bool:
        """Whether the moment has come."""

    def expire(self) -> None:
        """Brings the deadline forward to now."""

class Decoder:
    """
    Decoder of tokens, with a model, weights and options; immutable. See hiero.Decoder, which
    takes text.
    """

    def __init__(self, model: TranslationModel, weights: npt.ArrayLike, options: DecoderOptions) -> None:
        """
        Makes a decoder.

        Args:
            model: The model.
            weights: float64 (features), in the order of the model's feature names.
            options: Options of the search.

        Raises:
            ValueError: There is not one weight per feature, or one is not finite.
        """

    def with_weights(self, weights: npt.ArrayLike) -> Decoder:
        """
        Returns the same decoder with other weights, at the cost of the weights alone.

        Args:
            weights: float64 (features), in the order of the model's feature names.

        Raises:
            ValueError: There is not one weight per feature, or one is not finite.
        """

    def translate(
        self,
        tokens: Sequence[str],
        rules: Sequence[Rule],
        rule_weights: Sequence[tuple[str, float]],
        sentence: object | None,
        constraint: TargetConstraint,
        markup: SourceMarkup,
        lattice: SourceLattice,
        hidden: Sequence[Rule],
        rule_span_limit: int,
        deadline: Deadline | None,
        keep: str,
    ) -> Translation:
        """
        Returns the translation of a sentence.

        Args:
            tokens: Tokens of the source sentence.
            rules: Rules for this sentence only.
            rule_weights: Names and weights of features that only these rules have.
            sentence: The object that local features written in Python are called with.
            constraint: Constraint on the words of the translation.
            markup: Marks of words of the sentence.
            lattice: Nodes of the tokens, if they are the arcs of a lattice.
            hidden: Rules whose label and sides no rule of the model has that is used.
            rule_span_limit: Most source words of the rules with nonterminals; 0: any number.
            deadline: Moment at which the search ends with what it has; None: no such moment.
            keep: "none", "forest", "chart" or "splits": the part of the search space that the translation
                holds besides its best derivation.

        Raises:
            FormatError: The rules do not fit the model.
            ValueError: `keep` is unknown, a name or weight in rule_weights is not allowed, the constraint has
                an empty phrase or too many phrases, marks are not within the sentence, or the lattice is
                none.
        """

class ExtractOptions:
    """Options of rule extraction."""

    def __init__(self, **values: Any) -> None:
        """
        Sets settings by name; the others have their defaults.

        Raises:
            ValueError: A value is out of its limits or of a wrong type.
            TypeError: A name is unknown.
        """

    @staticmethod
    def settings() -> list[Setting]:
        """Returns a description of each setting."""

class ScoreOptions:
    """
    Options of rule scoring: which rules stay, and smoothing of probabilities.
    """

    def __init__(self, **values: Any) -> None:
        """
        Sets settings by name; the others have their defaults.

        Raises:
            ValueError: A value is out of its limits or of a wrong type.
            TypeError: A name is unknown.
        """

    @staticmethod
    def settings() -> list[Setting]:
        """Returns a description of each setting."""

class ExtractStatistics:
    """Statistics of rule extraction."""

    @property
    def pairs(self) -> int:
        """Number of sentence pairs."""

    @property
    def phrases(self) -> int:
        """Number of occurrences of initial phrase pairs."""

    @property
    def occurrences(self) -> int:
        """Number of occurrences of rules."""

    @property
    def rules(self) -> int:
        """Number of different rules."""

    @property
    def rules_seen(self) -> list[int]:
        """Numbers of rules with 1, 2, ..., 16 occurrences."""

    @property
    def monotone(self) -> list[int]:
        """
        Numbers of nonterminals that are not reordered, by length: 1 to 9 source words, and 10 or
        more.
        """

    @property
    def reordered(self) -> list[int]:
        """
        Numbers of nonterminals that cross another one or a link, by length: 1 to 9 source words, and
        10 or more.
        """

class ScoreStatistics:
    """Statistics of rule scoring."""

    @property
    def read(self) -> int:
        """Number of rules read."""

    @property
    def kept(self) -> int:
        """Number of rules in the table."""

class RuleCounts:
    """Counted rules in a file, the result of extraction."""

    def __init__(self, path: str) -> None:
        """
        Opens a file. Its rules are checked when they are read.

        Args:
            path: The file.

        Raises:
            OSError: The file cannot be read.
            FormatError: The file has no counted rules, is damaged, or has another format version.
        """

    @property
    def statistics(self) -> ExtractStatistics:
        """Statistics of the extraction."""

    def save_words(self, path: str) -> None:
        """
        Writes a file of the same word translation counts without any rules.

        Args:
            path: The file, written in full or not at all.

        Raises:
            OSError: The file cannot be written.
        """

    def visit(
        self, visit: Callable[[list[str], list[str], list[tuple[int, int]], float, int], object]
    ) -> None:
        """
        Calls a function for every rule.

        Args:
            visit: Called with the source tokens and target tokens as in rule text, the (source, target)
                positions of the most frequent alignment, the sum of the rule's shares of initial phrase
                pairs, and its number of occurrences.

        Raises:
            FormatError: The file is damaged.
        """

def extract(
    source: tuple[IO[bytes], str],
    target: tuple[IO[bytes], str],
    links: tuple[IO[bytes], str],
    output: str,
    options: ExtractOptions,
    memory: int,
    threads: int,
    progress: Callable[[int, int], object] | None,
) -> ExtractStatistics:
    """
    Extracts rules from word-aligned text and counts them (Chiang 2007, section 3).

    Args:
        source: Binary file of source sentences, and its name in error messages.
        target: Binary file of target sentences, and its name.
        links: Binary file of word alignments (0-0 1-2 ...), and its name.
        output: File of counted rules, written in full or not at all.
        options: Options.
        memory: Bytes for sorting.
        threads: Number of threads, which changes nothing but the time.
        progress: Called with the numbers of sentence pairs and of rule occurrences from time to time.

    Raises:
        FormatError: A line is malformed, or the files have different lengths.
        OSError: A file cannot be read or written.
    """

def score(
    counts: RuleCounts,
    output: str,
    options: ScoreOptions,
    bitext: tuple[tuple[IO[bytes], str], tuple[IO[bytes], str]] | None,
    least_significance: float,
    threads: int,
    progress: Callable[[int], object] | None,
) -> ScoreStatistics:
    """
    Computes the features of counted rules and packs a rule table.

    Args:
        counts: The counted rules.
        output: The table file, written in full or not at all.
        options: Options.
        bitext: Binary files of the source and target sentences that the rules come from, each with its
            name in error messages: rules stay if their -log p by Fisher's exact test (Johnson et al. 2007)
            is larger than least_significance. None: no test.
        least_significance: Limit of the test.
        threads: Number of threads, which changes nothing but the time.
        progress: Called with the number of rules read from time to time.

    Raises:
        FormatError: The counts are damaged, no rule is left, or the bitext is another one.
        OSError: A file cannot be read or written.
    """

def fisher_minus_log_p(both: int, source: int, target: int, pairs: int) -> float:
    """
    Returns -log p of Fisher's exact test (Johnson et al. 2007).

    p is the probability that two things which `source` and `target` of `pairs` sentence pairs have occur
    together in `both` or more of them by chance.

    Args:
        both: Number of sentence pairs with both things.
        source: Number of sentence pairs with the first one.
        target: Number of sentence pairs with the second one.
        pairs: Number of all sentence pairs.

    Returns:
        Natural log.
    """

EXTRACTED_SHARD: bytes = ...

def extract_shard(
    source: tuple[IO[bytes], str],
    target: tuple[IO[bytes], str],
    links: tuple[IO[bytes], str],
    output: str,
    options: ExtractOptions,
    key: str,
    shard: tuple[int, int],
    memory: int,
    threads: int,
    progress: Callable[[int, int], object] | None,
) -> ExtractStatistics:
    """
    Extracts the rules of a shard of the sentence pairs, for merge_extracted.

    Args:
        source: Binary file of source sentences, and its name in error messages.
        target: Binary file of target sentences, and its name.
        links: Binary file of word alignments (0-0 1-2 ...), and its name.
        output: File of rule occurrences, written in full or not at all.
        options: Options.
        key: Text that says with which options: only shards with the same are merged.
        shard: Its number, from 0, and the number of shards.
        memory: Bytes for sorting.
        threads: Number of threads, which changes nothing but the time.
        progress: Called with the numbers of sentence pairs and of rule occurrences from time to time.

    Raises:
        FormatError: A line is malformed, or the files have different lengths.
        OSError: A file cannot be read or written.
        ValueError: There is no such shard.
    """

def merge_extracted(shards: Sequence[str], output: str, memory: int, threads: int) -> ExtractStatistics:
    """
    Counts the rules of all shards. The file is the same as that of extract.

    Args:
        shards: Files from extract_shard, in any order.
        output: File of counted rules, written in full or not at all.
        memory: Bytes for sorting.
        threads: Number of threads, which changes nothing but the time.

    Raises:
        FormatError: A file is damaged, they do not belong together, or one is missing.
        OSError: A file cannot be read or written.
    """

def divide_extracted(shards: Sequence[str], folder: str, memory: int) -> list[bytes]:
    """
    Divides the source sides of rules into parts with about equally many rules.

    Args:
        shards: Files from extract_shard.
        folder: Folder for what does not fit into memory.
        memory: Bytes for sorting.

    Returns:
        The first source side of each part but the first one, for sum_extracted.
    """

def sum_extracted(
    shards: Sequence[str],
    firsts: Sequence[bytes],
    output: str,
    shard: tuple[int, int],
    memory: int,
    threads: int,
) -> None:
    """
    Sums a share of the rules of all shards.

    Args:
        shards: Files from extract_shard.
        firsts: What divide_extracted returned.
        output: File of sums, for code_extracted.
        shard: Number of the share of target sides, from 0, and the number of shares.
        memory: Bytes for sorting.
        threads: Number of threads.
    """

def code_extracted(
    sums: Sequence[str], output: str, shard: tuple[int, int], memory: int, threads: int
) -> None:
    """
    Sorts a share of the sums.

    Args:
        sums: All files from sum_extracted.
        output: File for join_extracted.
        shard: Number of the share of source sides, from 0, and the number of shares.
        memory: Bytes for sorting.
        threads: Number of threads.
    """

def join_extracted(shards: Sequence[str], coded: Sequence[str], output: str) -> ExtractStatistics:
    """
    Joins what other functions made of all shards. The file is the same as that of extract.

    Args:
        shards: Files from extract_shard.
        coded: All files from code_extracted, in order.
        output: File of counted rules, written in full or not at all.
    """

SCORED_SHARD: bytes = ...

def score_shard(
    counts: RuleCounts,
    output: str,
    options: ScoreOptions,
    key: str,
    bitext: tuple[tuple[IO[bytes], str], tuple[IO[bytes], str]] | None,
    least_significance: float,
    shard: tuple[int, int],
    threads: int,
    progress: Callable[[int], object] | None,
) -> ScoreStatistics:
    """
    Scores a shard of counted rules, for merge_scored.

    Args:
        counts: The counted rules.
        output: File of those rules that are kept, written in full or not at all.
        options: Options.
        key: Text that says with which options: only shards with the same are merged.
        bitext: As for score.
        least_significance: As for score.
        shard: Its number, from 0, and the number of shards.
        threads: Number of threads, which changes nothing but the time.
        progress: Called with the number of rules read from time to time.

    Raises:
        FormatError: The counts are damaged, or the bitext is another one.
        OSError: A file cannot be read or written.
        ValueError: There is no such shard.
    """

def merge_scored(shards: Sequence[str], output: str) -> ScoreStatistics:
    """
    Packs a rule table from all shards of scored rules, the same as score does.

    Args:
        shards: Files from score_shard, in any order.
        output: The table file, written in full or not at all.

    Raises:
        FormatError: A file is damaged, they do not belong together, one is missing, or no rule is left.
        OSError: A file cannot be read or written.
    """

class CountedRule:
    """Rule of corrected translations, with its counts."""

    @property
    def source(self) -> list[str]:
        """Source side as in rule text."""

    @property
    def target(self) -> list[str]:
        """Target side as in rule text."""

    @property
    def links(self) -> list[tuple[int, int]]:
        """Most frequent word alignment: (source, target) token positions."""

    @property
    def count(self) -> float:
        """Sum of the rule's shares of initial phrase pairs."""

    @property
    def occurrences(self) -> int:
        """Number of occurrences of the rule in corrections."""

    @property
    def source_count(self) -> float:
        """
        Sum of the counts of all rules of corrections with the same source side.
        """

    @property
    def target_count(self) -> float:
        """
        Sum of the counts of all rules of corrections with the same target side.
        """

    @property
    def trained_count(self) -> float:
        """
        Count of the rule in the training; 0 if the table of the training does not have it.
        """

    @property
    def trained_occurrences(self) -> int:
        """
        Number of occurrences of the rule in the training: 0, 1, or 2 for more.
        """

    @property
    def trained_target_count(self) -> float:
        """
        Sum of the counts in the training of all rules with the same target side; 0 if the table of
        the training does not have the rule.
        """

    @property
    def trained_source_count(self) -> float:
        """
        Sum of the counts in the training of all rules with the same source side.
        """

    @property
    def lex_fe(self) -> float:
        """
        Natural log of the lexical weight of the source side given the target side.
        """

    @property
    def lex_ef(self) -> float:
        """
        Natural log of the lexical weight of the target side given the source side.
        """

class CorrectedRules:
    """
    Rules of corrected translations, counted as corrections come.

    Lexical weights are by the words of a training and of the corrections. Not for several threads at once.
    """

    def __init__(self, words: RuleCounts, table: RuleTable, options: ExtractOptions) -> None:
        """
        Makes a table without rules.

        Args:
            words: Word translation counts of a training; the rules of the file are not read.
            table: Rule table of the training.
            options: How rules are extracted.

        Raises:
            ValueError: An option is out of range.
        """

    def add(self, source: Sequence[str], target: Sequence[str], links: Sequence[tuple[int, int]]) -> None:
        """
        Extracts and counts the rules of a pair.

        Args:
            source: Source tokens.
            target: Target tokens.
            links: Word alignment: (source, target) positions.

        Raises:
            IndexError: A link points beyond a sentence.
        """

    def rules_for(self, sentence: Sequence[str]) -> list[CountedRule]:
        """
        Returns the rules whose source words are all in a sentence.

        Args:
            sentence: Source tokens.
        """

    def __len__(self) -> int:
        """Returns the number of different rules."""

ALIGN_BYTES_PER_WORD: int = 24

ALIGN_BYTES_PER_TYPE: int = 192

class Aligner:
    """
    A bitext and the alignment of its words in both directions.

    The model is eflomal's (Östling and Tiedemann 2016). The text and the links lie in files without names.
    """

    def __init__(self, folder: str, threads: int) -> None:
        """
        Begins with no text.

        Args:
            folder: The folder of the files.
            threads: Number of threads, which changes nothing but the time.

        Raises:
            OSError: No file can be made.
            ValueError: There is no thread.
        """

    def add(self, source: tuple[IO[bytes], str], target: tuple[IO[bytes], str]) -> int:
        """
        Appends the pairs of two files.

        Args:
            source: Binary file of source tokens, and its name in error messages.
            target: Binary file of target tokens, and its name.

        Returns:
            Number of pairs.

        Raises:
            FormatError: The files have different lengths, a line is not UTF-8 or has more than 65,534 tokens.
            OSError: The disk is full, or a file cannot be read.
        """

    @property
    def pairs(self) -> int:
        """Number of pairs that have words on both sides."""

    @property
    def bytes_needed(self) -> int:
        """Bytes that the counts of all pairs may take."""

    def train(
        self,
        seed: int,
        samplers: int,
        memory: int,
        progress: Callable[[int, int], object] | None,
        shard: tuple[int, int] = (0, 1),
    ) -> int:
        """
        Learns the model, or a shard of it.

        The samplers of both directions are chains, which learn independently of each other. Sampler k of
        direction d is chain d * samplers + k. One process can learn all, or several a shard each.

        Args:
            seed: Seed of random choices.
            samplers: Number of samplers of each direction, whose probabilities are added up.
            memory: Bytes for counts. If they have no room for all pairs, the model learns from shards of
                pairs that are drawn at random.
            progress: Called with the number of sweeps done and that of all of the shard.
            shard: (i, n) for the chains c with c % n == i, of which there are none if n is so large.

        Returns:
            Number of pairs that it learned from.

        Raises:
            ValueError: There is no sampler, or no such shard.
            FormatError: No pair has words on both sides.
            OSError: The disk is full.
        """

    def save_chains(self, path: str) -> None:
        """
        Writes the chains of the shard that was trained, for take_chains.

        Args:
            path: The file, written in full or not at all.

        Raises:
            ValueError: The model is not trained.
            OSError: The file cannot be written.
        """

    def take_chains(self, paths: Sequence[str], seed: int, samplers: int, memory: int) -> int:
        """
        Takes the chains of all shards from files, in place of training.

        The files are mapped into memory. Links and models are those of an aligner that trains all.

        Args:
            paths: Files of chains of the same bitext, in any order.
            seed: Seed that they were trained with.
            samplers: Number of samplers of each direction that they were trained with.
            memory: Bytes for counts that they were trained with, or others that have room for the same pairs.

        Returns:
            Number of pairs that they learned from.

        Raises:
            ValueError: There is no sampler.
            FormatError: A file is none of chains, is damaged, has another format version, or is of another
                bitext or other settings; two files have the same chains, or chains are missing.
            OSError: A file cannot be read.
        """

    def lines(self, first: int, last: int, heuristic: str) -> tuple[bytes, bytes]:
        """
        Returns the links of pairs, a line for each, and their probabilities.

        Args:
            first: Number of the first pair, from 0.
            last: Number behind the last pair.
            heuristic: How the links of both directions are joined, such as "grow-diag-final-and".

        Returns:
            Lines of links such as b"0-0 1-2", and lines with the probability of each link, the mean of
            both directions, such as b"0.981 0.504".

        Raises:
            ValueError: There is no such heuristic, or the model is not trained, or only in part.
            IndexError: There are no such pairs.
        """

    def save(self, path: str) -> None:
        """
        Writes what was learned, for AlignmentModel.

        Args:
            path: The file, written in full or not at all.

        Raises:
            ValueError: The model is not trained, or only in part.
            OSError: The file cannot be written.
        """

class AlignmentModel:
    """
    A file of what word alignment has learned, by which pairs are aligned.

    The file is mapped into memory. The same pair always gets the same links. Threads may share a model.
    """

    def __init__(self, path: str) -> None:
        """
        Opens and checks a file.

        Args:
            path: The file.

        Raises:
            OSError: The file cannot be read.
            FormatError: The file is not an alignment model, is damaged, or has another format version.
        """

    @property
    def samplers(self) -> int:
        """Number of samplers of each direction."""

    def align(
        self, source: str, target: str, heuristic: str
    ) -> tuple[list[tuple[int, int]], npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """
        Aligns a pair of sentences.

        Args:
            source: Source tokens between spaces.
            target: Target tokens between spaces.
            heuristic: How the links of both directions are joined, such as "grow-diag-final-and".

        Returns:
            Links (source position, target position), sorted; the probabilities that each target word is
            linked with each source word, and last with none, (targets, sources + 1); and those of each source
            word, (sources, targets + 1). They are 0 if a side is empty.

        Raises:
            ValueError: There is no such heuristic.
            FormatError: A side has more than 65,534 tokens.
        """

    def lines(
        self, source: Sequence[str], target: Sequence[str], heuristic: str, threads: int
    ) -> tuple[bytes, bytes]:
        """
        Aligns pairs of sentences on several threads.

        Args:
            source: Lines of source tokens between spaces.
            target: Lines of target tokens between spaces.
            heuristic: How the links of both directions are joined, such as "grow-diag-final-and".
            threads: Number of threads, which changes nothing but the time.

        Returns:
            Lines of links and of their probabilities, as from Aligner.lines.

        Raises:
            ValueError: There is no such heuristic, or the sides have different numbers of lines.
            FormatError: A side of a pair has more than 65,534 tokens.
        """

def symmetrise(forward: Sequence[int], backward: Sequence[int], heuristic: str) -> list[tuple[int, int]]:
    """
    Joins the links of both directions of a sentence pair (Koehn et al. 2005).

    Args:
        forward: The position of the source word of each target word, or -1.
        backward: The position of the target word of each source word, or -1.
        heuristic: "intersection", "union", "grow-diag", "grow-diag-final" or "grow-diag-final-and".

    Returns:
        Links (source position, target position), sorted.

    Raises:
        ValueError: There is no such heuristic, or a position is not in the sentence.
    """

class DigestIndex:
    """
    Digests of many items, which tell the first of all items that are the same.

    It takes about 24 bytes an item.
    """

    def __init__(self) -> None:
        """Begins without items."""

    def add(self, digest: bytes) -> int:
        """
        Appends an item.

        Args:
            digest: 16 bytes of a good hash function of the item.

        Returns:
            The first item with this digest, counted from 0: this one if the digest is new.

        Raises:
            ValueError: There are not 16 bytes, or more items than 32 bits can count.
        """

    def first(self, item: int) -> int:
        """
        Returns the first item with the same digest as an item.

        Args:
            item: The item, counted from 0.

        Raises:
            IndexError: There is no such item.
        """

    def is_repeated(self, item: int) -> bool:
        """
        Tells whether an item, the first with its digest, has copies behind it.

        Args:
            item: The item, counted from 0.

        Raises:
            IndexError: There is no such item.
        """

    def __getitem__(self, item: int) -> bytes:
        """
        Returns the digest of an item.

        Raises:
            IndexError: There is no such item.
        """

    def __len__(self) -> int:
        """Returns the number of items."""

class LinkLexicon:
    """
    Counts of the words of sentence pairs and of their links.

    They tell how likely a pair is a translation. The words of a translation are more likely given the
    source sentence than without it. Given the source words F, a target word e has the probability of
    Model 1 (Brown et al. 1993), with counts c of links,

        p(e | F) = (p(e) + sum of p(e | f) over f in F) / (|F| + 1)
        p(e | f) = (c(f, e) + p(e)) / (c(f) + 1)

    where p(e) is the share of e in all target words.
    """

    def __init__(self) -> None:
        """Begins without pairs."""

    def add(self, source: str, target: str, links: str) -> None:
        """
        Adds a sentence pair.

        Args:
            source: Source tokens between spaces.
            target: Target tokens between spaces.
            links: Links between positions of tokens, such as "0-0 1-2".

        Raises:
            FormatError: The links are malformed, or point beyond the pair. Nothing is counted then.
        """

    def log_odds(self, source: str, target: str, links: str) -> float:
        """
        Returns the log odds that a sentence pair is a translation, by the counts of all other pairs.

        The logs of p(e | F) / p(e), summed over the target words, and the same of the source words given
        the target words, have the log odds as their mean. They are above 0 for a translation, and below 0
        for sentences that have nothing to do with each other. A word that is in no other pair tells
        nothing, and is skipped.

        Args:
            source: Source tokens of a pair that was added.
            target: Its target tokens.
            links: Its links.

        Raises:
            FormatError: The links are malformed, or point beyond the pair.
            ValueError: The pair was not added.
        """

class SmoSolution:
    """Solution of a quadratic programme of MIRA; see smo."""

    @property
    def ids(self) -> npt.NDArray[np.int32]:
        """Features of the batch whose weights may change, int32, ascending."""

    @property
    def changes(self) -> npt.NDArray[np.float64]:
        """Changes w' - w of the weights of `ids`, float64."""

    @property
    def alphas(self) -> npt.NDArray[np.float64]:
        """Dual variables, float64 (hypotheses)."""

    @property
    def objective(self) -> float:
        """Value of the objective at w'."""

    @property
    def gap(self) -> float:
        """Duality gap: the objective is at most this far above its minimum."""

    @property
    def sweeps(self) -> int:
        """Number of passes over the sentences."""

def smo(
    offsets: npt.ArrayLike,
    oracles: npt.ArrayLike,
    losses: npt.ArrayLike,
    row_offsets: npt.ArrayLike,
    ids: npt.ArrayLike,
    values: npt.ArrayLike,
    weights: npt.ArrayLike,
    fixed: npt.ArrayLike = ...,
    c: float = 0.01,
    tolerance: float = 1e-06,
) -> SmoSolution:
    """
    Returns MIRA's weights for a batch of sentences (Chiang et al. 2008, objective 1).

    Minimises 1/2 |w' - w|^2 + c sum_i max_j (l_ij - (h(e*_i) - h(e_ij)) . w') over w' by sequential
    minimal optimisation, for sentences i with hypotheses e_ij, losses l_ij and oracles e*_i. Stops when the
    duality gap is at most `tolerance` times the objective, or below the rounding error.

    Args:
        offsets: int32 (sentences + 1), hypotheses of each sentence.
        oracles: int32 (sentences), hypothesis that is the sentence's oracle.
        losses: float64 (hypotheses).
        row_offsets: int32 (hypotheses + 1), features of each hypothesis in `ids` and `values`.
        ids: int32, features.
        values: float64, their values.
        weights: float64 (features), w.
        fixed: bool (features), weights that may not change; empty for none.
        c: Step size C.
        tolerance: Greatest relative duality gap.

    Raises:
        ValueError: The arrays do not fit, a value is not finite, or an oracle is another sentence's.
    """

def line_search(
    offsets: npt.ArrayLike, intercepts: npt.ArrayLike, slopes: npt.ArrayLike
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float64], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """
    Returns which hypotheses win along a line through weight space (Och 2003).

    Hypothesis i scores intercepts[i] + gamma slopes[i]. Of equal lines the first one wins, of parallel
    lines the higher one.

    Args:
        offsets: int32 (sentences + 1), hypotheses of each sentence.
        intercepts: float64 (hypotheses), finite.
        slopes: float64 (hypotheses), finite.

    Returns:
        first: int32 (sentences), winners at gamma = -inf; -1 for a sentence without hypotheses.
        gamma: float64 (changes), where winners of any sentence change, ascending.
        before: int32 (changes), hypotheses that win before.
        after: int32 (changes), hypotheses that win after.

    Raises:
        ValueError: The arrays do not fit, or a value is not finite.
    """

class ForestSource:
    """
    Forests of sentences, as minimum_risk reads them.

    They are a list, or records in memory, such as a mapped archive, that are read one by one. Their
    features have the same names in the same order.
    """

    def __init__(self, forests: Sequence[Forest]) -> None:
        """
        Makes a source of a list of forests.

        Raises:
            ValueError: Forests with derivations differ in their features.
        """

    @staticmethod
    def of_records(
        memory: bytes | memoryview | mmap.mmap, places: npt.ArrayLike, feature_names: Sequence[str]
    ) -> ForestSource:
        """
        Makes a source of records in memory.

        Args:
            memory: Bytes that hold the records; see Forest.record.
            places: int64 (sentences, 2), first byte and number of bytes of each record.
            feature_names: Names of the features.

        Raises:
            ForestError: A record lies beyond the end of the memory.
        """

    def __len__(self) -> int:
        """Returns the number of sentences."""

class RiskSum:
    """Sums over sentences that minimum_risk returns."""

    @property
    def counts(self) -> npt.NDArray[np.float64]:
        """Expected counts, float64 (columns)."""

    @property
    def entropy(self) -> float:
        """Entropy H in nats."""

    @property
    def gamma(self) -> float:
        """Derivative of R - temperature H in gamma."""

    @property
    def gradient(self) -> npt.NDArray[np.float64]:
        """
        Gradient of R - temperature H in the weights, float64 (features); empty if it was not
        computed.
        """

def minimum_risk(
    forests: ForestSource,
    counts: npt.ArrayLike,
    offsets: npt.ArrayLike,
    loss: npt.ArrayLike,
    weights: npt.ArrayLike,
    *,
    gamma: float = 1.0,
    temperature: float = 0.0,
    gradient: bool = True,
    threads: int = 1,
) -> RiskSum:
    """
    Returns expected counts and entropy over the derivations of forests, and the gradient of the risk.

    Derivations have the distribution p(d) = exp(gamma weights . h(d)) / Z. The risk R is the sum of the
    expected counts, each times its `loss` (Li and Eisner 2009, section 7). A sentence without derivations
    adds nothing. Results are the same for any number of threads.

    Args:
        forests: Forests of the sentences.
        counts: float32 (edges, columns), counts of the edges of all forests, one after another.
        offsets: int64 (sentences + 1), row of the first edge of each sentence.
        loss: float64 (columns), loss of one of each count.
        weights: float64 (features).
        gamma: Scale of the scores.
        temperature: Weight of the entropy H in R - temperature H.
        gradient: Compute the gradient and the derivative in gamma, which takes longer.
        threads: Number of threads.

    Raises:
        ValueError: The arrays do not fit, or scores are not allowed (see Forest.distribution).
        ForestError: A record is damaged.
    """
