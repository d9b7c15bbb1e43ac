"""Certificates of optimality are compared with search without limits: none is ever wrong."""

from __future__ import annotations

import math
import pickle
import random
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

import hiero
from hiero import Rule, Sentence
from hiero.features import FineDistortion
from support.brute_force import random_rules, write_arpa
from support.grammars import GLUE
from support.local_features import SpanAndGapSize
from support.search_cases import SOURCE, Case, many_labels, many_nonterminals, own_rules, plain_case

CLOSE = 1e-4
MAKERS = (plain_case, many_nonterminals, many_labels, own_rules)


@pytest.fixture(scope="module")
def lms(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Language models of orders 2 to 5 as ARPA files, as tries and with rest costs."""
    folder = tmp_path_factory.mktemp("lms")
    rng = random.Random(5)
    paths = []
    for order in (2, 3, 4, 5):
        sentences = [rng.choices("uvwb", k=rng.randint(1, 6)) for _ in range(15)]
        files = [folder / f"{order}.{n}.arpa" for n in range(1, order + 1)]
        for n, file in enumerate(files, 1):
            write_arpa(file, sentences, n)
        *lower, arpa = map(str, files)
        hiero.LanguageModel.write_binary(arpa, f"{arpa}.rest", lower_orders=lower)
        hiero.LanguageModel.write_binary(arpa, f"{arpa}.trie", trie=True)
        paths += [Path(arpa), Path(f"{arpa}.rest"), Path(f"{arpa}.trie")]
    return paths


def random_weights(rng: random.Random, case: Case, model: hiero.Model) -> dict[str, float]:
    names = {*model.feature_names, *(name for rule in case.own for name in rule.features)}
    weights = {name: rng.uniform(-1, 1) for name in sorted(names)}
    return weights | {f"LM{k}": rng.uniform(0, 1.5) for k in range(len(case.lms))}


class Checked:
    """Counts of translations that were compared with search without limits."""

    def __init__(self) -> None:
        self.all = self.certified = self.by_default = self.better = self.unknown = self.open = 0

    def compare(self, best: float, first: hiero.Translation, result: hiero.Translation) -> None:
        for translation in (first, result):
            short_of = best - translation.score
            assert -CLOSE < short_of < translation.gap + CLOSE
            assert translation.optimal == (translation.gap == 0)
            assert not translation.optimal or short_of < CLOSE
        assert result.score > first.score - CLOSE
        self.all += 1
        self.certified += result.optimal
        self.by_default += first.optimal
        self.better += result.score > first.score + CLOSE
        self.unknown += math.isinf(result.gap)
        self.open += 0 < result.gap < math.inf

    def check(self, rng: random.Random, case: Case, limit: int, weights: Mapping[str, float] = {}) -> None:
        """Searches a case exactly with small pop limits before, and looks at what is claimed."""
        try:
            model = case.model()
        except hiero.FormatError as error:
            assert "cycle" in str(error)
            return
        weights = {**random_weights(rng, case, model), **weights}
        sentence = Sentence.from_source(case.sentence, rules=case.own)

        def translate(**settings: int) -> hiero.Translation:
            decoder = hiero.Decoder(model, span_limit=case.span_limit, **settings)
            return decoder.translate(sentence, weights=weights)

        everything = translate(pop_limit=0)
        assert everything.optimal and everything.gap == 0
        if everything.has_parse:
            for pop_limit in (1, 4):
                first = translate(pop_limit=pop_limit)
                self.compare(everything.score, first, translate(pop_limit=pop_limit, exact=limit))


def longer(rng: random.Random, case: Case) -> Case:
    return replace(case, sentence=rng.choices(SOURCE, k=rng.randint(4, 7)))


@pytest.mark.parametrize("block", range(4))
@pytest.mark.parametrize("limit", [4, 150, 100_000])
def test_certificates_of_random_grammars(block: int, limit: int, lms: list[Path]) -> None:
    checked = Checked()
    for seed in range(10_000 * block + limit, 10_000 * block + limit + 400):
        rng = random.Random(seed)
        case = MAKERS[seed % 4](rng, lms)
        checked.check(rng, longer(rng, case) if seed % 4 == 0 else case, limit)
    assert checked.all > 400
    assert checked.unknown == 0
    assert checked.by_default < 0.7 * checked.all
    if limit == 4:
        assert checked.open > 0.2 * checked.all and checked.certified > checked.by_default
    elif limit == 150:
        assert checked.open > 5 and checked.better > 4
    else:
        assert checked.certified == checked.all and checked.better > 10


def test_positive_backoff_weights_and_negative_weights(tmp_path: Path, lms: list[Path]) -> None:
    """Bounds do not hold where words can become more probable by a context without their n-gram, or where
    what is less probable scores higher. Then only what was searched to the end is certain."""
    rng = random.Random(3)
    paths = []
    for path in lms:
        if path.suffix == ".arpa":
            paths.append(tmp_path / path.name)
            text = re.sub(
                r"\t-0\.\d+$", lambda _: f"\t{rng.uniform(-0.5, 0.5):.3f}", path.read_text(), flags=re.M
            )
            paths[-1].write_text(text)
    positive, negative = Checked(), Checked()
    for seed in range(400):
        rng = random.Random(seed)
        case = longer(rng, plain_case(rng, paths))
        positive.check(rng, case, 100_000)
        negative.check(rng, replace(case, lms=lms[:1]), 100_000, {"LM0": -0.5})
    for checked in (positive, negative):
        assert checked.unknown > 50 and checked.certified > checked.all / 5


def test_sentence_marks(lms: list[Path]) -> None:
    checked = Checked()
    for seed in range(300):
        rng = random.Random(seed)
        rules = random_rules(rng, ["X"], SOURCE, "uvw") + [Rule(rule) for rule in GLUE]
        model = hiero.Model(
            [hiero.RuleTable.from_rules(rules)],
            [hiero.LanguageModel.load(str(rng.choice(lms)))],
            {},
            goal="G",
        )
        assert model.goal == "G"
        weights = {name: rng.uniform(-1, 1) for name in model.feature_names} | {"LM0": rng.uniform(0, 1.5)}
        tokens = rng.choices(SOURCE, k=rng.randint(3, 6))
        best, first, exact = (
            hiero.Decoder(model, **settings).with_weights(weights).translate(tokens)
            for settings in ({"pop_limit": 0}, {"pop_limit": 1}, {"pop_limit": 1, "exact": 10_000})
        )
        checked.compare(best.score, first, exact)
    assert checked.certified == checked.all > checked.by_default and checked.better > 5


@pytest.mark.parametrize("by_rule", [False, True])
def test_local_features(by_rule: bool, lms: list[Path]) -> None:
    checked = Checked()
    for seed in range(200):
        rng = random.Random(seed)
        table = hiero.RuleTable.from_rules(random_rules(rng, ["X"], SOURCE, "uvw"))
        local = [FineDistortion(), *([SpanAndGapSize()] if by_rule else [])]
        lm = hiero.LanguageModel.load(str(rng.choice(lms)))
        model = hiero.Model([table], [lm], {}, local_features=local)
        weights = {name: rng.uniform(-1, 1) for name in model.feature_names} | {"LM0": rng.uniform(0, 1.5)}
        tokens = rng.choices(SOURCE, k=rng.randint(3, 6))
        for ttable_limit in (0, 1):
            best, first, exact = (
                hiero.Decoder(model, ttable_limit=ttable_limit, **settings)
                .with_weights(weights)
                .translate(tokens)
                for settings in ({"pop_limit": 0}, {"pop_limit": 1}, {"pop_limit": 1, "exact": 10_000})
            )
            checked.compare(best.score, first, exact)
    assert checked.certified == checked.all > checked.by_default and checked.better > 5


def test_what_is_kept(lms: list[Path]) -> None:
    """A forest has the best derivation, each derivation once, and what the first search found. A chart has
    what the first search found."""
    better = 0
    for seed in range(300):
        rng = random.Random(seed)
        case = longer(rng, plain_case(rng, lms[:2]))
        model = case.model()
        weights = random_weights(rng, case, model)
        first, exact = (
            hiero.Decoder(model, pop_limit=1, exact=limit).with_weights(weights) for limit in (0, 10_000)
        )
        before, after = (decoder.translate(case.sentence, keep="forest") for decoder in (first, exact))
        alone = exact.translate(case.sentence)
        assert alone.score == pytest.approx(after.score, abs=1e-5)
        if not after.has_parse:
            continue
        assert after.optimal and alone.optimal
        for keep in ("chart", "splits"):
            charted = exact.translate(case.sentence, keep=keep)
            assert (charted.score, charted.optimal) == (alone.score, True)
            forests = [d.translate(case.sentence, keep=keep).chart.forest for d in (first, exact)]
            assert forests[0].edge_count == forests[1].edge_count
        is_better = after.score > before.score + CLOSE
        better += is_better
        assert after.forest.derivation_count == before.forest.derivation_count + is_better
        best, *others = after.kbest(10_000)
        assert (best.score, best.tokens, best.features) == (after.score, after.tokens, after.features)
        listed = [d.score for d in before.kbest(10_000)]
        assert [d.score for d in (others if is_better else [best, *others])] == pytest.approx(
            listed, abs=1e-9
        )
    assert better > 10


def test_pruning_leaves_no_certificate(lms: list[Path]) -> None:
    rules = [Rule(f"[X] ||| {s} ||| {t} ||| P=-{i}") for s in "ab" for i, t in enumerate(("u", "v", "w u"))]
    lm = hiero.LanguageModel.load(str(lms[0]))
    model = hiero.Model([hiero.RuleTable.from_rules(rules)], [lm], {"LM0": 1.0, "P": 0.5})
    assert hiero.Decoder(model, pop_limit=0).translate("a b").optimal
    for settings in ({"beam_size": 1}, {"beam_threshold": 0.01}, {"pop_limit": 1}):
        result = hiero.Decoder(model, **{"pop_limit": 0, **settings}).translate("a b")
        assert not result.optimal and result.gap == math.inf
        result = hiero.Decoder(model, exact=1000, **{"pop_limit": 0, **settings}).translate("a b")
        assert result.optimal and result.gap == 0
        again = pickle.loads(pickle.dumps(result))
        assert again.optimal and again.gap == 0
    nothing = hiero.Decoder(model, pass_through="none", exact=10).translate("unknown")
    assert not nothing.has_parse and nothing.optimal


@pytest.mark.slow
def test_real_sentences(shared: Path) -> None:
    """Short sentences are proved optimal; the limit counts hypotheses, and threads do not matter."""
    system = shared / "ja-en" / "system"
    model = hiero.Model.assemble([system / "grammar.gz"], [system / "lm.arpa.gz"], system / "weights.txt")
    lines = (shared / "ja-en" / "test.ja").read_text().splitlines()
    short = [line for line in lines if len(line.split()) <= 7][:12]
    exact = hiero.Decoder(model, span_limit=15, exact=2_000_000)
    results = exact.translate_batch(short, threads=2)
    assert sum(result.optimal for result in results) >= 11
    for line, result in zip(short, results, strict=True):
        assert (result.score, result.gap) == ((again := exact.translate(line)).score, again.gap)
        wide = hiero.Decoder(model, pop_limit=2000, span_limit=15).translate(line).score
        assert wide < result.score + result.gap + CLOSE
        assert result.stats.hypotheses < 2_200_000
    for line in [line for line in lines if len(line.split()) <= 4][:3]:
        everything = hiero.Decoder(model, pop_limit=0, span_limit=15).translate(line)
        result = hiero.Decoder(model, pop_limit=5, span_limit=15, exact=2_000_000).translate(line)
        assert everything.optimal and result.optimal
        assert result.score == pytest.approx(everything.score, abs=CLOSE)


@pytest.mark.slow
def test_too_many_meetings_are_given_up(tmp_path: Path) -> None:
    """Targets of 160 words begin and end with any two of 80 words: 26 million pairs of runs may meet."""
    rng = random.Random(9)
    words = [f"t{n}" for n in range(80)]
    sentences = [rng.choices(words, k=30) for _ in range(3000)]
    write_arpa(tmp_path / "arpa", sentences, 3)
    rules = [
        Rule(f"[X] ||| w{n} ||| {' '.join(rng.choices(words, k=3))} ||| P={rng.uniform(-1, 0):.3f}")
        for n in range(160)
        for _ in range(64)
    ]
    lm = hiero.LanguageModel.load(str(tmp_path / "arpa"))
    model = hiero.Model([hiero.RuleTable.from_rules(rules)], [lm], {"P": 1.0, "LM0": 0.5})
    tokens = [f"w{n}" for n in range(160)]
    results = [hiero.Decoder(model, pop_limit=5, exact=limit).translate(tokens) for limit in (0, 1000)]
    assert [result.gap for result in results] == [math.inf, math.inf]
    assert results[0].tokens == results[1].tokens
    few = hiero.Decoder(model, pop_limit=5, exact=1000).translate(tokens[:20])
    assert 0 <= few.gap < math.inf
