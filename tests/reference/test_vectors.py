"""Published and documented values, each within the tolerance its printed digits allow."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline import Ratings, Scale
from agreement_pipeline.counting import RatingsCounting
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.measures.cohen import cohen_kappa
from agreement_pipeline.measures.krippendorff import alpha_by_distance
from agreement_pipeline.measures.weighting import Weighting
from agreement_pipeline.statistics import CategoryCounts, LabelsByRater, NumbersByRater

VECTORS = Path(__file__).parents[2].parent / "shared" / "data" / "reference_vectors.json"
CASES = json.loads(VECTORS.read_text())["cases"] if VECTORS.exists() else []

OUT_OF_SCOPE = {
    "benchmark_altman": "puts a coefficient and its standard error into the bands of a scale of "
    "words; there are no ratings in it",
    "campagner_cabitza_rho_small": "weighs agreement by stated confidence and by each rater's "
    "accuracy, known beforehand, and counts an item with one rating; "
    "campagner_cabitza_rho reads guessing off replicates, which the case has none of",
    "dkpro_sets_dice": "a mean overlap of sets without chance correction, in which two empty sets "
    "do not agree; no measure here is one",
}
IN_SCOPE = [case for case in CASES if case["id"] not in OUT_OF_SCOPE]
ICC_NAMES = {
    "ICC(1,1)": "icc_1_1",
    "ICC(1,k)": "icc_1_k",
    "ICC(A,1)": "icc_2_1",
    "ICC(A,k)": "icc_2_k",
    "ICC(C,1)": "icc_3_1",
    "ICC(C,k)": "icc_3_k",
}

pytestmark = pytest.mark.skipif(not CASES, reason=f"{VECTORS.name} is not beside this repository")


def scale_of(case, labels, level):
    categories = case["params"].get("categories") or sorted(set(labels))
    return Scale(tuple(categories), level)


def patterns_of(case, level="nominal"):
    data = case["data"]
    if data["layout"] == "contingency_table":
        table = np.array(data["values"])
        k = len(table)
        scale = Scale(tuple(data.get("labels", range(1, k + 1))), level)
        return LabelsByRater(
            [(a, b) for a in range(k) for b in range(k)],
            table.ravel(),
            scale=scale,
            raters=("one", "other"),
        )
    rows = list(zip(*data["values"], strict=True))
    scale = scale_of(case, [label for row in rows for label in row if label is not None], level)
    codes = [
        [-1 if label is None else scale.position_of_label(label) for label in row] for row in rows
    ]
    return LabelsByRater(codes, scale=scale, raters=[f"r{j}" for j in range(len(rows[0]))])


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
    """The measure that the case's weights name.

    A weighted measure has the name of the weights in the place of {}.
    """

    def run(case):
        weights = case["params"].get("weights", "unweighted")
        name = unweighted if weights == "unweighted" else weighted.format(weights)
        return value(
            name, statistic_of(name, case, "nominal" if weights == "unweighted" else level)
        )

    return run


def cohen(case):
    if case["params"].get("weights") != "custom":
        return by_weights("cohen_kappa", "cohen_kappa_{}")(case)
    distance = np.array(case["params"]["disagreement_weights"])
    return cohen_kappa(patterns_of(case), Weighting("", "", lambda _: distance)).value


def alpha(case):
    if case["data"]["layout"] == "raters_x_items_sets":
        return alpha_of_sets(case)
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
        return value(name, statistic)[statistic.scale.position_of_label(case["params"]["category"])]

    return run


def conger_of_category(case):
    patterns = patterns_of(case)
    codes = np.where(
        patterns.codes < 0,
        -1,
        patterns.codes == patterns.scale.position_of_label(case["params"]["category"]),
    )
    return value(
        "conger_kappa",
        LabelsByRater(codes, scale=Scale(("the rest", "it")), raters=patterns.raters),
    )


def schouten(case):
    patterns = patterns_of(case)
    apart = patterns.with_rater_apart(patterns.raters[case["params"]["rater"]])
    return value("schouten_kappa", apart)


def influence(case):
    counts = counts_of(case, case["params"]["level"])
    without = np.ones(len(counts.counts))
    without[case["params"]["drop_unit_index"]] = 0
    return value("krippendorff_alpha", counts) - value(
        "krippendorff_alpha", counts.with_weights(without)
    )


def vectors_of(case, vector_of, dimensions):
    """The ratings as vectors of numbers."""
    rows = [
        [vector_of(label) for label in row] for row in zip(*case["data"]["values"], strict=True)
    ]
    scale = Scale(
        None, "interval" if dimensions == 1 else "multivariate interval", dimensions=dimensions
    )
    return NumbersByRater(
        np.array(rows, dtype=float).reshape(len(rows), -1, dimensions),
        scale=scale,
        raters=[f"r{j}" for j in range(len(rows[0]))],
    )


def icc(case):
    return value(ICC_NAMES[case["params"]["form"]], vectors_of(case, float, 1))


def iota_of_a_nominal_variable(case):
    """Its categories become dimensions, each 1 where the category was given."""
    labels = sorted({label for row in case["data"]["values"] for label in row})
    return value(
        "janson_olsson_iota",
        vectors_of(case, lambda label: np.eye(len(labels))[labels.index(label)], len(labels)),
    )


def alpha_of_sets(case):
    """Under DKPro's distance; `alpha_masi` takes Passonneau's, and is another number."""
    items = [
        [frozenset(labels) for labels in row] for row in zip(*case["data"]["values"], strict=True)
    ]
    sets = sorted({labels for item in items for labels in item}, key=sorted)
    rows = [[item.count(labels) for labels in sets] for item in items]
    counts = CategoryCounts(rows, scale=Scale(tuple("|".join(sorted(labels)) for labels in sets)))
    assert value("alpha_masi", counts) != pytest.approx(case["expected"], abs=case["tolerance"])
    return alpha_by_distance(
        counts, np.array([[dkpro_masi(one, other) for other in sets] for one in sets])
    ).value


def dkpro_masi(one, other):
    """Passonneau's distance as DKPro reads it.

    Jaccard's distance times one minus the monotonicity. The empty set is inside every other set.
    """
    if one == other:
        return 0.0
    distance = 1 - len(one & other) / len(one | other)
    return (
        distance / 3 if one <= other or other <= one else distance * (2 / 3 if one & other else 1)
    )


def of_two_groups(case):
    params = case["params"]
    patterns = patterns_of({**case, "params": {"categories": params["scale"]}}, "interval")
    groups = patterns.in_groups(tuple(patterns.raters[r] for r in params["group2"]))
    return value(f"vanbelle_albert_group_kappa_{params['weights']}", groups)


def of_two_experiments(case):
    first, second = case["data"]["group_x"], case["data"]["group_y"]
    patterns = patterns_of(
        {**case, "data": {"layout": "raters_x_items", "values": [*first, *second]}}
    )
    return value("cross_kappa", patterns.in_groups(patterns.raters[len(first) :]))


def eliasziw(case):
    said = case["data"]["values"]  # values[r][k][i]: repeat k of rater r
    rows = [
        (i, r, k + 1, x)
        for r, of_rater in enumerate(said)
        for k, repeat in enumerate(of_rater)
        for i, x in enumerate(repeat)
    ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "occurrence", "label"])
    ratings = Ratings.from_frame(frame, Scale(None, "interval"))
    return value(f"eliasziw_{case['params']['component']}", RatingsCounting().replicates(ratings))


RUN = {
    "inter_intra_rater_reliability": eliasziw,
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
    "janson_olsson_iota": iota_of_a_nominal_variable,
    "vanbelle_albert_kappa": of_two_groups,
    "cross_kappa_xrr": of_two_experiments,
}


@pytest.mark.parametrize("case", IN_SCOPE, ids=lambda case: case["id"])
def test_the_value_is_the_printed_one(case, standing):
    assert float(RUN[case["measure"]](case)) == pytest.approx(
        case["expected"], abs=case["tolerance"], rel=0
    )
    standing.tested.append(case["id"])


def test_a_case_out_of_scope_says_why(standing):
    assert set(OUT_OF_SCOPE) <= {case["id"] for case in CASES}
    assert len(IN_SCOPE) >= 89
    standing.out_of_scope.update(OUT_OF_SCOPE)
