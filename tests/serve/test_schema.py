"""The description of the interface is true: requests made from it get the answers that it describes."""

from __future__ import annotations

from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings

from hiero.serve.app import make_app
from hiero.serve.catalogue import Catalogue
from hiero.serve.work import Work


@pytest.mark.slow
def test_schemathesis_finds_nothing(model: Path) -> None:
    app = make_app(Catalogue({"zh-en": model}, lambda line: None), Work(2, 20, 5.0))
    schema = schemathesis.openapi.from_asgi("/openapi.json", app)
    checked = 0
    for operation in schema.get_all_operations():
        strategy = operation.ok().as_strategy()

        @given(case=strategy)
        @settings(
            max_examples=40,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.explicit, Phase.generate],
        )
        def check(case: schemathesis.Case) -> None:
            case.call_and_validate()

        check()
        checked += 1
    assert checked == 13
