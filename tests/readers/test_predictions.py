"""A model's labels in a file of their own, beside the ratings of people."""

import re

import pandas as pd
import pytest

from agreement_pipeline.cli import main
from agreement_pipeline.errors import ProjectError, RatingsError
from agreement_pipeline.projects import Project, load_project
from agreement_pipeline.ratings import Scale
from agreement_pipeline.readers import Columns, PredictionsFile, Rules, read
from agreement_pipeline.release import judge_round, release_round, verify_release
from agreement_pipeline.units import UnitSettings

N_ITEMS = 60
ROWS = [
    (f"i{item:02}", rater, "ab"[(item + (item % 60 == place)) % 2])
    for item in range(N_ITEMS)
    for place, rater in enumerate(("ana", "ben", "chi"))
]
FRAME = pd.DataFrame(ROWS, columns=["item", "rater", "label"])
PREDICTED = pd.DataFrame(
    [(f"i{item:02}", "ab"[(item + (item % 7 == 0)) % 2]) for item in range(N_ITEMS)],
    columns=["item", "label"],
)
IN_A_COLUMN = FRAME.assign(gpt=FRAME["item"].map(PREDICTED.set_index("item")["label"]))


def written(folder, predicted=PREDICTED, form="csv"):
    path = folder / f"model_a.{form}"
    if form == "csv":
        predicted.to_csv(path, index=False)
    elif form == "jsonl":
        predicted.to_json(path, orient="records", lines=True)
    else:
        predicted.to_parquet(path, index=False)
    return Rules(predictions={"gpt": PredictionsFile(str(path))})


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("layout", ["long", "wide"])
def test_a_file_is_as_good_as_a_column(tmp_path, form, layout):
    frame, columns = FRAME, Columns()
    if layout == "wide":
        frame = FRAME.pivot(index="item", columns="rater", values="label").reset_index()
        columns = Columns(raters=("ana", "ben", "chi"))
    found = read(frame, columns, layout=layout, rules=written(tmp_path, form=form))
    expected = read(IN_A_COLUMN, Columns(models={"gpt": "gpt"}))
    assert found.classifiers == ("gpt",)
    assert found.digest == expected.digest


def test_items_of_other_rounds_are_passed_over(tmp_path):
    rules = written(tmp_path)
    both = FRAME.assign(round="w1").where(FRAME["item"] < "i30", FRAME.assign(round="w2"))
    found = read(both, round_name="w1", rules=rules)
    assert found.n_by_rater["gpt"] == found.n_by_rater["ana"] == 30


WRONG = {
    "missing items": (
        PREDICTED[2:],
        "model_a.csv: found no label of 'gpt' for 2 items of DataFrame, ['i00', 'i01']; expected",
    ),
    "an empty label": (
        PREDICTED.where(PREDICTED["item"] != "i03"),
        "model_a.csv: found no label of 'gpt' for 1 item of DataFrame, ['i03']; expected one for",
    ),
    "an unknown label": (
        PREDICTED.replace({"label": {"a": "A"}}),
        "found label",
    ),
    "an item twice": (
        pd.concat([PREDICTED, PREDICTED[5:6]]),
        "model_a.csv: rows [7, 62], column 'item': found several predictions of 'gpt' for item",
    ),
    "another column": (
        PREDICTED.rename(columns={"label": "prediction"}),
        "model_a.csv: found no column 'label' among ['item', 'prediction']; expected the item and",
    ),
}


@pytest.mark.parametrize(("predicted", "words"), WRONG.values(), ids=WRONG)
def test_predictions_that_cannot_be_are_refused(tmp_path, predicted, words):
    with pytest.raises(RatingsError, match=re.escape(words)):
        read(FRAME, scale=Scale(("a", "b")), rules=written(tmp_path, predicted))


def test_files_and_names_that_are_not_there_are_refused(tmp_path):
    absent = Rules(predictions={"gpt": PredictionsFile(str(tmp_path / "none.csv"))})
    with pytest.raises(RatingsError, match="found no file; expected the predictions of 'gpt'"):
        read(FRAME, rules=absent)
    path = written(tmp_path).predictions["gpt"]
    with pytest.raises(RatingsError, match="found rater 'ana' with ratings, and predictions under"):
        read(FRAME, rules=Rules(predictions={"ana": path}))
    with pytest.raises(ProjectError, match="predictions: found units beside them"):
        Rules(predictions={"gpt": path}, units=UnitSettings("sets"))


def test_command_reads_predictions(tmp_path, capsys):
    written(tmp_path)
    FRAME.to_csv(tmp_path / "labels.csv", index=False)
    asked = ["judge", str(tmp_path / "labels.csv"), "--policy", "exploratory"]
    main([*asked, "--predictions", f"gpt={tmp_path / 'model_a.csv'}"])
    assert "Compared with 1 model (gpt)." in capsys.readouterr().out
    assert main([*asked, "--predictions", "gpt"]) == 2


def project_with_predictions(tmp_path):
    for folder in ("inbox", "predictions", "configs/projects"):
        (tmp_path / folder).mkdir(parents=True)
    FRAME.to_csv(tmp_path / "inbox" / "w1.csv", index=False)
    PREDICTED.rename(columns={"label": "said"}).to_csv(
        tmp_path / "predictions" / "w1.csv", index=False
    )
    file = tmp_path / "configs" / "projects" / "posts.yaml"
    file.write_text(
        "project: posts\ninbox: inbox\nstore: store\nscale: {categories: [a, b]}\n"
        "policy: exploratory\n"
        "predictions: {gpt: {file: 'predictions/{round}.csv', item: item, label: said}}\n"
    )
    return Project(load_project(file)).checked()


def test_project_keeps_predictions_with_the_round(tmp_path):
    """A release is proven from its own annotations, in which the model's labels stand."""
    project = project_with_predictions(tmp_path)
    delivery, ratings = project.delivered("w1")
    assert ratings.n_by_rater["gpt"] == N_ITEMS
    project.keep(delivery, ratings)
    (tmp_path / "predictions" / "w1.csv").unlink()
    terms = project.policy, project.contract
    assert judge_round(project.store, "w1", *terms)[0].decision.admitted
    release = release_round(project.store, "w1", *terms, project="posts")
    verified = verify_release(release.path)
    assert verified.ratings["w1"].classifiers == ("gpt",)
    assert verified.ratings["w1"].n_by_rater["gpt"] == N_ITEMS


def judge_present_round(project):
    project.keep(*project.delivered("w1"))
    return judge_round(project.store, "w1", **project.terms)[0]


def test_round_is_due_again_if_only_its_predictions_change(tmp_path):
    """The delivered file is the same, and the model's new labels are what is judged."""
    project = project_with_predictions(tmp_path)
    path = tmp_path / "predictions" / "w1.csv"
    assert [each.round for each in project.due()] == ["w1"]
    first = judge_present_round(project)
    assert project.due() == ()
    path.write_text(path.read_text())  # the same labels in another file
    assert project.due() == ()
    predicted = pd.read_csv(path)
    predicted.assign(said=predicted["said"].map({"a": "b", "b": "a"})).to_csv(path, index=False)
    (delivery,) = project.due()
    assert project.due({"w1": delivery.digest}) == ()
    second = judge_present_round(project)
    assert project.due() == ()
    assert first.decision.admitted
    assert second.decision.admitted
    assert (first.ratings.raters, first.gate.number) == (second.ratings.raters, 1)
    assert second.gate.number == 2
    assert first.ratings.digest != second.ratings.digest
    path.unlink()
    assert [each.round for each in project.due()] == ["w1"]
    with pytest.raises(RatingsError, match="found no file; expected the predictions of 'gpt'"):
        project.delivered("w1")


def test_predictions_that_change_while_a_round_is_read_are_not_kept(tmp_path):
    project = project_with_predictions(tmp_path)
    read_before = project.delivered("w1")
    path = tmp_path / "predictions" / "w1.csv"
    path.write_text(path.read_text().replace("i00,b", "i00,a"))
    with pytest.raises(ProjectError, match="found another delivery of round w1"):
        project.keep(*read_before)
