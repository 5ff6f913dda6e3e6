"""The UI, the report, the terminal and the alert say the same of a round: reason, names, numbers
and the next step. Each command that they name runs."""

import html
import re
import shlex
import time
from pathlib import Path

import dagster as dg
import numpy as np
import pandas as pd
import pytest
import yaml

from agreement_pipeline.cli import main
from agreement_pipeline.orchestration import project_definitions
from agreement_pipeline.projects import Project, load_project, notices, with_who_differs
from tests.orchestration.checks import materialized

pytestmark = pytest.mark.slow

RATERS = ("ana", "ben", "chi", "dan", "eva")
LABELS = ("safe", "toxic")
PROJECT = """project: reviews
inbox: inbox
scale:
  level: nominal
  categories: [safe, toxic]
policy: strict
optional_classifiers: [judge]
"""
POLICY = {
    "policy": "strict",
    "version": 1,
    "n_resamples": 1000,
    "rules": [
        {"measure": "krippendorff_alpha", "min_items": 20},
        {"measure": "self_agreement_unbiased", "effect": "warn"},
    ],
}
REPLICATES = {
    **POLICY,
    "rules": [POLICY["rules"][0], {"measure": "self_agreement_unbiased"}],
}


def labelled(n_items=300, raters=RATERS, errors=0.05, seed=7, share=0.5, again=0):
    """Raters who name an item's own label, but for their errors. Some items come back."""
    rng = np.random.default_rng(seed)
    own = rng.random(n_items) < share
    by = errors if isinstance(errors, dict) else dict.fromkeys(raters, errors)
    rows = []
    for rater in raters:
        for occurrence in (1, 2):
            for item in range(n_items if occurrence == 1 else again):
                said = own[item] ^ (rng.random() < by[rater])
                rows.append((f"i{item:03}", rater, LABELS[int(said)], occurrence))
    return pd.DataFrame(rows, columns=["item", "rater", "label", "occurrence"])


def two_camps():
    """Two raters call every third item otherwise than the three others."""
    frame = labelled(errors=0.02)
    other = frame["rater"].isin(RATERS[3:]) & (frame["item"].str[1:].astype(int) % 3 == 0)
    frame.loc[other, "label"] = frame["label"][other].map(
        {LABELS[0]: LABELS[1], LABELS[1]: LABELS[0]}
    )
    return frame


EVA = r"eva differs from the rest: α is 0\.[0-9]+, and 0\.[0-9]+ without eva"
CAMPS = "Two camps: [a-z, ]* against (?:dan and eva|eva and dan). [^:]* across"
NOBODY = "No rater is known to differ"
TOO_FEW = "No rater shares enough items, or clusters of them"
NAMED = re.compile("differs from the rest|Two camps|stand out|stands out|No single rater")
ROUNDS = {
    "good": (labelled(errors=0.01), POLICY, ""),
    "noisy": (labelled(errors=0.12), POLICY, NOBODY),
    "one-guesses": (labelled(errors={**dict.fromkeys(RATERS, 0.03), "eva": 0.5}), POLICY, EVA),
    "two-camps": (two_camps(), POLICY, CAMPS),
    "too-small": (labelled(n_items=12, errors=0.03), POLICY, ""),
    "nobody-again": (labelled(errors=0.01), REPLICATES, ""),
    "few-again": (labelled(errors=0.01, again=6), REPLICATES, ""),
    "unreliable-again": (labelled(errors=0.25, again=150), REPLICATES, NOBODY),
    "two-raters": (labelled(raters=RATERS[:2], errors=0.1), POLICY, TOO_FEW),
    "rare-label": (labelled(errors=0.03, share=0.03), POLICY, NOBODY),
}
"""Rounds of raters, the policy that judges them, and who differs in them."""

PLANNED = "too-small"
"""Plans take long, so those of this round alone are made."""


class Told:
    """What each of four places says of a round."""

    def __init__(self, root: Path, frame: pd.DataFrame, policy: dict, capsys, monkeypatch) -> None:
        for folder in ("configs/projects", "configs/policies", "inbox"):
            (root / folder).mkdir(parents=True)
        (root / "configs/projects/reviews.yaml").write_text(PROJECT)
        (root / "configs/policies/strict.yaml").write_text(yaml.safe_dump(policy))
        frame.to_csv(root / "inbox/w1.csv", index=False)
        monkeypatch.chdir(root)
        settings = load_project(root / "configs/projects/reviews.yaml")
        project = Project(settings)
        with dg.DagsterInstance.ephemeral() as instance:
            instance.add_dynamic_partitions("reviews_rounds", ["w1"])
            result = (
                project_definitions(settings)
                .resolve_job_def("reviews_round")
                .execute_in_process(
                    instance=instance,
                    partition_key="w1",
                    raise_on_error=False,
                    asset_selection=[
                        dg.AssetKey(["reviews", name]) for name in ("annotations", "acceptability")
                    ],
                )
            )
        made = materialized(result, "acceptability")
        self.decided = project.store.history("w1")[-1]
        steps = made.metadata.get("what_to_do")
        to_do = f"What to do now: {steps.md_str}" if steps else ""
        self.ui = _plain(f"{made.metadata['why'].md_str} {to_do}")
        self.report = _printed(capsys, "report", "configs/projects/reviews.yaml", "w1", "--names")
        self.terminal = _printed(
            capsys,
            *("judge", "inbox/w1.csv", "--categories", "safe,toxic", "--occurrence", "occurrence"),
            *("--policy", "configs/policies/strict.yaml"),
        )
        found = [with_who_differs(project, each) for each in notices(project, time.time(), {})]
        names = project.store.pseudonyms(project.store.ratings("w1"))
        shown = {hidden[:10]: name for name, hidden in names.items()}
        told = found[0].text if found else ""
        self.alert = re.sub("rater-[0-9a-f]{4}", lambda hidden: shown[hidden[0]], told)


def _plain(markdown: str) -> str:
    """The words of Markdown: no backslash stands before a mark, and no code between two."""
    bare = re.sub(r"\\(.)", r"\1", markdown.replace("`", ""))
    return " ".join(html.unescape(bare).split())


def _printed(capsys, *words: str) -> str:
    capsys.readouterr()
    assert main(list(words)) in (0, 1)
    return " ".join(capsys.readouterr().out.split())


def steps_in(text: str) -> list[str]:
    """The steps in a text of one line, without the commands that do them."""
    after = re.split(r"what to do now:?", text, flags=re.IGNORECASE)[-1]
    found = re.findall(r"(?<!\S)\d\. (.+?)(?= agreement-pipeline| docs/)", after)
    return [" ".join(each.split()) for each in found]


def words_of(sentence: str) -> list[str]:
    """The words of a sentence. Names and pseudonyms stand in other orders."""
    return sorted(re.findall(r"\w+%?", sentence))


def commands_in(text: str) -> list[str]:
    """The commands that a text of one line names."""
    return re.findall(
        r"agreement-pipeline (?:judge|report|plan|disputed) .*?(?= \d\. | Labels -|$)", text
    )


def assert_runs(words: str, capsys) -> None:
    """Run a command as it is printed. It prints something, and no error."""
    capsys.readouterr()
    assert main(shlex.split(words)[1:]) in (0, 1), words
    printed = capsys.readouterr()
    assert printed.out
    assert "error" not in printed.err


def test_four_places_admit_a_good_round_and_name_no_step(tmp_path, capsys, monkeypatch):
    told = Told(tmp_path, *ROUNDS["good"][:2], capsys, monkeypatch)
    assert told.decided["decision"] == "admitted"
    (reason,) = told.decided["reasons"]
    assert reason in told.ui
    assert reason in told.terminal
    assert told.alert == ""
    assert steps_in(told.ui) == steps_in(told.terminal) == []
    assert not NAMED.search(told.ui + told.terminal + told.report.partition("Raters --")[0])


@pytest.mark.parametrize("name", [name for name in ROUNDS if name != "good"])
def test_four_places_say_the_same_of_a_held_round(name, tmp_path, capsys, monkeypatch):
    frame, policy, differs = ROUNDS[name]
    told = Told(tmp_path, frame, policy, capsys, monkeypatch)
    assert told.decided["decision"] == "held"
    for reason in told.decided["reasons"]:
        assert all(reason in text for text in (told.ui, told.terminal, told.alert))
    for verdict in told.decided["verdicts"]:
        if verdict["effect"] == "hold" and verdict["value"] is not None:
            value, low, high = (verdict[each] for each in ("value", "low", "high"))
            assert f"{value:.3f} ({low:.3f} to {high:.3f})" in told.report

    said = [told.ui, told.report, told.terminal, told.alert]
    for text in said:
        if differs:
            assert words_of(re.search(differs, text)[0]) == words_of(re.search(differs, told.ui)[0])
        else:
            assert not NAMED.search(text.partition("Raters --")[0])

    steps = steps_in(told.ui)
    assert 0 < len(steps) <= 3
    assert steps == steps_in(told.terminal) == steps_in(told.report)
    for words in dict.fromkeys(each for text in said for each in commands_in(text)):
        if " plan " not in words or name == PLANNED:
            assert_runs(words, capsys)
    assert main([*shlex.split(commands_in(told.alert)[-1])[1:], "--names"]) == 0
    assert steps_in(" ".join(capsys.readouterr().out.split())) == steps
