"""Every reason code is documented. A reason says in words what was found."""

import re
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from agreement_pipeline import Scale, errors
from agreement_pipeline.cli.verify import STATUS_BY_CODE
from agreement_pipeline.engine import Unreadable
from agreement_pipeline.estimates import ROUND, Estimate, Scope, estimate
from agreement_pipeline.intervals import Interval
from agreement_pipeline.models import auditor, certificates, silver
from agreement_pipeline.policy import (
    Rule,
    decision,
    overlap,
    policy,
    reasons,
)
from agreement_pipeline.release import decisions, lock
from agreement_pipeline.statistics import CategoryCounts
from tests.policy.verdicts import ALPHA, found, verdict
from tools.pages import reasons_page

PAGE = (Path(__file__).parents[2] / "docs/reasons.md").read_text(encoding="utf-8")
MODULES = (decision, policy)
LISTED = set(re.findall(r"^\| `([a-z_]+)`", PAGE, re.MULTILINE))


def error_codes():
    return {
        kind.code
        for kind in (*vars(errors).values(), Unreadable)
        if isinstance(kind, type) and issubclass(kind, errors.AgreementError)
    }


def proof_codes():
    """Those with which a release is refused."""
    written = (*Path(lock.__file__).parent.glob("*.py"), Path(auditor.__file__))
    return {
        code
        for path in written
        for code in re.findall(r'"(release_[a-z_]+)"', path.read_text(encoding="utf-8"))
        if code not in ("release_dataset", "release_round")
    }


def draw_codes():
    """Those with which a draw is refused, or labels of other items than were drawn."""
    modules = Path(silver.__file__), Path(silver.__file__).with_name("draw.py")
    source = "".join(each.read_text(encoding="utf-8") for each in modules)
    return set(re.findall(r'"(draw_[a-z_]+)"', source))


def certificate_codes():
    """Those with which a certificate is refused, and one for each part of an identity."""
    source = Path(certificates.__file__).read_text(encoding="utf-8")
    parts = {part.removesuffix("_digest") for part in certificates.PARTS}
    written = set(re.findall(r'"(certificate_[a-z_]+)"', source))
    return written | {f"certificate_other_{part}" for part in parts}


def gate_codes():
    """The findings of the gate itself, beside those of the contract."""
    modules = decisions, decision, overlap, silver
    source = "".join(Path(module.__file__).read_text(encoding="utf-8") for module in modules)
    calls = re.findall(r'build_gate_finding\(\s*"([a-z_]+)"((?:[^()]|\([^()]*\))*)\)', source)
    holding = {code for code, said in calls if '"warning"' not in said and "passed=" not in said}
    return holding | {"draw_after_labels"}


def verdict_codes():
    """The codes in the source of rules, and the verdicts that are their own codes."""
    source = "".join(Path(module.__file__).read_text(encoding="utf-8") for module in MODULES)
    written = set(re.findall(r'code="([a-z_]+)"', source))
    written |= set(re.findall(r'return "([a-z_]+)", (?:message_template|estimate|\()', source))
    written |= {code for code, _, _ in decision.RECHECK_BY_FAILED_CHECK.values()}
    return written | (set(get_args(reasons.Kind)) - {"reliable", "not_evaluated"})


def test_every_code_is_listed_and_every_listed_code_exists():
    assert len(error_codes()) == 13
    assert set(STATUS_BY_CODE) <= LISTED
    assert set(STATUS_BY_CODE) == proof_codes() | {"held", "release_invalid"}
    assert len(set(STATUS_BY_CODE.values())) == len(STATUS_BY_CODE)
    refused = error_codes() | proof_codes() | draw_codes() | certificate_codes() | gate_codes()
    of_the_command_line = {"usage", "of_the_machine"}
    assert refused | verdict_codes() | {"no_rule"} | of_the_command_line == LISTED


@pytest.mark.parametrize(
    ("estimate", "words"),
    [
        (
            found(0.85, 0.95),
            "krippendorff_alpha 0.900, 95% interval 0.850 to 0.950 on 100 items: "
            "the lower limit reaches 0.8",
        ),
        (found(0.70, 0.95, value=0.90), "the lower limit reaches 0.667 but not 0.8"),
        (
            found(0.60, 0.95, value=0.75),
            "0.667 lies inside the interval, so the data cannot decide; "
            "with more items like these, the lower limit would not reach 0.8",
        ),
        (found(0.10, 0.30), "the upper limit is under 0.667"),
        (found(0.10, 0.6669), "interval 0.100 to 0.6669 on 100 items: the upper limit is under"),
        (
            found(0.79996, 0.9, value=0.85),
            "0.850, 95% interval 0.79996 to 0.900 on 100 items: the lower limit reaches 0.667 but",
        ),
        (
            found(0.5, 0.9, value=0.7996),
            "0.7996, 95% interval 0.500 to 0.900 on 100 items: 0.667 lies",
        ),
        (
            found(-np.inf, 0.95, value=0.9),
            "0.667 lies inside the interval, so the data cannot decide",
        ),
        (found(0.85, 0.95, lowest="rare"), "krippendorff_alpha (lowest: rare) 0.900"),
        (
            found(0.85, 0.95, draws=np.array([0.7, 0.9, 0.9, 0.9])),
            "the lower limit reaches 0.8 (p = 0.25)",
        ),
    ],
)
def test_a_verdict_says_in_words_and_numbers_what_was_found_and_what_would_help(estimate, words):
    assert words in verdict(ALPHA, estimate).reason


@pytest.mark.parametrize(
    ("low", "high", "p"),
    [
        (0.60, 0.95, "(p = 0.25 at 0.8)"),
        (0.10, 0.60, "(p = 0.25 at 0.8)"),
        (0.70, 0.95, "0.667 but not 0.8 (p = 0.25)"),
        (0.85, 0.95, "reaches 0.8 (p = 0.25)"),
    ],
)
def test_p_names_its_cut_off_where_the_finding_speaks_of_another_one(low, high, p):
    draws = np.array([0.7, 0.9, 0.9, 0.9])
    assert p in verdict(ALPHA, found(low, high, value=0.85, draws=draws)).reason


def test_the_confidence_level_is_not_rounded():
    fine = Estimate("krippendorff_alpha", ROUND, 0.9, Interval(0.85, 0.95), 0.975, "m", 100, 3, 300)
    assert "97.5% interval" in verdict(ALPHA, fine).reason


@pytest.mark.parametrize(
    ("scope", "words"),
    [
        (ROUND, "krippendorff_alpha 0.9"),
        (Scope("rater", "ana"), "krippendorff_alpha of rater ana 0.9"),
        (Scope("without", "ana"), "krippendorff_alpha without ana 0.9"),
    ],
)
def test_a_reason_names_what_it_speaks_of(scope, words):
    (verdict,) = Rule("krippendorff_alpha", scope=scope.kind).judge(
        [found(0.85, 0.95, 0.9, scope=scope)]
    )
    assert verdict.reason.startswith(words)


def reason_of(rows, items):
    counts = CategoryCounts(rows, items, scale=Scale(("no", "yes")))
    (judged,) = Rule("krippendorff_alpha").judge([estimate("krippendorff_alpha", counts)])
    return judged


@pytest.mark.parametrize(
    ("rows", "items", "kind", "share"),
    [
        ([[3, 0], [2, 1]], [285, 15], "unreliable", "98%"),
        ([[3, 0], [0, 3], [2, 1]], [280, 10, 10], "inconclusive", "96%"),
    ],
)
def test_a_low_value_on_one_category_says_so_and_what_helps(rows, items, kind, share):
    judged = reason_of(rows, items)
    assert judged.kind == kind
    assert f"; {share} of the labels are 'no', so chance alone gives nearly" in judged.reason
    # An upper limit under the cut-off shows it already.
    assert ("more items of the other categories" in judged.reason) == (kind != "unreliable")


@pytest.mark.parametrize(
    ("rows", "items", "kind"),
    [
        ([[3, 0], [0, 3]], [970, 30], "reliable"),
        ([[3, 0], [2, 1]], [80, 20], "unreliable"),
    ],
)
def test_a_reliable_round_or_a_mixed_one_does_not_speak_of_it(rows, items, kind):
    judged = reason_of(rows, items)
    assert judged.kind == kind
    assert "of the labels are" not in judged.reason


def test_one_table_has_every_code_of_a_decision():
    assert {*verdict_codes(), *gate_codes(), "no_rule"} == {*reasons.REASONS}


def test_the_page_of_codes_is_written_from_that_table(tmp_path, capsys):
    page = tmp_path / "reasons.md"
    page.write_text(PAGE, encoding="utf-8")
    assert reasons_page.main(["--check", str(page)]) == 0
    page.write_text(PAGE.replace("more raters |", "more people |"), encoding="utf-8")
    assert reasons_page.main(["--check", str(page)]) == 1
    assert "Run python -m tools.pages.reasons_page" in capsys.readouterr().err
    assert reasons_page.main([str(page)]) == 0
    assert page.read_text(encoding="utf-8") == PAGE
