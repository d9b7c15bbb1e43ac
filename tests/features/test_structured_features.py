"""Tests of soft syntax and structural distortion (Chiang et al. 2008, sections 3 and 4) against a slow
version that walks over derivations."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hiero
from hiero import FormatError, Rule, Sentence, Tree
from hiero.features import CoarseDistortion, CoarseSyntax, FineDistortion, FineSyntax
from hiero.features.syntax import FINE_LABELS
from hiero.train import TrainInputs, train
from support.brute_force import Enumerator, random_rules, write_arpa
from support.files import head, write
from support.local_features import SpanAndGapSize
from support.structured_features_twin import STATISTICS, Walk

# --- comparison with the slow version ------------------------------------------------------------------


def structured(names: Sequence[str]) -> list[str]:
    return [name for name in names if name.startswith(("Syntax", "Distortion"))]


def agree(walk: Walk, derivation: hiero.Derivation, weights: Mapping[str, float]) -> Counter[str]:
    walked = walk.features(derivation)
    if walk.model.log_base is not None:
        walked["Distortion"] /= math.log(walk.model.log_base)
    features = derivation.features
    names = structured(walk.model.feature_names)
    assert {n: features.get(n, 0.0) for n in names} == pytest.approx({n: walked[n] for n in names}, rel=1e-12)
    assert not [name for name in walked if name not in names]
    score = sum(weights.get(name, 0.0) * value for name, value in features.items())
    assert derivation.score == pytest.approx(score, rel=1e-9, abs=1e-9)
    return walked


def random_brackets(rng: random.Random, words: Sequence[str]) -> str:
    labels = [*FINE_LABELS, "FRAG", "UCP"]
    if len(words) == 1:
        text = f"(T {words[0]})"
    else:
        count = rng.randint(2, min(3, len(words)))
        cuts = [0, *sorted(rng.sample(range(1, len(words)), count - 1)), len(words)]
        children = [random_brackets(rng, words[a:b]) for a, b in itertools.pairwise(cuts)]
        text = f"({rng.choice(labels)} {' '.join(children)})"
    return f"({rng.choice(labels)} {text})" if rng.random() < 0.3 else text


# --- whole derivations ---------------------------------------------------------------------------------


@pytest.mark.parametrize("glue", [False, True])
@pytest.mark.parametrize("base", [None, 100.0])
def test_search_is_exact_and_features_are_those_of_a_walk(
    tmp_path: Path, glue: bool, base: float | None
) -> None:
    rng = random.Random(7)
    write_arpa(tmp_path / "lm.arpa", [rng.choices("uvw", k=4) for _ in range(10)], 3)
    lm = hiero.LanguageModel.load(str(tmp_path / "lm.arpa"))
    seen: Counter[str] = Counter()
    for case in range(60):
        rules = random_rules(rng, ["X", "Y"], "abc", "uvw")
        rules.append(Rule("[X] ||| [X,1] b [Y,2] ||| [Y,2] v [X,1] ||| ||| 1-1"))
        local: list[hiero.LocalFeatures] = [
            FineSyntax(glue=glue),
            CoarseSyntax(glue=glue),
            FineDistortion(glue=glue),
            CoarseDistortion.from_statistics(STATISTICS, glue=glue),
        ]
        if case % 3 == 0:
            local.append(SpanAndGapSize())
        table = hiero.RuleTable.from_rules(rules)
        model = hiero.Model([table], [lm], {}, local_features=local, log_base=base)
        weights = {name: rng.uniform(-1, 1) for name in model.feature_names}
        tokens = rng.choices("abc", k=rng.randint(2, 5))
        brackets = random_brackets(rng, tokens)
        sentence = Sentence(tokens=tokens, parse=Tree.read(brackets))
        decoder = hiero.Decoder(model, pop_limit=0).with_weights(weights)
        result = decoder.translate(sentence, keep="forest")
        assert result.forest is not None
        assert result.forest.derivation_count == len(Enumerator(rules, tokens, 10).derivations())
        walk = Walk(model, brackets, glue=glue)
        every = result.kbest(10**6)
        for derivation in every:
            scaled = derivation.features
            if base is not None:
                assert "Distortion" not in scaled or scaled["Distortion"] < 0
                scaled = {**scaled, "Distortion": scaled.get("Distortion", 0.0) * math.log(base)}
            walked = walk.features(derivation)
            names = structured(model.feature_names)
            assert {n: scaled.get(n, 0.0) for n in names} == pytest.approx({n: walked[n] for n in names})
            seen.update(walked)
        plain = decoder.translate(sentence)
        assert plain.score == pytest.approx(max(d.score for d in every), abs=1e-4)
        assert result.score == every[0].score
    for name in (*CoarseSyntax().names, "Syntax_NP_Match", "Syntax_NP_Cross", "Distortion_Reordered_2"):
        assert seen[name] > 50


class ByRule:
    """The features by span and by gap as features by rule, with a row for every rule."""

    def __init__(self, spans: FineSyntax, gaps: FineDistortion, model: hiero.Model) -> None:
        self.names = [*spans.names, *gaps.names]
        self.spans, self.table = spans, gaps.by_gap()
        self.goal = model.core.labels.index(model.goal)

    def by_rule(self, sentence: Sentence, batch: hiero.ApplicationBatch) -> np.ndarray:
        shared = batch.applications
        rows = self.spans.by_span(sentence, shared.spans)[batch.application]
        sums = np.zeros((len(batch), self.table.shape[2]))
        for at, flags, out in zip(batch.application, batch.reordered, sums, strict=True):
            for gap, (begin, end) in enumerate(shared.gaps[at].tolist()):
                if begin >= 0:
                    out += self.table[min(end - begin, 10) - 1, flags >> gap & 1]
        goal = shared.labels[batch.application] == self.goal
        return np.where(goal[:, None], 0.0, np.concatenate([rows, sums], axis=1))


@pytest.mark.parametrize("limits", [{"pop_limit": 0}, {"pop_limit": 5, "ttable_limit": 2}])
def test_tables_are_as_rows_would_be(limits: dict[str, Any]) -> None:
    """Features by table and by row agree, for many source sides with reordering and other target sides."""
    rng = random.Random(11)
    words = [f"w{i}" for i in range(60)]
    rules = [Rule(f"[X] ||| {word} ||| {word.upper()}{n}") for word in words for n in range(2)]
    for word in words:
        for side, one, two in (("A [X,1]", 0, 1), ("[X,1] A", 1, 0)):
            rules.append(Rule(f"[X] ||| {word} [X,1] ||| {side} ||| ||| 0-{one} 1-{two}"))
        for number, target in enumerate(("[X,1] A [X,2]", "[X,2] A [X,1]", "[X,2] [X,1] A", "A [X,1] [X,2]")):
            if rng.random() < 0.7:
                at = target.split().index("A")
                rules.append(Rule(f"[X] ||| [X,1] {word} [X,2] ||| {target} ||| R={number} ||| 1-{at}"))
    table = hiero.RuleTable.from_rules(rules)
    spans, gaps = FineSyntax(), FineDistortion()
    quick = hiero.Model([table], [], {}, local_features=[spans, gaps])
    slow = hiero.Model([table], [], {}, local_features=[ByRule(spans, gaps, quick)])
    assert set(quick.feature_names) == set(slow.feature_names)
    for _ in range(4):
        tokens = rng.sample(words, k=6 if limits["pop_limit"] == 0 else 60)
        weights = {name: rng.uniform(-1, 1) for name in quick.feature_names}
        sentence = Sentence(tokens=tokens, parse=Tree.read(random_brackets(rng, tokens)))
        results = []
        for model in (quick, slow):
            decoder = hiero.Decoder(model, **limits).with_weights(weights)
            result = decoder.translate(sentence, keep="forest")
            assert result.forest is not None
            kbest = [(d.text, round(d.score, 6)) for d in result.kbest(30)]
            results.append((result.forest.derivation_count, kbest, decoder.translate(sentence).text))
        assert results[0] == results[1]


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_the_limit_of_targets_sees_distortion(limit: int) -> None:
    """The source side has target sides that reorder its gap, and others that do not."""
    rules = [
        Rule(f"[X] ||| a [X,1] ||| {t} ||| V={i} ||| 0-{at}")
        for i, (t, at) in enumerate([("A [X,1]", 0), ("B [X,1]", 0), ("[X,1] C", 1), ("[X,1] D", 1)])
    ]
    rules += [Rule("[X] ||| b ||| one ||| V=0"), Rule("[X] ||| c c ||| two ||| V=0")]
    table = hiero.RuleTable.from_rules(rules)
    for one, two in ((-9.0, -9.0), (9.0, -9.0), (-9.0, 9.0), (9.0, 9.0)):
        weights = {"V": 1.0, "Distortion_Reordered_1": one, "Distortion_Reordered_2": two}
        model = hiero.Model([table], [], weights, local_features=[FineDistortion()])
        for tokens, weight in (("a b", one), ("a c c", two)):
            decoder = hiero.Decoder(model, ttable_limit=limit, pop_limit=0, pass_through="none")
            result = decoder.translate(tokens, keep="forest")
            order = "ABCD" if weight > 0 else "CDAB"
            expected = set(order[-limit:])
            words = {word for d in result.kbest(99) for word in d.tokens} & set("ABCD")
            assert words == expected


def test_features_of_a_trained_model_equal_a_walk(demo: Path, tmp_path: Path) -> None:
    """Uses rules and statistics of training, and parses of the demo corpus."""
    files = [write(tmp_path / side, head(demo / f"train.{side}", 150)) for side in ("zh", "en", "align")]
    plain = train(TrainInputs(*files[:2], alignment=files[2]), tmp_path / "model")
    assert plain.distortion is not None
    labels = ("IP", "NP", "VP", "PP", "QP")
    local = [
        FineSyntax(labels=labels),
        CoarseSyntax(labels=labels[1:]),
        FineDistortion(),
        CoarseDistortion.from_statistics(plain.distortion),
    ]
    model = hiero.Model(plain.tables, plain.lms, plain.weights, local_features=local, log_base=100)
    rng = random.Random(1)
    names = structured(model.feature_names)
    assert len(names) == 10 + 2 + 22 + 1
    weights = {**plain.weights, **{name: rng.uniform(-0.3, 0.3) for name in names}}
    seen: Counter[str] = Counter()
    sentences = zip(head(demo / "dev.zh", 25), head(demo / "dev.zh.parse", 25), strict=True)
    for text, brackets in sentences:
        sentence = Sentence(text, parse=Tree.read(brackets))
        result = hiero.Decoder(model).with_weights(weights).translate(sentence, keep="forest")
        walk = Walk(model, brackets, fine=labels, coarse=labels[1:], statistics=plain.distortion)
        for derivation in result.kbest(5):
            seen += agree(walk, derivation, weights)
    assert len(seen) > 25


def test_a_sentence_without_a_parse_fails_alone(french: Path) -> None:
    model = hiero.Model.assemble([french / "grammar.txt"], [], {}, local_features=[FineSyntax()])
    good = Sentence("le chat", parse=Tree.read("(NP (DT le) (NN chat))"))
    other = Sentence("le chat", parse=Tree.read("(NP (DT le) (NN chien))"))
    results = list(hiero.Decoder(model).translate_iter([good, "le chat", other, good, ""], threads=2))
    assert [isinstance(result, hiero.Failure) for result in results] == [False, True, True, False, False]
    assert isinstance(results[1], hiero.Failure) and isinstance(results[2], hiero.Failure)
    message = str(results[1].error)
    assert message.startswith("local features Syntax_NP_Match, Syntax_NP_Cross, Syntax_PP_Match")
    assert message.endswith(", ... (22): no parse")
    assert isinstance(results[2].error, FormatError) and "chien" in str(results[2].error)
