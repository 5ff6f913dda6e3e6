"""Every reason code stands in the documentation, and nothing else does."""

import re
from pathlib import Path
from typing import get_args

from agreement_pipeline import errors
from agreement_pipeline.cli.verify import REFUSED
from agreement_pipeline.policy import reasons, rules, simultaneous
from agreement_pipeline.release import lock

PAGE = (Path(__file__).parents[2] / "docs/reasons.md").read_text(encoding="utf-8")
LISTED = set(re.findall(r"^\| `([a-z_]+)`", PAGE, re.MULTILINE))


def error_codes():
    return {
        kind.code
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, errors.AgreementError)
    }


def proof_codes():
    """Those with which a release is refused."""
    written = Path(lock.__file__).parent.glob("*.py")
    return {
        code
        for path in written
        for code in re.findall(r'"(release_[a-z_]+)"', path.read_text(encoding="utf-8"))
        if code not in ("release_dataset", "release_round")
    }


def verdict_codes():
    """The codes in the source of rules, and the verdicts that are their own codes."""
    source = "".join(
        Path(module.__file__).read_text(encoding="utf-8") for module in (rules, simultaneous)
    )
    written = set(re.findall(r'code="([a-z_]+)"', source))
    written |= set(re.findall(r'return "([a-z_]+)", reasons\.', source))
    return written | (set(get_args(reasons.Kind)) - {"reliable", "not_evaluated"})


def test_every_code_is_listed_and_every_listed_code_exists():
    assert len(error_codes()) == 10
    assert set(REFUSED) <= LISTED
    assert set(REFUSED) == proof_codes() | {"held", "release_invalid"}
    assert len(set(REFUSED.values())) == len(REFUSED)
    assert error_codes() | verdict_codes() | {"no_rule"} | proof_codes() == LISTED
