"""Published and documented values, each within the tolerance its printed digits allow."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from agreement_pipeline import MEASURES, CategoryCounts, PanelPatterns, RatingPatterns, Scale
from agreement_pipeline.measures._weights import Weighting
from agreement_pipeline.measures.cohen import cohen_kappa
from agreement_pipeline.panel import against_the_rest

VECTORS = Path(__file__).parents[2].parent / "shared" / "data" / "reference_vectors.json"
CASES = json.loads(VECTORS.read_text())["cases"] if VECTORS.exists() else []

OUT_OF_SCOPE = {
    "gwet_probabilistic_benchmark": "a benchmark of a coefficient and its standard error, not a coefficient of ratings",
    "cross_kappa_xrr": "agreement between two experiments",
    "inter_intra_rater_reliability": "Eliasziw's joint inter- and intra-rater model",
    "vanbelle_albert_kappa": "two groups of raters; ours takes an isolated rater and a group, whose greatest agreement is another one",
}
PENDING = {
    "icc": "intraclass correlations",
    "janson_olsson_iota": "Janson and Olsson's iota",
    "weighted_reliability_rho": "Campagner and Cabitza's rho",
    "dice_agreement": "labels that are sets",
}
ICC_NAMES = {"ICC(1,1)": "icc_1_1", "ICC(1,k)": "icc_1_k", "ICC(A,1)": "icc_2_1", "ICC(A,k)": "icc_2_k", "ICC(C,1)": "icc_3_1", "ICC(C,k)": "icc_3_k"}

pytestmark = pytest.mark.skipif(not CASES, reason=f"{VECTORS.name} is not beside this repository")


def standing(case):
    """tested, or why not: (out of scope | pending, reason)."""
    if case["measure"] in OUT_OF_SCOPE:
        return "out of scope", OUT_OF_SCOPE[case["measure"]]
    if case["data"]["layout"] == "raters_x_items_sets":
        return "pending", PENDING["dice_agreement"]
    if case["measure"] in PENDING and not runs_already(case):
        return "pending", PENDING[case["measure"]]
    return "tested", ""


def runs_already(case):
    """Is the measure registered under its expected name, on ratings by rater or counted by category?"""
    record = MEASURES.get(ICC_NAMES[case["params"]["form"]] if case["measure"] == "icc" else case["measure"])
    return record is not None and record.needs in ("counts", "patterns")


def scale_of(case, labels, level):
    categories = case["params"].get("categories") or sorted(set(labels))
    return Scale(tuple(categories), level)


def patterns_of(case, level="nominal"):
    data = case["data"]
    if data["layout"] == "contingency_table":
        table = np.array(data["values"])
        k = len(table)
        scale = Scale(tuple(data.get("labels", range(1, k + 1))), level)
        return RatingPatterns([(a, b) for a in range(k) for b in range(k)], table.ravel(), scale=scale, raters=("one", "other"))
    rows = data["values"] if data["layout"] == "items_x_raters" else list(zip(*data["values"], strict=True))
    scale = scale_of(case, [label for row in rows for label in row if label is not None], level)
    codes = [[-1 if label is None else scale.index(label) for label in row] for row in rows]
    return RatingPatterns(codes, scale=scale, raters=[f"r{j}" for j in range(len(rows[0]))])


def counts_of(case, level="nominal"):
    if case["data"]["layout"] == "item_x_category_counts":
        rows = case["data"]["values"]
        return CategoryCounts(rows, scale=Scale(tuple(range(1, len(rows[0]) + 1)), level))
    return patterns_of(case, level).counts()


def value(name, statistic):
    record = MEASURES[name]
    assert statistic.scale.level in record.levels
    return record(statistic).value


def statistic_of(name, case, level):
    return {"counts": counts_of, "patterns": patterns_of}[MEASURES[name].needs](case, level)


def plain(name, level="nominal"):
    return lambda case: value(name, statistic_of(name, case, level))


def by_weights(unweighted, weighted, level="ordinal"):
    """The measure that the case's weights name: unweighted, or weighted with the weights' name in the place of {}."""

    def run(case):
        weights = case["params"].get("weights", "unweighted")
        name = unweighted if weights == "unweighted" else weighted.format(weights)
        return value(name, statistic_of(name, case, "nominal" if weights == "unweighted" else level))

    return run


def cohen(case):
    if case["params"].get("weights") != "custom":
        return by_weights("cohen_kappa", "cohen_kappa_{}")(case)
    distance = np.array(case["params"]["disagreement_weights"])
    return cohen_kappa(patterns_of(case), Weighting("", lambda _: distance)).value


def alpha(case):
    return value("krippendorff_alpha", counts_of(case, case["params"]["level"]))


def alpha_weighted(case):
    name, level = {
        "unweighted": ("krippendorff_alpha", "nominal"),
        "quadratic": ("krippendorff_alpha", "interval"),
        "ratio": ("krippendorff_alpha", "ratio"),
        "ordinal": ("gwet_ordinal_alpha", "ordinal"),
    }[case["params"]["weights"]]
    return value(name, counts_of(case, level))


def of_category(name):
    def run(case):
        statistic = counts_of(case)
        return value(name, statistic)[statistic.scale.index(case["params"]["category"])]

    return run


def conger_of_category(case):
    patterns = patterns_of(case)
    codes = np.where(patterns.codes < 0, -1, patterns.codes == patterns.scale.index(case["params"]["category"]))
    return value("conger_kappa", RatingPatterns(codes, scale=Scale(("the rest", "it")), raters=patterns.raters))


def schouten(case):
    patterns = patterns_of(case)
    apart = against_the_rest(patterns, patterns.raters[case["params"]["rater"]])
    assert isinstance(apart, PanelPatterns)
    return value("schouten_kappa", apart)


def influence(case):
    counts = counts_of(case, case["params"]["level"])
    without = np.ones(len(counts.counts))
    without[case["params"]["drop_unit_index"]] = 0
    return value("krippendorff_alpha", counts) - value("krippendorff_alpha", counts.reweighted(without))


def icc(case):
    return plain(ICC_NAMES[case["params"]["form"]], "interval")(case)


RUN = {
    "krippendorff_alpha": alpha,
    "krippendorff_alpha_weighted": alpha_weighted,
    "krippendorff_alpha_category": of_category("alpha_by_category"),
    "krippendorff_alpha_influence": influence,
    "percent_agreement": plain("percent_agreement"),
    "cohen_kappa": cohen,
    "scott_pi": plain("scott_pi"),
    "brennan_prediger": by_weights("brennan_prediger", "brennan_prediger_{}"),
    "randolph_kappa": plain("bennett_s"),
    "fleiss_kappa": by_weights("fleiss_kappa", "fleiss_kappa_{}"),
    "fleiss_kappa_category": of_category("kappa_by_category"),
    "conger_kappa": plain("conger_kappa"),
    "conger_kappa_weighted": by_weights("conger_kappa", "conger_kappa_{}"),
    "conger_kappa_category": conger_of_category,
    "light_kappa": plain("light_kappa"),
    "gwet_ac": by_weights("gwet_ac1", "gwet_ac2_{}"),
    "bangdiwala_b": plain("bangdiwala_b"),
    "yule_y": plain("yule_y"),
    "ia_c": plain("information_agreement_c"),
    "specific_agreement": of_category("specific_agreement"),
    "schouten_rater_kappa": schouten,
    "icc": icc,
    "janson_olsson_iota": plain("janson_olsson_iota"),
}


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in CASES if standing(case)[0] == "tested"])
def test_the_value_is_the_printed_one(case):
    assert float(RUN[case["measure"]](case)) == pytest.approx(case["expected"], abs=case["tolerance"], rel=0)


def test_every_case_is_tested_or_says_why_not():
    found = Counter(standing(case) for case in CASES)
    for (kind, reason), number in sorted(found.items()):
        print(f"{number:3} {kind}{f': {reason}' if reason else ''}")  # noqa: T201
    by_kind = Counter(standing(case)[0] for case in CASES)
    assert by_kind["out of scope"] == 5
    assert by_kind["tested"] >= 78
    assert by_kind["tested"] + by_kind["pending"] == len(CASES) - 5


def test_krippendorffs_ordinal_metric_and_gwets_ordinal_weights_differ_on_the_same_table():
    rows = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
        [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
    ]
    case = {"params": {}, "data": {"layout": "raters_x_items", "values": rows}}
    counts = counts_of(case, "ordinal")
    assert float(value("krippendorff_alpha", counts)) == pytest.approx(0.81539, abs=5e-6)
    assert float(value("gwet_ordinal_alpha", counts)) == pytest.approx(0.83364, abs=5e-6)
