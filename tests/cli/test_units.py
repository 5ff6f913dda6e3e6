"""Commands read units of label objects."""

import json

import pytest
from PIL import Image

from agreement_pipeline.cli import main
from tests.readers.drawings import SIZE, label_studio_boxes

TASKS = [
    {
        "id": n,
        "data": {"text": "Ana met Ben at Acme."},
        "annotations": [
            {
                "id": f"{n}{rater}",
                "completed_by": rater,
                "result": [
                    {
                        "type": "labels",
                        "from_name": "ner",
                        "value": {"start": 0, "end": 3 + rater * (n % 2), "labels": ["PER"]},
                    }
                ],
            }
            for rater in (1, 2)
        ],
    }
    for n in range(4)
]


@pytest.fixture
def path(tmp_path):
    (tmp_path / "round.json").write_text(json.dumps(TASKS))
    return str(tmp_path / "round.json")


def test_measure_reads_spans(path, capsys):
    units = "spans,rule=matched,at_least=0.6"
    arguments = ["--units", units, "--measure", "percent_agreement", "--format", "json"]
    assert main(["measure", path, *arguments]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [(each["value"], each["n_clusters"]) for each in found][:1] == [(1.0, 4)]


def test_an_export_of_objects_that_is_read_without_units_names_them(path, capsys):
    assert main(["measure", path]) == 2
    said = capsys.readouterr().err
    assert "(left out: no answer 8)" in said
    assert said.endswith("are read with --units: see `guide units`.\n")


def exported(folder, results):
    """An export of two raters, 1 and 2, whose result for a task a function gives."""
    tasks = [
        {
            "id": n,
            "data": {"text": "Ana"},
            "annotations": [
                {"id": f"{n}{rater}", "completed_by": rater, "result": results(n, rater)}
                for rater in (1, 2)
            ],
        }
        for n in range(30)
    ]
    (folder / "round.json").write_text(json.dumps(tasks))
    return str(folder / "round.json")


def scores(n, rater):
    """The raters differ on each tenth item if it is true, and on every other if it is short."""
    said = {"true": n % 3 + (rater == 2 and n % 10 == 0), "short": n % 3 + (rater == 2 and n % 2)}
    return [
        {"type": "rating", "from_name": name, "value": {"rating": 1 + score}}
        for name, score in said.items()
    ]


def test_a_rubric_is_measured_by_criterion_and_the_lowest_is_to_be_settled(tmp_path, capsys):
    path = exported(tmp_path, scores)
    asked = ["--units", "rubrics", "--level", "nominal"]
    alpha = ["--measure", "krippendorff_alpha", "--scope", "stratum", "--format", "json"]
    assert main(["measure", path, *asked, *alpha]) == 0
    found = {each["scope"]: each["value"] for each in json.loads(capsys.readouterr().out)}
    assert {*found} == {"stratum criterion=true", "stratum criterion=short"}
    assert main(["judge", path, *asked, "--policy", "standard"]) == 1
    short = f"{found['stratum criterion=short']:.3f}"
    assert (
        f'1. Settle "short" in the guideline. Of 2 criteria, it has the lowest alpha ({short}). '
        "The most disputed ones come first."
    ) in capsys.readouterr().out


def test_a_criterion_that_luck_has_made_the_lowest_is_not_to_be_settled(tmp_path, capsys):
    def alike(n, rater):
        said = {"true": rater == 2 and n % 4 == 0, "short": rater == 2 and n % 4 in (1, n % 30)}
        return [
            {"type": "rating", "from_name": name, "value": {"rating": 1 + n % 3 + differs}}
            for name, differs in said.items()
        ]

    path = exported(tmp_path, alike)
    asked = ["--units", "rubrics", "--level", "nominal", "--policy", "standard"]
    assert main(["judge", path, *asked]) == 1
    assert "it has the lowest alpha" not in capsys.readouterr().out


def test_a_project_of_a_rubric_begins_with_all_its_criteria(tmp_path, capsys):
    path = exported(tmp_path, scores)
    assert main(["init", path, "--units", "rubrics", "--root", str(tmp_path)]) == 0
    project = tmp_path / "configs/projects/round.yaml"
    assert "level: nominal  # ordinal if the categories have an order" in project.read_text()
    capsys.readouterr()
    assert main(["judge", str(project)]) == 1
    assert "Labelled by 2 raters (1 and 2): 60 items, 2 labels an item." in capsys.readouterr().out


def test_a_project_of_sets_begins_with_the_question_that_is_named(tmp_path):
    def result(n, rater):
        said = {"topics": ["art", "law"][: 1 + n % 2], "tone": ["dry"] * (n % 2)}
        return [
            {"type": "choices", "from_name": name, "value": {"choices": ticked}}
            for name, ticked in said.items()
        ]

    path = exported(tmp_path, result)
    asked = ["init", path, "--units", "sets", "--root", str(tmp_path)]
    assert main(asked) == 2
    assert main([*asked, "--label", "topics"]) == 0
    project = (tmp_path / "configs/projects/round.yaml").read_text()
    assert 'columns: {label: "topics"}' in project


def test_the_places_of_alternatives_are_not_settled_in_a_guideline(tmp_path, capsys):
    def result(n, rater):
        return [
            {"type": "pairwise", "value": {"selected": "left" if rater + n % 2 > 1 else "right"}}
        ]

    path = exported(tmp_path, result)
    assert main(["judge", path, "--units", "preferences", "--policy", "standard"]) == 1
    said = capsys.readouterr().out
    assert "Discuss the items on which raters differ. The most disputed ones come first." in said
    assert main(["init", path, "--root", str(tmp_path)]) == 0
    project = (tmp_path / "configs/projects/round.yaml").read_text()
    assert 'level: nominal\n  categories: ["first", "second", "tie"]\n' in project


def test_positions_are_counted_beside_the_runs_that_the_ratings_have(path, capsys):
    """20 characters a text. In two texts, both mark 0-3; in two, one marks 4 or 5 characters."""
    assert main(["judge", path, "--units", "spans", "--policy", "standard"]) == 1
    said = capsys.readouterr().out
    assert "Labelled by 2 raters (1 and 2): 80 items in 10 runs of equal labels" in said


def test_the_lowest_category_does_not_take_the_place_of_the_verdict(tmp_path, capsys):
    """The second rater marks each third of what the first marks."""

    def result(n, rater):
        value = {"start": 0, "end": 3, "labels": ["PER"]}
        return [{"type": "labels", "from_name": "ner", "value": value}] * (rater == 1 or n % 3 == 0)

    rules = "[{measure: specific_agreement, reliable: 0.95, tentative: 0.9}]"
    (tmp_path / "p.yaml").write_text(f"policy: p\nversion: 1\nrules: {rules}\n")
    path = exported(tmp_path, result)
    asked = ["--units", "spans,rule=matched", "--policy", str(tmp_path / "p.yaml")]
    assert main(["report", path, *asked]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert (
        ": the upper limit is under 0.9; lowest: none, all of the disagreement on marking." in said
    )


def test_it_is_settled_what_counts_as_an_object_and_not_whether_it_is_none(tmp_path, capsys):
    def result(n, rater):
        value = {"start": 0, "end": 3, "labels": ["PER"]}
        return [{"type": "labels", "from_name": "ner", "value": value}] * (
            n % 3 == 0 or rater == n % 3
        )

    path = exported(tmp_path, result)
    asked = ["--units", "spans,rule=matched", "--policy", "standard"]
    assert main(["judge", path, *asked]) == 1
    assert (
        '1. Settle what counts as "PER" in the guideline. Raters differ on '
        in capsys.readouterr().out
    )


@pytest.mark.parametrize(
    ("units", "setting", "values"),
    [("spans,rule=matched", "at_least", (0.5, 0.9)), ("spans", "step", (1, 5))],
)
def test_measure_at_each_shows_how_a_value_moves(path, units, setting, values, capsys):
    asked = ["--measure", "percent_agreement"]

    def measured(*arguments):
        assert main(["measure", path, *asked, "--format", "json", *arguments]) == 0
        return json.loads(capsys.readouterr().out)

    together = measured("--units", units, "--at-each", ",".join(map(str, values)))
    alone = [
        {setting: value, **each}
        for value in values
        for each in measured("--units", f"{units},{setting}={value}")
    ]
    assert together == alone
    assert len({each["n_items"] for each in together}) == 2
    every = measured("--units", units, "--at-each", str(values[0]), "--all")
    assert [
        {setting: values[0], **each}
        for each in measured("--units", f"{units},{setting}={values[0]}", "--all")
    ] == every
    assert main(["measure", path, "--units", units, *asked, "--at-each", "0.5"]) == 0
    assert capsys.readouterr().out.split()[0] == setting


def test_measure_at_each_needs_units_that_move(path, capsys):
    assert main(["measure", path, "--at-each", "0.5"]) == 2
    assert "found --at-each without units" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("words", "found 'words'; expected one of spans"),
        ("spans,colour=1", "found colour; expected settings of units"),
        ("spans,step=many", "found 'many'; expected a number"),
    ],
)
def test_units_that_cannot_be_are_refused(path, said, message, capsys):
    assert main(["measure", path, "--units", said]) == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_report_puts_images_behind_boxes(tmp_path, capsys):
    boxes = {
        (f"i{n}.png", rater): [(10 + n * (rater == "ben"), 10, 20, 20, "cat")]
        for n in range(12)
        for rater in ("ana", "ben")
    }
    export = str(label_studio_boxes(tmp_path, boxes))
    (tmp_path / "photos").mkdir()
    Image.new("RGB", SIZE, "red").save(tmp_path / "photos" / "i11.png")
    page = tmp_path / "page.html"
    asked = ["--units", "boxes", "--item", "name", "--policy", "standard"]
    out = ["--images", str(tmp_path / "photos"), "--output", str(page)]
    assert main(["report", export, *asked, *out]) == 0
    assert page.read_text().count("data:image/jpeg;base64,") == 1
    project = tmp_path / "pets.yaml"
    project.write_text("project: pets\n")
    assert main(["report", str(project), *out[:2]]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "found a project with ['--images']; expected none of them" in said
