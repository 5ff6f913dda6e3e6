from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from agreement_pipeline.policy import Decision


@pytest.fixture(scope="session")
def may_be_trained_on() -> "Callable[..., Decision]":
    """Judges a table by a policy as `agreement_pipeline.judge` does, and fails if it is held.

    The test fails with the reasons. Otherwise the decision comes back.
    """
    from agreement_pipeline.notebook import judge

    def judged(ratings: Any, policy: Any = "standard", **more: Any) -> "Decision":
        decision: Decision = judge(ratings, policy, **more)
        if not decision.admitted:
            pytest.fail(str(decision), pytrace=False)
        return decision

    return judged


__all__ = ["may_be_trained_on"]
