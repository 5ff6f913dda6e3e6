"""Every registered measure can be used.

The command line gives its value on a plain table, and a policy can name it.
"""

import json

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline import Policy, Rule
from agreement_pipeline.cli import main
from agreement_pipeline.measures import MEASURES

LABELS = {
    "nominal": ("no", "yes"),
    "ordinal": ("1", "2", "3"),
    "interval": (1, 2, 3),
    "ratio": (1, 2, 4),
    "multivariate interval": ("1|5", "2|3", "4|4"),
}
PEOPLE, MODELS = ("ana", "ben", "chi"), ("m1", "m2")


def table(path, labels):
    """40 items that three people label three times each and two models once, mostly alike.

    Ten more are gold.
    """
    rng = np.random.default_rng(3)
    truth = rng.integers(len(labels), size=50)
    rows = [
        (
            f"i{i:02}",
            who,
            labels[(truth[i] + (rng.random() < 0.15)) % len(labels)],
            occurrence,
            round(float(rng.uniform(0.5, 1)), 2),
            i % 2,
            int(i >= 40),
            labels[truth[i]],
        )
        for i in range(50)
        for who in (*PEOPLE, *MODELS)
        for occurrence in ((1, 2, 3) if who in PEOPLE else (1,))
    ]
    columns = ["item", "rater", "label", "occurrence", "sure", "half", "gold", "truth"]
    pd.DataFrame(rows, columns=columns).to_csv(path, index=False)
    return path


def measured(path, level, capsys, *more):
    command = [
        "measure",
        str(path),
        "--all",
        "--level",
        level,
        "--occurrence",
        "occurrence",
        "--confidence",
        "sure",
        "--format",
        "json",
        "--n-resamples",
        "400",
    ]
    assert main([*command, *more]) == 0
    return {
        each["measure"] for each in json.loads(capsys.readouterr().out) if each["value"] is not None
    }


@pytest.mark.slow
def test_every_measure_has_a_value_from_the_command_line(tmp_path, capsys):
    found = set()
    for level, labels in LABELS.items():
        named = (
            () if level == "multivariate interval" else ("--categories", ",".join(map(str, labels)))
        )
        also = ("--stratum", "half", "--gold", "gold", "--gold-label", "truth")
        items = also if level == "nominal" else ()
        models = [option for model in MODELS for option in ("--classifier", model)]
        found |= measured(
            table(tmp_path / "table.csv", labels), level, capsys, *named, *models, *items
        )
    assert set(MEASURES) - found == set()


def test_every_measure_can_be_named_in_a_policy_and_has_a_check_of_its_own():
    for name, record in MEASURES.items():
        scope = "label" if record.needs == "label" else "round"
        rule = Rule(name, scope, effect="warn", tentative=max(0.5, record.bounds[0]), reliable=0.6)
        policy = Policy("p", 1, (Rule("krippendorff_alpha", scope="without"), rule))
        assert Policy.from_mapping(json.loads(json.dumps(policy.to_mapping()))) == policy
        assert rule.name.isidentifier()
