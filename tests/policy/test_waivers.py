"""A waiver turns one verdict on one round's bytes for a time. Everything else is refused aloud."""

import json
from dataclasses import replace
from datetime import date, timedelta
from itertools import combinations

import pytest

from agreement_pipeline.cli import main
from agreement_pipeline.errors import PolicyError, WaiverError
from agreement_pipeline.estimates import ROUND, Estimate, Scope
from agreement_pipeline.integrity import Finding
from agreement_pipeline.intervals import Interval
from agreement_pipeline.policy import (
    Policy,
    Rule,
    Verdict,
    Waiver,
    Waivers,
    decide,
    load_waiver,
    select_round_waivers,
)

THESE, OTHERS = "a" * 64, "b" * 64
DAY = date(2026, 11, 21)
POLICY = Policy(
    "p",
    1,
    (
        Rule("krippendorff_alpha"),
        Rule("self_agreement_unbiased", scope="rater"),
        Rule("fleiss_kappa", effect="warn"),
    ),
)
WAIVER = Waiver(
    "posts", "w2", THESE, "krippendorff_alpha", "Dana Okoye", "adjudicated by hand", DAY
)


def estimate(measure, scope, low, high):
    return Estimate(measure, scope, (low + high) / 2, Interval(low, high), 0.95, "m", 100, 3, 300)


SHORT = estimate("krippendorff_alpha", ROUND, 0.7, 0.9)
ANA, BEN = (
    estimate("self_agreement_unbiased", Scope("rater", name), 0.85, 0.95) for name in ("ana", "ben")
)


def decided(*waivers, on=DAY, found=(SHORT, ANA, BEN), findings=(), policy=POLICY):
    return decide(
        found,
        policy,
        findings=findings,
        ratings_digest=THESE,
        contract_digest="c",
        code_version="1",
        waivers=Waivers(waivers, on),
    )


def test_without_it_the_round_is_held_and_with_it_admitted_saying_who_why_and_until_when():
    assert not decided().admitted
    decision = decided(WAIVER)
    assert decision.admitted
    assert (
        decision.reasons[-1]
        == "waiver by Dana Okoye until 2026-11-21 of krippendorff_alpha of round "
        "(adjudicated by hand)"
    )
    assert decision.to_mapping()["waivers"] == [WAIVER.to_mapping()]
    assert decision.digest != replace(decision, waived=()).digest


@pytest.mark.parametrize(
    ("waiver", "on", "why"),
    [
        (WAIVER, DAY + timedelta(1), "it ended on 2026-11-21"),
        (
            replace(WAIVER, ratings_digest=OTHERS),
            DAY,
            "it is bound to ratings bbbbbbbbbbbb, and these are aaaaaaaaaaaa",
        ),
        (
            replace(WAIVER, measure="gwet_ac1"),
            DAY,
            "policy p has no rule on gwet_ac1 of round that can hold a release",
        ),
        (
            replace(WAIVER, scope="category"),
            DAY,
            "policy p has no rule on krippendorff_alpha of category that can hold a release",
        ),
        (
            replace(WAIVER, measure="fleiss_kappa"),
            DAY,
            "policy p has no rule on fleiss_kappa of round that can hold a release",
        ),
    ],
)
def test_one_that_does_not_hold_is_refused_aloud_and_the_round_stays_held(waiver, on, why):
    decision = decided(waiver, on=on)
    assert not decision.admitted
    assert decision.codes == ("tentative",)
    assert decision.reasons[-1].endswith(f"is refused, since {why}")


def test_it_turns_no_other_verdict():
    torn = estimate("self_agreement_unbiased", Scope("rater", "ben"), 0.3, 0.9)
    assert not decided(WAIVER, found=(SHORT, ANA, torn)).admitted
    of_ben = replace(WAIVER, measure="self_agreement_unbiased", scope="rater ben")
    assert decided(WAIVER, of_ben, found=(SHORT, ANA, torn)).admitted
    assert not decided(
        WAIVER, replace(of_ben, scope="rater ana"), found=(SHORT, ANA, torn)
    ).admitted


def test_it_turns_a_verdict_on_evidence_that_is_missing():
    nothing = replace(SHORT, value=None, interval=None, undefined="no item has two ratings")
    assert decided(WAIVER, found=(nothing, ANA, BEN)).admitted


def test_one_of_a_verdict_never_turns_the_contract():
    broken = Finding("known labels", "rows", False, "error", "3 labels are unknown")
    decision = decided(WAIVER, findings=(broken,))
    assert not decision.admitted
    assert decision.codes == ("contract:known labels",)


COPIED = Finding("raters_not_copied", "delivered", False, "error", "1 pair", (("unexpected", 1),))
OF_CHECK = replace(
    WAIVER, measure=None, check="raters_not_copied", contract_digest="c" * 64, until=DAY
)


def with_contract(*waivers, findings=(COPIED,), digest="c" * 64, on=DAY):
    found = (estimate("krippendorff_alpha", ROUND, 0.85, 0.95), ANA, BEN)
    return decide(
        found,
        POLICY,
        findings=findings,
        ratings_digest=THESE,
        contract_digest=digest,
        code_version="1",
        waivers=Waivers(waivers, on),
    )


def test_one_of_a_check_turns_it_and_the_decision_says_so():
    assert with_contract().codes == ("contract:raters_not_copied",)
    decision = with_contract(OF_CHECK)
    assert decision.admitted
    assert (decision.broken, decision.codes) == ((), ())
    assert decision.reasons[-1] == (
        "waiver by Dana Okoye until 2026-11-21 of check raters_not_copied of round "
        "(adjudicated by hand)"
    )
    (said,) = decision.to_mapping()["waivers"]
    assert "measure" not in said
    assert Waiver.from_mapping(said) == OF_CHECK
    assert OF_CHECK.renamed({"ana": "rater-1"}) == OF_CHECK


@pytest.mark.parametrize(
    ("waiver", "more", "why"),
    [
        (replace(OF_CHECK, ratings_digest=OTHERS), {}, "it is bound to ratings bbbbbbbbbbbb"),
        (OF_CHECK, {"digest": "d" * 64}, "it is bound to another contract than dddddddddddd"),
        (OF_CHECK, {"on": DAY + timedelta(1)}, "it ended on 2026-11-21"),
        (replace(OF_CHECK, check="items_few"), {}, "no critical check items_few of this round"),
        (
            OF_CHECK,
            {"findings": (replace(COPIED, severity="warning"),)},
            "no critical check raters_not_copied of this round failed",
        ),
        (OF_CHECK, {"findings": (replace(COPIED, table="rows"),)}, "a check of the table integ"),
        (OF_CHECK, {"findings": (replace(COPIED, table="gate"),)}, "a check of the table integ"),
        (OF_CHECK, {"findings": (replace(COPIED, observed=()),)}, "a check of the table integ"),
    ],
)
def test_one_of_a_check_that_does_not_hold_is_refused_aloud(waiver, more, why):
    decision = with_contract(waiver, **more)
    assert f"is refused, since {why}" in decision.reasons[-1]
    holds = any(each.holds for each in more.get("findings", (COPIED,)))
    assert decision.admitted is not holds


BOUNDED = replace(COPIED, table="integrity")
OF_BOUND = replace(OF_CHECK, contract_digest=None, policy_digest=POLICY.digest)


def test_one_of_a_bound_of_the_policy_is_bound_to_the_policy():
    assert with_contract(OF_BOUND, findings=(BOUNDED,)).waived == (OF_BOUND,)
    assert with_contract(OF_BOUND, findings=(BOUNDED,), digest="d" * 64).admitted
    assert Waiver.from_mapping(OF_BOUND.to_mapping()) == OF_BOUND
    other = replace(OF_BOUND, policy_digest="e" * 64)
    for waiver, finding, why in (
        (other, BOUNDED, f"it is bound to another policy than {POLICY.digest[:12]}"),
        (OF_CHECK, BOUNDED, "bounds raters_not_copied; write policy_digest"),
        (OF_BOUND, COPIED, "the contract asks raters_not_copied; write contract_digest"),
    ):
        decision = with_contract(waiver, findings=(finding,))
        assert not decision.admitted
        assert why in decision.reasons[-1]


@pytest.mark.parametrize("table", ["items", "round"])
def test_one_of_a_check_of_an_earlier_version_still_turns_it(table):
    assert with_contract(OF_CHECK, findings=(replace(COPIED, table=table),)).admitted


def test_one_of_a_check_turns_no_other_check_and_no_verdict():
    other = replace(COPIED, check="items_not_repeated")
    assert with_contract(OF_CHECK, findings=(COPIED, other)).codes == (
        "contract:items_not_repeated",
    )
    assert decided(OF_CHECK, findings=(COPIED,)).codes[-1] == "tentative"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"measure": "krippendorff_alpha"}, "measure: .* expected either a measure or a check"),
        ({"check": None}, "measure: found nothing; expected either a measure or a check"),
        (
            {"contract_digest": None},
            "policy_digest: found nothing; expected for a check the digest of its policy or of",
        ),
        ({"policy_digest": "c" * 64}, "policy_digest: found both; expected for a check"),
        ({"scope": "rater ana"}, "scope: .* expected round, since a check is about"),
        ({"contract_digest": "abc"}, "expected 64 hexadecimal digits"),
        ({"check": " "}, "check: found ' '; expected text"),
    ],
)
def test_one_of_a_check_names_one_thing_and_its_contract(change, words):
    with pytest.raises(WaiverError, match=words):
        replace(OF_CHECK, **change)


def test_one_of_a_check_is_read_from_yaml(tmp_path):
    path = tmp_path / "w2.yaml"
    bound = f"check: raters_not_copied\ncontract_digest: {'c' * 64}"
    path.write_text(TEXT.replace("measure: krippendorff_alpha", bound))
    assert load_waiver(path) == OF_CHECK


def test_one_that_is_not_needed_changes_nothing():
    good = estimate("krippendorff_alpha", ROUND, 0.85, 0.95)
    assert decided(WAIVER, found=(good, ANA, BEN)) == decided(found=(good, ANA, BEN))


def test_under_other_rater_names_it_speaks_of_the_same_rater():
    assert replace(WAIVER, scope="rater ben").renamed({"ben": "rater-1"}).scope == "rater rater-1"
    assert replace(WAIVER, scope="category ben").renamed({"ben": "rater-1"}).scope == "category ben"
    assert Waivers((WAIVER,), DAY).renamed({"ben": "rater-1"}) == Waivers((WAIVER,), DAY)


def test_a_round_has_those_that_name_it():
    assert select_round_waivers((WAIVER, replace(WAIVER, round="w3")), "w2", DAY) == Waivers(
        (WAIVER,), DAY
    )


@pytest.mark.parametrize(
    "change",
    [
        {"who": " "},
        {"why": ""},
        {"ratings_digest": "abc"},
        {"until": "tomorrow"},
        {"scope": "everything"},
    ],
)
def test_one_without_a_name_a_reason_an_end_or_a_digest_cannot_be_written(change):
    with pytest.raises(WaiverError):
        replace(WAIVER, **change)


def test_one_of_a_measure_that_does_not_exist_cannot_be_written():
    with pytest.raises(PolicyError, match="Did you mean 'fleiss_kappa'"):
        replace(WAIVER, measure="fleis_kappa")


TEXT = f"""project: posts
round: w2
ratings_digest: {THESE}
measure: krippendorff_alpha
who: Dana Okoye
why: adjudicated by hand
until: 2026-11-21
"""


def test_it_is_read_from_yaml_and_written_as_plain_data(tmp_path):
    path = tmp_path / "w2.yaml"
    path.write_text(TEXT)
    assert load_waiver(path) == WAIVER == Waiver.from_mapping(WAIVER.to_mapping())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (TEXT.replace("who:", "whom:"), "w2.yaml:5: whom: found an unknown key; .* mean 'who'?"),
        (TEXT.replace("until: 2026-11-21\n", ""), "w2.yaml:1: until: found nothing; expected a"),
        (
            TEXT.replace("2026-11-21", "some day"),
            "w2.yaml:7: until: found 'some day'; expected a day, as 2027-01-31",
        ),
        (TEXT.replace("2026-11-21", "2026-11-21 10:00:00"), "w2.yaml:7: until: found datetime"),
        (
            TEXT.replace("krippendorff_alpha", "fleis_kappa"),
            "w2.yaml:4: measure: found 'fleis_kappa'; .*Did you mean 'fleiss_kappa'?",
        ),
        ("- posts\n", "w2.yaml:1: found .*; expected a mapping of keys and values"),
    ],
)
def test_mistakes_in_yaml_are_named_with_file_and_line(tmp_path, text, words):
    path = tmp_path / "w2.yaml"
    path.write_text(text)
    with pytest.raises(WaiverError, match=words):
        load_waiver(path)


def test_every_mistake_of_a_waiver_is_named(tmp_path):
    path = tmp_path / "w2.yaml"
    path.write_text(TEXT.replace(THESE, "abc").replace("Dana Okoye", "' '") + "scope: all\n")
    with pytest.raises(WaiverError) as caught:
        load_waiver(path)
    for words in (
        "w2.yaml:3: ratings_digest: found 'abc'; expected 64 hexadecimal digits in lower case.",
        "w2.yaml:5: who: found ' '; expected the visible name of a person.",
        "w2.yaml:8: scope: found 'all'; expected one of round, category,",
    ):
        assert words in str(caught.value)


def test_the_command_line_judges_with_a_waiver_and_refuses_one_for_other_bytes(tmp_path, capsys):
    table, policy, waiver = tmp_path / "t.csv", tmp_path / "p.yaml", tmp_path / "w.yaml"
    soon = date.today() + timedelta(30)
    table.write_text(
        "item,rater,label\n"
        + "".join(f"{i},{rater},{'yn'[i % 2]}\n" for i in range(10) for rater in "abc")
    )
    policy.write_text("policy: p\nversion: 1\nrules:\n  - {measure: krippendorff_alpha}\n")
    waiver.write_text(TEXT.replace("2026-11-21", str(soon)))
    command = ["judge", str(table), "--policy", str(policy), "--waiver", str(waiver)]
    assert main(command) == 1
    printed = capsys.readouterr().out
    assert "is refused, since it is bound to ratings aaaaaaaaaaaa, and these are" in printed
    assert main([*command, "--format", "json"]) == 1
    waiver.write_text(
        TEXT.replace("2026-11-21", str(soon)).replace(
            THESE, json.loads(capsys.readouterr().out)["ratings_digest"]
        )
    )
    assert main(command) == 0
    assert "waiver by Dana Okoye" in capsys.readouterr().out


@pytest.mark.parametrize(
    "change",
    [
        {"who": "\u200b"},
        {"who": "..."},
        {"who": 5},
        {"who": "\u3164\u3164\u3164"},
        {"why": "aaaaaaaaaaaa"},
        {"who": "Da\u200bna"},
        {"why": "."},
        {"why": "soon \u200b"},
    ],
)
def test_p4_nobody_waives_unseen_or_without_a_reason(change):
    with pytest.raises(WaiverError, match=r"expected (the visible name|a reason with 10)"):
        replace(WAIVER, **change)


def test_p4_a_waiver_holds_for_a_year_at_most_or_as_long_as_the_policy_says():
    endless = replace(WAIVER, until=date.max)
    decision = decided(endless)
    assert not decision.admitted
    assert decision.reasons[-1].endswith("policy p allows waivers for at most 366 days")
    assert decided(replace(WAIVER, until=DAY + timedelta(366))).admitted
    assert not decided(replace(WAIVER, until=DAY + timedelta(367))).admitted
    strict = replace(POLICY, waiver_days=30)
    assert not decided(replace(WAIVER, until=DAY + timedelta(31)), policy=strict).admitted
    assert strict.digest != POLICY.digest == replace(POLICY, waiver_days=366).digest


def test_p4_only_those_may_waive_whom_the_policy_names():
    of_others = replace(POLICY, waived_by=("Kim Lee", "Lou Ray"))
    decision = decided(WAIVER, policy=of_others)
    assert not decision.admitted
    assert decision.reasons[-1].endswith("policy p lets only ['Kim Lee', 'Lou Ray'] waive")
    theirs = replace(POLICY, waived_by=("Kim Lee", WAIVER.who))
    assert decided(WAIVER, policy=theirs).admitted
    assert theirs.digest != POLICY.digest == replace(POLICY, waived_by=()).digest
    assert Policy.from_mapping(theirs.to_mapping()) == theirs
    with pytest.raises(PolicyError, match="waived_by: found"):
        Policy.from_mapping({**theirs.to_mapping(), "waived_by": [""]})


@pytest.mark.parametrize("who", [WAIVER.who, "nobody"])
def test_a_policy_may_let_nobody_waive(who):
    decision = decided(replace(WAIVER, who=who), policy=replace(POLICY, waived_by=("nobody",)))
    assert not decision.admitted
    assert decision.reasons[-1].endswith("policy p lets nobody waive")
    with pytest.raises(PolicyError, match=r"waived_by: found .* or nobody alone"):
        Policy.from_mapping({**POLICY.to_mapping(), "waived_by": ["nobody", "Kim Lee"]})


def test_nobody_is_written_as_a_word_or_as_a_list():
    policies = [
        Policy.from_mapping({**POLICY.to_mapping(), "waived_by": written})
        for written in ("nobody", ["nobody"])
    ]
    assert policies[0] == policies[1] == replace(POLICY, waived_by=("nobody",))
    with pytest.raises(PolicyError, match="waived_by: found 'Kim Lee'; expected a list"):
        Policy.from_mapping({**POLICY.to_mapping(), "waived_by": "Kim Lee"})


def test_a_name_in_python_is_no_list_of_letters():
    with pytest.raises(PolicyError, match="waived_by: found 'Kim Lee'; expected a list of names"):
        replace(POLICY, waived_by="Kim Lee")


def test_p5_a_waiver_of_somebody_who_is_not_in_the_round_is_refused_aloud():
    torn = estimate("self_agreement_unbiased", Scope("rater", "ben"), 0.3, 0.9)
    of_bne = replace(WAIVER, measure="self_agreement_unbiased", scope="rater bne")
    decision = decided(WAIVER, of_bne, found=(SHORT, ANA, torn))
    assert not decision.admitted
    assert decision.reasons[-1].endswith(
        "is refused, since this round has no verdict on self_agreement_unbiased of rater bne"
    )


NAMES = ["a", "b", "and", "a and b", "a and", "and b", "b and c", "c", '"a"', '"a" and b', "a\nb"]


def test_p8_every_two_raters_have_a_scope_of_their_own():
    pairs = list(combinations(NAMES, 2))
    written = {str(Scope.of_pair(*pair)): pair for pair in pairs}
    assert len(written) == len(pairs)
    assert all(text.isprintable() for text in written)
    names = {name: f"r{number}" for number, name in enumerate(NAMES)}
    for text, (one, other) in written.items():
        waiver = replace(WAIVER, scope=text)
        renamed = " and ".join(sorted((names[one], names[other])))
        assert waiver.renamed(names).scope == f"pair {renamed}"
        assert waiver.applies_to(
            Verdict(POLICY.rules[0], Scope.of_pair(other, one), "tentative", "", "")
        )


def test_p8_a_waiver_of_one_pair_turns_no_other():
    policy = replace(POLICY, rules=(Rule("krippendorff_alpha", scope="pair"),))
    pairs = [Scope.of_pair("a and b", "c"), Scope.of_pair("a", "b and c")]
    found = [estimate("krippendorff_alpha", pair, 0.7, 0.9) for pair in pairs]
    waiver = replace(WAIVER, scope=str(pairs[0]))
    decision = decided(waiver, found=found, policy=policy)
    assert [verdict.scope for verdict in decision.unmet] == [pairs[1]]
