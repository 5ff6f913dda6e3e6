"""A certificate answers for one classifier, on rounds like those it was judged on, until a day."""

import json
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pandas as pd
import pytest

from agreement_pipeline import Ratings, Scale, Store
from agreement_pipeline.contract import Contract
from agreement_pipeline.errors import CertificateError, PolicyError, StoreError
from agreement_pipeline.evidence import event_table
from agreement_pipeline.integrity import AtMost, Integrity
from agreement_pipeline.intervals import Looks
from agreement_pipeline.models import Identity, certificates, draw, open_certificate
from agreement_pipeline.policy import Rule, Waiver, load_policy
from agreement_pipeline.release import judge_round
from agreement_pipeline.release.contents import as_json
from agreement_pipeline.store import digest_of, erase
from tests.contract.earlier import EARLIER, FEW_GOLD, RECORDS, record_decision
from tests.events import sealed
from tests.models.silver import JUDGE, RULES, SCALE, SOON, TODAY, certified, make_ratings, refused
from tests.release.forging import CONTRACT, POLICY, STRICTER


@pytest.fixture
def delivered(store, original):
    def ingest(name="r1", **how):
        return store.ingest(name, make_ratings(**how), original)

    return ingest


@pytest.fixture
def ingested(delivered):
    delivered()
    return delivered


def edit_document(store, change, *, logged):
    """Change the document; if `logged`, make the last entry of the log agree with it."""
    entry = store.history()[-1]
    path = store.root / "certificates" / f"{entry['certificate']}.json"
    said = json.loads(path.read_text())
    change(said)
    if not logged:
        path.write_bytes(as_json(said))
        return
    digest = digest_of(as_json(said))
    path.with_name(f"{digest}.json").write_bytes(as_json(said))
    sealed(store, lambda entry: entry.update(certificate=digest))


def test_a_certificate_on_a_tentative_panel_says_so(store, ingested):
    (rule,) = POLICY.rules
    lower = replace(rule, reliable=0.999, tentative=0.7)
    policy = replace(POLICY, rules=(lower,), admit=("reliable", "tentative"))
    found = certified(store, policy=policy)
    words = (
        "rounds ['r1'] were admitted on a tentative verdict, so what follows from them is "
        "tentative too"
    )
    assert found.certified
    assert words in found.warnings
    assert open_certificate(store, JUDGE).warnings == found.warnings


def test_a_certificate_under_rules_with_early_looks_answers(store, ingested):
    certified(store, rules=replace(RULES, looks=Looks(at=(90, 180), spending="pocock")))
    assert open_certificate(store, JUDGE).certified


def test_a_certificate_says_what_agrees_with_whom_until_when(store, ingested):
    found = certified(store)
    assert found.certified
    assert found.statement == (
        f"judge agrees with the panel of rounds ['r1'] on items like these until {SOON}; "
        "this does not say that it is right, unbiased or fair"
    )
    (round_,) = found.rounds.values()
    assert round_["domain"] == {"label": ["no", "yes"], "stratum:language": ["d", "e"]}
    assert round_["alternative_annotator_test"]["passed"] is True
    (verdict,) = round_["verdicts"]
    assert (verdict["scope"], verdict["verdict"]) == ("classifier judge", "reliable")
    assert found.warnings == (
        "round r1: its export does not say which labels began as a suggestion, perhaps this "
        "classifier's own",
        "rounds ['r1']: items are taken as unrelated; if several are of one document or author, "
        "name its column as cluster",
        "not known of it: ['date']",
    )


def test_without_a_round_it_says_how_the_store_gets_one(store):
    said = refused("certificate_refused", certified, store, rounds=())
    assert said.endswith(
        "Deliver a round with its labels, and run the project in Dagster or with "
        "`agreement-pipeline run`."
    )


def test_it_is_in_the_log_and_bound_to_what_it_rests_on(store, ingested):
    found = certified(store)
    entry = store.history()[-1]
    assert entry["event"] == "certified"
    assert entry["rounds"] == {"r1": store.present("r1").ratings_digest}
    assert entry["identity_digest"] == JUDGE.digest
    assert entry["policy_digest"] == RULES.digest
    assert entry["certificate"] == digest_of(as_json(found.to_mapping()))
    assert event_table([entry])["what"].tolist() == [f"judge: certified, until {SOON}"]


@pytest.mark.parametrize("n_moved", [0, 2])
def test_a_round_of_other_texts_than_were_drawn_certifies_nobody(store, original, n_moved):
    """A panel labelled all drawn items. Two of them came with each other's text."""
    ratings = make_ratings()
    texts = {item: f"text of {item}" for item in ratings.rated_items().to_pylist()}

    def with_texts(frame, texts):
        frame["text"] = frame["item"].map(texts)
        return Ratings.from_frame(frame, SCALE, classifiers=["judge"])

    frame = ratings.to_pandas()
    drawn = draw(store, "april", with_texts(frame[frame["rater"] == "judge"].copy(), texts), 90)
    names = ["i000", "i001"][:n_moved]
    moved = texts | dict(zip(names, [texts[name] for name in reversed(names)], strict=True))
    store.ingest("r1", with_texts(frame, moved), original)
    if not n_moved:
        assert certified(store).certified
        return
    reason = refused("certificate_other_contents", certified, store)
    assert reason.startswith(
        "round r1: found another text of 2 of 90 items, ['i000', 'i001'], than they had when they "
        "were drawn from april; expected the same"
    )
    assert store.history()[-1]["event"] != "certified"
    # a damaged list of texts is another fault than other texts, and has its own code
    (store.root / f"contents/{drawn.contents['text']}.json").unlink()
    assert "found no list of the contents of april" in refused("draw_edited", certified, store)


def test_a_classifier_that_differs_is_held_and_stays_in_the_log(store, ingested):
    ingested("r2", wrong=30, prefix="k")
    found = certified(store, ["r2"])
    assert not found.certified
    assert "vanbelle_albert_kappa of classifier judge" in found.reasons[0]
    assert store.history()[-1]["decision"] == "held"
    assert "vanbelle" in refused("certificate_held", open_certificate, store, JUDGE)


def test_a_classifier_that_always_gives_the_common_label_is_held(store, original):
    frame = make_ratings(wrong=0, n=200, labelled=200).to_pandas()
    common = frame["item"].str[1:].astype(int) % 5 != 1
    frame.loc[common, "label"] = "no"
    frame.loc[frame["rater"] == "judge", "label"] = "no"
    store.ingest("r1", Ratings.from_frame(frame, SCALE, classifiers=["judge"]), original)
    assert "vanbelle_albert_kappa of classifier judge 0.000" in certified(store).reasons[0]


def test_each_round_must_meet_the_rules(store, ingested):
    ingested("r2", wrong=30, prefix="k")
    found = certified(store, ["r1", "r2"])
    assert not found.certified
    assert all(reason.startswith("round r2: ") for reason in found.reasons)


def test_an_undefined_value_holds(store, ingested):
    own = replace(
        RULES,
        classifiers=(Rule("self_agreement_unbiased", "classifier"),),
        passed_by_guessing="It stands beside other rules.",
    )
    found = certified(store, rules=own)
    assert not found.certified
    assert "undefined" in found.reasons[0]


def test_what_only_warns_is_said_and_holds_nothing(store, ingested):
    beside = Rule("recall_beside_raters", "classifier", 0.9, 0.8, effect="warn")
    found = certified(store, rules=replace(RULES, classifiers=(*RULES.classifiers, beside)))
    assert found.certified
    assert found.warnings[0].startswith("round r1: recall_beside_raters of classifier judge")


def test_a_test_that_is_not_passed_is_said(store, ingested):
    ingested("r2", raters="ab", prefix="k")
    found = certified(store, ["r2"])
    assert found.certified
    assert found.rounds["r2"]["alternative_annotator_test"]["winning_rate"] is None
    assert "not shown that it may stand in for a rater" in found.warnings[0]


def test_items_without_clusters_are_taken_as_unrelated_which_is_said(store, ingested, original):
    ingested("r1")
    unrelated = "rounds ['r1']: items are taken as unrelated; "
    assert any(each.startswith(unrelated) for each in certified(store).warnings)
    frame = make_ratings(prefix="k").to_pandas()
    in_pairs = frame.assign(cluster=frame["item"].str[1:].astype(int) // 2)
    store.ingest("r2", Ratings.from_frame(in_pairs, SCALE, classifiers=["judge"]), original)
    found = certified(store, ["r2"], reason="in clusters")
    assert "in 45 clusters" in found.reasons[0]
    assert not any("taken as unrelated" in each for each in found.warnings)
    assert open_certificate(store, JUDGE).warnings == found.warnings


def test_only_the_classifier_itself_is_judged(store, original):
    frame = make_ratings().to_pandas()
    other = frame[frame["rater"] == "a"].assign(rater="rival", label="yes")
    both = Ratings.from_frame(pd.concat([frame, other]), SCALE, classifiers=["judge", "rival"])
    store.ingest("r1", both, original)
    assert certified(store).certified
    assert not certified(store, identity=Identity("rival")).certified


def test_a_held_panel_certifies_nothing(store, ingested):
    words = refused("certificate_round_held", certified, store, policy=STRICTER)
    assert "krippendorff_alpha" in words
    assert [entry["event"] for entry in store.history()] == ["ingested", "decided"]


def test_a_panel_that_was_admitted_by_a_waiver_is_said(store, ingested, same_day):
    digest = store.present("r1").ratings_digest
    waiver = Waiver(
        "demo", "r1", digest, "krippendorff_alpha", "Dana Okoye", "settled by hand", TODAY
    )
    found = certified(store, policy=STRICTER, waivers=[waiver])
    words = f"round r1: its panel has a waiver by Dana Okoye, until {TODAY}: settled by hand"
    assert words in found.warnings
    assert open_certificate(store, JUDGE).warnings == found.warnings


@pytest.mark.parametrize(
    ("raters", "identity"),
    [
        (["a", "gpt-4o", "c"], JUDGE),
        (["a", "M-Large", "c"], JUDGE),
        (["a", "judge ", "c"], JUDGE),
        (["a", "\uff2a\u200budge", "c"], JUDGE),
    ],
)
def test_a_panel_of_models_certifies_nothing(store, ingested, raters, identity):
    ingested("r2", raters=raters, prefix="k")
    careless = replace(POLICY, integrity=Integrity(rater_names_differ=AtMost(0, "not_asked")))
    refused("certificate_panel_models", certified, store, ["r2"], identity, policy=careless)


def test_a_classifier_must_have_labelled_the_round(store, ingested):
    refused("certificate_classifier_absent", certified, store, identity=Identity("another"))
    words = refused("certificate_classifier_absent", certified, store, identity=Identity("a"))
    assert "found classifiers ['judge']; expected 'a' among them" in words


def test_a_classifier_may_not_leave_hard_items_out(store, ingested):
    ingested("r2", labelled=80, prefix="k")
    words = refused("certificate_items_missing", certified, store, ["r2"])
    assert "10 items" in words


@pytest.mark.parametrize("expires", [TODAY - timedelta(days=1), TODAY + timedelta(days=367)])
def test_a_certificate_ends_within_a_year(store, ingested, same_day, expires):
    with pytest.raises(CertificateError, match="the last day"):
        certified(store, expires=expires)


def test_an_expired_certificate_answers_nothing(store, certifies):
    assert open_certificate(store, JUDGE, on=SOON).certified
    late = SOON + timedelta(days=1)
    refused("certificate_expired", open_certificate, store, JUDGE, on=late)


@pytest.mark.parametrize(
    ("part", "other"),
    [
        ("model", {"model": "m-small"}),
        ("version", {"version": None}),
        ("prompt", {"prompt_digest": "c" * 64}),
        ("rubric", {"rubric_digest": "c" * 64}),
        ("parameters", {"parameters": {"temperature": 1}}),
        ("date", {"date": date(2026, 1, 1)}),
    ],
)
def test_another_classifier_under_the_same_name_is_not_certified(store, certifies, part, other):
    refused(f"certificate_other_{part}", open_certificate, store, replace(JUDGE, **other))


def test_without_an_attempt_there_is_no_certificate(store, ingested):
    refused("certificate_absent", open_certificate, store, JUDGE)
    refused("certificate_absent", open_certificate, store, Identity("another"))


def test_labels_and_strata_outside_are_not_answered_for(store, certifies):
    silver = make_ratings(raters="", prefix="s")
    assert open_certificate(store, JUDGE, silver).certified
    foreign = make_ratings(raters="", prefix="s", strata="df")
    words = refused("certificate_other_strata", open_certificate, store, JUDGE, foreign)
    assert "found stratum language ['f']; expected some of " in words
    wider = Ratings.from_frame(silver.to_pandas(), Scale(("no", "yes", "maybe")))
    words = refused("certificate_other_labels", open_certificate, store, JUDGE, wider)
    assert words.endswith("Certify it on this scale.")
    frame = silver.to_pandas()
    unnamed = Ratings.from_frame(frame, Scale.from_labels(["no", "yes"], "nominal"))
    words = refused("certificate_other_labels", open_certificate, store, JUDGE, unnamed)
    assert words.endswith("Name the categories where they are read.")
    without = Ratings.from_frame(frame, silver.scale, classifiers=["judge"])
    words = refused("certificate_other_strata", open_certificate, store, JUDGE, without)
    assert "found no stratum language; expected some of ['d', 'e'], " in words
    assert "Name its column as a stratum, or " in words


def test_a_category_that_nobody_gave_was_not_certified(store, original):
    wide = Scale(("no", "yes", "maybe"))
    frame = make_ratings().to_pandas()
    store.ingest("r1", Ratings.from_frame(frame, wide, classifiers=["judge"]), original)
    found = certified(store)
    other = pd.DataFrame([{"item": "s", "rater": "judge", "label": "maybe"}])
    silver = Ratings.from_frame(other, wide, classifiers=["judge"])
    assert "maybe" in refused("certificate_other_labels", found.refuse_others, silver)


def test_a_round_that_is_held_later_withdraws_the_certificate(store, certifies):
    judge_round(store, "r1", STRICTER, CONTRACT)
    refused("certificate_withdrawn", open_certificate, store, JUDGE)
    judge_round(store, "r1", POLICY, CONTRACT)
    refused("certificate_withdrawn", open_certificate, store, JUDGE)


def test_a_round_that_comes_again_withdraws_the_certificate(store, certifies, delivered):
    delivered(wrong=2)
    refused("certificate_withdrawn", open_certificate, store, JUDGE)


def test_a_round_that_was_never_withdrawn_goes_on_after_another_judgement(store, certifies):
    judge_round(store, "r1", replace(POLICY, policy="other"), CONTRACT)
    assert open_certificate(store, JUDGE).certified


# Best of several


def test_rounds_that_were_left_out_show(store, ingested):
    ingested("r2", wrong=30, prefix="k")
    found = certified(store)
    assert "not part of it: rounds ['r2'] of the same store" in found.warnings
    assert open_certificate(store, JUDGE).left_out == ("r2",)


def test_another_attempt_says_why_and_shows_the_first(store, ingested):
    ingested("r2", wrong=30, prefix="k")
    certified(store, ["r2"])
    words = refused("certificate_again", certified, store)
    assert "1 earlier attempt under the name judge, the last one held" in words
    tuned = replace(JUDGE, prompt_digest="c" * 64)
    refused("certificate_again", certified, store, identity=tuned)
    found = certified(store, identity=tuned, reason="a clearer prompt")
    assert found.certified
    assert (
        "after 1 earlier attempt under this name or on these rounds, of which 1 held: "
        "a clearer prompt" in found.warnings
    )
    assert "1 other classifier had the name judge, with another digest" in found.warnings
    assert open_certificate(store, tuned).warnings == found.warnings


def test_an_attempt_made_meanwhile_is_one_more_attempt(store, ingested, monkeypatch):
    judged = certificates.decide

    def decided_beside_another(*given):
        monkeypatch.setattr(certificates, "decide", judged)
        certified(store)
        return judged(*given)

    monkeypatch.setattr(certificates, "decide", decided_beside_another)
    refused("certificate_again", certified, store)
    assert [entry["event"] for entry in store.history()].count("certified") == 1


@pytest.mark.parametrize("reason", ["", " ", "\u200b", "-"])
def test_a_reason_has_words(store, certifies, reason):
    refused("certificate_again", certified, store, reason=reason)


def test_a_name_in_other_letters_is_no_new_name(store, certifies, original):
    store.ingest("r2", make_ratings(name="Judge", prefix="k"), original)
    other = replace(JUDGE, name="Judge")
    refused("certificate_again", certified, store, ["r2"], identity=other)
    found = certified(store, ["r2"], identity=other, reason="its name changed")
    assert "1 other classifier had the name Judge, with another digest" in found.warnings


def test_a_round_that_came_before_with_other_ratings_is_said(store, original):
    for wrong in (40, 0):
        store.ingest("r1", make_ratings(wrong=wrong), original)
    found = certified(store)
    words = "rounds ['r1'] came before with other ratings, which it does not count"
    assert words in found.warnings
    assert open_certificate(store, JUDGE).warnings == found.warnings


def test_attempts_of_others_on_the_same_rounds_show(store, original):
    frame = make_ratings().to_pandas()
    other = frame[frame["rater"] == "judge"].assign(rater="rival")
    both = Ratings.from_frame(pd.concat([frame, other]), SCALE, classifiers=["judge", "rival"])
    store.ingest("r1", both, original)
    certified(store)
    found = certified(store, identity=Identity("rival"))
    assert [each["classifier"] for each in found.earlier] == ["judge"]
    words = "after 1 earlier attempt under this name or on these rounds, of which 0 held"
    assert words in found.warnings
    assert not any("had the name" in each for each in found.warnings)


def test_numbers_without_categories_are_no_labels_of_a_domain():
    frame = make_ratings().to_pandas()
    label = frame["label"].map({"no": 1.5, "yes": 2.5})
    numbers = frame.assign(label=label, **{"stratum:language": "de"})
    ratings = Ratings.from_frame(numbers, Scale(None, "interval"), classifiers=["judge"])
    found = certificates.domain_of(ratings, "judge")
    assert found == {"label": [], "stratum:language": ["de"]}


def test_cut_offs_may_not_change_under_a_policys_name(store, certifies):
    easier = replace(RULES, classifiers=(Rule("vanbelle_albert_kappa", "classifier", 0.7, 0.667),))
    with pytest.raises(StoreError, match="other rules than those"):
        certified(store, rules=easier, reason="an easier cut-off")


# Forged documents and logs


def test_an_edited_document_is_refused(store, certifies):
    edit_document(store, lambda said: said.update(expires="2099-01-01"), logged=False)
    refused("certificate_edited", open_certificate, store, JUDGE)
    (path,) = (store.root / "certificates").iterdir()
    path.unlink()
    refused("certificate_edited", open_certificate, store, JUDGE)


@pytest.mark.parametrize(
    "forge",
    [
        lambda said: said["rounds"]["r1"]["verdicts"][0].update(value=1.0),
        lambda said: said["rounds"]["r1"]["domain"]["label"].append("maybe"),
        lambda said: said.update(statement="judge is right"),
        lambda said: said.update(warnings=[]),
        lambda said: said.update(more="judge is fair"),
        lambda said: said.pop("panel"),
        lambda said: said["panel"]["policy"].update(version=2),
        lambda said: said["panel"]["policy"]["rules"][0].update(reliable=0.7),
        lambda said: said["policy"]["classifiers"][0].update(reliable=0.7),
        lambda said: said.update(decision="held"),
    ],
)
def test_a_document_that_the_rounds_do_not_give_is_refused(store, certifies, forge):
    edit_document(store, forge, logged=True)
    refused("certificate_not_derived", open_certificate, store, JUDGE)


@pytest.fixture
def certified_earlier(store, ingested):
    """A certificate on a panel that an earlier version judged by tables of its contract."""
    record_decision(store, "r1", POLICY)
    assert certified(store, contract=EARLIER).certified
    return store


def test_a_certificate_under_a_contract_of_an_earlier_version_answers(certified_earlier):
    found = open_certificate(certified_earlier, JUDGE)
    assert found.terms.contract == EARLIER


def drop_tables(contract):
    contract.update(rows=[], items=[])


def warn_only(contract):
    contract["items"][0]["severity"] = "warning"


def ask_nothing(contract):
    contract.clear()
    contract.update(Contract.none().to_mapping())


def bound_nothing(contract):
    contract["round"] = [FEW_GOLD]


@pytest.mark.parametrize("change", [drop_tables, warn_only, ask_nothing, bound_nothing])
def test_another_contract_in_a_document_than_the_log_has_is_refused(certified_earlier, change):
    edit_document(certified_earlier, lambda said: change(said["panel"]["contract"]), logged=True)
    refused("certificate_not_derived", open_certificate, certified_earlier, JUDGE)


def test_a_failed_check_of_an_earlier_version_certifies_nothing(store, ingested):
    failed = [RECORDS[0], {**RECORDS[1], "passed": False}]
    record_decision(store, "r1", POLICY, failed, decision="held")
    with pytest.raises(CertificateError, match="three_raters_per_item"):
        certified(store, contract=EARLIER)


def test_a_document_that_is_no_object_is_refused(store, certifies):
    data = b"[]\n"
    (store.root / "certificates" / f"{digest_of(data)}.json").write_bytes(data)
    sealed(store, lambda entry: entry.update(certificate=digest_of(data)))
    said = refused("certificate_not_derived", open_certificate, store, JUDGE)
    assert "no JSON object" in said


def test_rounds_on_different_scales_have_no_certificate_together(store, ingested, original):
    ratings = make_ratings()
    scale = Scale(("no", "yes", "maybe"))
    store.ingest("r2", Ratings.from_frame(ratings.to_pandas(), scale), original)
    with pytest.raises(CertificateError, match="found 2 different scales; expected one"):
        certified(store, ["r1", "r2"])


def test_a_round_that_is_judged_otherwise_meanwhile_is_not_certified(store, ingested, monkeypatch):
    judged = certificates.decide

    def decided_before_another(*given):
        found = judged(*given)
        judge_round(store, "r1", STRICTER, CONTRACT)
        return found

    monkeypatch.setattr(certificates, "decide", decided_before_another)
    with pytest.raises(CertificateError, match="judged again meanwhile"):
        certified(store)
    assert [entry["event"] for entry in store.history()].count("certified") == 0


def test_a_longer_term_than_the_log_allows_is_refused(store, certifies):
    edit_document(store, lambda said: said.update(expires="2099-01-01"), logged=True)
    sealed(store, lambda entry: entry.update(expires="2099-01-01"))
    with pytest.raises(CertificateError, match="at most 366 days"):
        open_certificate(store, JUDGE)


def test_a_certificate_made_while_the_clock_was_ahead_does_not_last_longer(store, certifies):
    late, last = TODAY + timedelta(days=600), (TODAY + timedelta(days=800)).isoformat()
    edit_document(store, lambda said: said.update(expires=last), logged=True)
    sealed(store, lambda entry: entry.update(expires=last, time=f"{late}T00:00:00+00:00"))
    with pytest.raises(CertificateError, match="at most 366 days"):
        open_certificate(store, JUDGE)


def test_a_last_day_that_is_none_is_refused(store, certifies):
    sealed(store, lambda entry: entry.update(expires="never"))
    refused("certificate_not_derived", open_certificate, store, JUDGE)


def test_a_time_of_the_log_that_is_none_is_refused(store, certifies):
    sealed(store, lambda entry: entry.update(time="now"))
    refused("certificate_not_derived", open_certificate, store, JUDGE)


def test_a_swapped_identity_is_refused(store, certifies):
    other = replace(JUDGE, model="m-small")
    sealed(store, lambda entry: entry.update(identity_digest=other.digest))
    refused("certificate_other_model", open_certificate, store, other)
    refused("certificate_other_model", open_certificate, store, other)


def test_a_forged_line_of_the_log_that_certifies_what_was_held_is_refused(store, ingested):
    ingested("r2", wrong=30, prefix="k")
    certified(store, ["r2"])
    sealed(store, lambda entry: entry.update(decision="certified"))
    refused("certificate_not_derived", open_certificate, store, JUDGE)


# Policies


def test_the_bundled_policy_judges_a_panel_as_standard_does():
    found = load_policy("classifier-standard")
    assert found.rules == load_policy("standard").rules
    assert [rule.measure for rule in found.classifiers if rule.effect == "hold"] == [
        "vanbelle_albert_kappa"
    ]


def test_a_policy_without_rules_for_classifiers_certifies_nothing(store, ingested):
    with pytest.raises(CertificateError, match="no rules for classifiers"):
        certified(store, rules=POLICY)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (Rule("krippendorff_alpha"), "expected a rule on the scope classifier"),
        (Rule("shah_s", "classifier", effect="warn"), "or every classifier would be certified"),
        (Rule("advantage_probability", "classifier"), "without looking"),
    ],
)
def test_rules_for_classifiers_that_hold_nothing_are_refused(rule, words):
    with pytest.raises(PolicyError, match=words):
        replace(RULES, rules=(Rule("krippendorff_alpha"),), classifiers=(rule,))


def test_a_last_day_with_a_time_is_refused_in_words(store, ingested):
    with pytest.raises(CertificateError, match="expected a day without a time"):
        certified(store, expires=datetime(2027, 1, 31, tzinfo=UTC))


def test_a_day_with_a_time_is_refused_in_words(store, ingested):
    certified(store)
    with pytest.raises(CertificateError, match="expected a day without a time"):
        open_certificate(store, JUDGE, on=datetime(2027, 1, 31, tzinfo=UTC))


def with_marked(column, marked, wrong=range(3, 30)):
    """A round of which some items are `marked`, and a classifier that is wrong on a few of them."""
    frame = make_ratings(wrong=0, n=200, labelled=200).to_pandas()[["item", "rater", "label"]]
    numbers = frame["item"].str[1:].astype(int)
    at = (frame["rater"] == "judge") & numbers.isin(wrong)
    frame.loc[at, "label"] = frame.loc[at, "label"].map({"no": "yes", "yes": "no"})
    frame[column] = numbers.isin(marked) & ((column == "gold") | (frame["rater"] != "judge"))
    return frame


@pytest.mark.parametrize("column", ["gold", "assisted"])
def test_items_that_are_called_gold_or_assisted_hide_no_error_of_a_classifier(
    store, original, column
):
    frame = with_marked(column, range(3, 30))
    store.ingest("r1", Ratings.from_frame(frame, SCALE, classifiers=["judge"]), original)
    found = certified(store)
    assert not found.certified
    (verdict,) = found.rounds["r1"]["verdicts"]
    assert (verdict["verdict"], verdict["code"]) == ("inconclusive", "dissent_left_out")
    assert "with the gold items and the labels that began as a suggestion" in verdict["reason"]
    refused("certificate_held", open_certificate, store, JUDGE)


@pytest.mark.parametrize("column", ["gold", "assisted"])
def test_honest_gold_items_and_suggestions_leave_a_certificate_as_it_is(store, original, column):
    frame = with_marked(column, range(40, 80), wrong=[1, 45, 120])
    store.ingest("r1", Ratings.from_frame(frame, SCALE, classifiers=["judge"]), original)
    found = certified(store)
    assert found.certified
    assert found.rounds["r1"]["verdicts"][0]["n_items"] == 160
    assert open_certificate(store, JUDGE).digest == found.digest


def test_a_rule_on_gold_items_alone_is_not_asked_of_them_as_ordinary_items(store, original):
    """`gold_accuracy` has no value where gold items are measured like others."""
    frame = with_marked("gold", range(40, 80), wrong=[45])
    right = frame["item"].str[1:].astype(int).mod(2).map({0: "no", 1: "yes"})
    frame["gold_label"] = right.where(frame["gold"])
    store.ingest("r1", Ratings.from_frame(frame, SCALE, classifiers=["judge"]), original)
    rule = Rule("gold_accuracy", "classifier", reliable=0.8, tentative=0.7, min_items=30)
    found = certified(store, rules=replace(RULES, classifiers=(*RULES.classifiers, rule)))
    assert found.certified
    _, verdict = found.rounds["r1"]["verdicts"]
    assert (verdict["verdict"], verdict["value"]) == ("reliable", 39 / 40)


def test_gold_items_without_a_label_of_the_classifier_are_left_out_items(store, original):
    frame = with_marked("gold", range(3, 30))
    frame = frame[~(frame["gold"] & (frame["rater"] == "judge"))]
    store.ingest("r1", Ratings.from_frame(frame, SCALE, classifiers=["judge"]), original)
    assert "27 items without a label" in refused("certificate_items_missing", certified, store)


def test_a_certificate_on_what_was_erased_says_so_and_the_rest_may_be_certified(
    store, tmp_path, original
):
    store.ingest("r1", make_ratings(raters=("anna", "ben", "chloe")), original)
    certified(store)
    erase(store.root, tmp_path / "new", "rater", "chloe", "Kim", "request 12")
    new = Store(tmp_path / "new")
    said = refused("certificate_withdrawn", open_certificate, new, JUDGE)
    assert "was erased from what classifier judge was certified on" in said
    judge_round(new, "r1", POLICY, CONTRACT)
    certified(new, reason="a rater was erased")
    assert open_certificate(new, JUDGE).certified
