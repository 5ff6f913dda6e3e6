"""`init` takes the options of `judge`, and the project that it writes reads the same ratings."""

from pathlib import Path

import pytest

from agreement_pipeline.cli import main
from agreement_pipeline.projects import Project, load_project
from agreement_pipeline.readers import Columns, read

WIDE = "Messung vom Mai;;;\nStück;Änne;Ben;gpt\n1;4,5;4,5;4,5\n2;3;3,5;3\n3;4,5;3;3\n"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def begun(name):
    """The project that init began, and the ratings of its only round."""
    project = Project(load_project(Path("configs/projects", f"{name}.yaml"))).checked()
    ((round_name, _),) = project.look().deliveries.items()
    return project.settings, project.delivered(round_name)[1]


def test_a_wide_table_in_its_own_encoding_becomes_a_project(here, capsys):
    (here / "mai.csv").write_bytes(WIDE.encode("cp1252"))
    written = ["--encoding", "cp1252", "--decimal", ",", "--header-row", "2"]
    columns = ["--layout", "wide", "--item", "Stück", "--raters", "Änne", "--raters", "Ben"]
    models = ["--raters", "gpt", "--classifier", "gpt"]
    assert main(["init", "mai.csv", *written, *columns, *models, "--level", "ordinal"]) == 0
    assert "Please check" not in capsys.readouterr().out
    settings, ratings = begun("mai")
    assert settings.scale.level == "ordinal"
    assert ratings.scale.categories == ("3", "3.5", "4.5")
    assert (ratings.raters, ratings.classifiers) == (("Ben", "Änne"), ("gpt",))
    names = {"item": "Stück", "raters": ("Änne", "Ben", "gpt")}
    columns = Columns(**names, encoding="cp1252", decimal=",", header_row=2)
    own = read(Path("mai.csv"), columns, layout="wide", scale=settings.scale, classifiers=["gpt"])
    assert own.digest == ratings.digest


def test_what_is_said_is_not_guessed_and_what_is_guessed_is_told(here, capsys):
    (here / "a.csv").write_text("post,doc,who,label\n1,d,ana,x\n1,d,ben,y\n1,d,gold,y\n")
    said = ["--rater", "who", "--item", "post", "--cluster", "doc", "--exclude-rater", "gold"]
    assert main(["init", "a.csv", *said, "--categories", "y,x,z", "--limit", "rows=99"]) == 0
    assert "Please check" not in capsys.readouterr().out
    settings, ratings = begun("a")
    assert settings.scale.categories == ("y", "x", "z")
    assert settings.columns.cluster == "doc"
    assert settings.limits.rows == 99
    assert ratings.raters == ("ana", "ben")
    (here / "b.csv").write_text("post_id,annotator,verdict\n1,ana,x\n1,ben,y\n")
    assert main(["init", "b.csv", "--label", "verdict"]) == 0
    out = capsys.readouterr().out
    *_, then = out.splitlines()
    assert then == "Then see what is decided: agreement-pipeline judge configs/projects/b.yaml"
    assert main(then.split()[6:]) == 1
    assert capsys.readouterr().out.startswith("held: b/b")
    assert "Please check: item is probably column 'post_id'." in out
    assert "label is probably" not in out


def test_a_single_label_is_told_before_it_is_refused(here, capsys):
    (here / "a.csv").write_text("item,rater,label\n1,ana,spam\n1,ben,spam\n")
    assert main(["init", "a.csv"]) == 0
    out = capsys.readouterr().out
    assert (
        "FILL IN `categories`: 'spam' is the only label that occurs. Name the others that raters "
        "may give."
    ) in out
    assert main(["init", "a.csv", "--name", "b", "--categories", "spam,ham"]) == 0
    assert "FILL IN" not in capsys.readouterr().out


def test_labels_that_may_be_mistakes_are_told(here, capsys):
    rows = "".join(f"{n},{rater},spam\n" for n in range(20) for rater in ("ana", "ben"))
    (here / "a.csv").write_text(f"item,rater,label\n{rows}21,ana,spma\n21,ben,ham\n")
    assert main(["init", "a.csv"]) == 0
    told = "Please check: label 'spma' (1 time) resembles 'spam' (40 times)."
    assert told in capsys.readouterr().out
    (here / "b.csv").write_text("item;rater;label\n1;ana;4,5\n1;ben;3\n")
    assert main(["init", "b.csv"]) == 0
    assert "Please check: some labels have a comma" in capsys.readouterr().out
    (here / "c.csv").write_text("item,rater,label\n1,ana,5%\n1,ben,NA\n2,ana,NA\n2,ben,na \n")
    assert main(["init", "c.csv"]) == 0
    out = capsys.readouterr().out
    assert (
        "FILL IN `missing` or `categories`: 'NA' and 'na ' may say that nobody gave a label" in out
    )
    assert "Please check: labels 'NA' and 'na ' print alike; if they mean the same, write" in out
    assert "Please check: some labels have the sign %; if they are numbers, take it off." in out


def test_a_table_without_such_columns_says_which_options_name_them(here, capsys):
    (here / "a.csv").write_text("Stück,Änne,Ben\n1,x,y\n")
    assert main(["init", "a.csv"]) == 2
    assert "Name the columns (--item, --rater, --label)" in capsys.readouterr().err
    assert main(["init", "a.csv", "--layout", "wide", "--item", "Stück"]) == 2
    assert "--raters='Änne' --raters=Ben" in capsys.readouterr().err


@pytest.mark.parametrize(
    "wrong",
    [["--of-round", "w1"], ["--layout", "counts"], ["--encoding", "cp1252", "--sheet", "x"]],
)
def test_what_no_project_can_say_is_refused(here, capsys, wrong):
    (here / "a.csv").write_text("item,rater,label\n1,a,x\n1,b,y\n")
    assert main(["init", "a.csv", *wrong]) == 2
    assert "expected" in capsys.readouterr().err
    assert not (here / "configs").exists()


def test_nothing_is_overwritten_and_a_folder_says_where_rounds_go(here, capsys):
    (here / "w1").mkdir()
    (here / "w1/a.csv").write_text("item,rater,label\n1,a,x\n1,b,y\n")
    assert main(["init", "w1"]) == 0
    assert "Put each round into the folder data/w1, as a folder" in capsys.readouterr().out
    assert 'inbox: "data/w1"' in (here / "configs/projects/w1.yaml").read_text()
    assert main(["init", "w1"]) == 2
    assert "found a file; expected none, since init overwrites nothing" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["Ana", "gpt"])
def test_a_classifier_that_rated_nothing_is_refused(here, capsys, name):
    (here / "a.csv").write_text("item,rater,label\n1,ana,x\n1,ben,y\n2,ana,x\n2,ben,x\n")
    assert main(["init", "a.csv", "--classifier", name]) == 2
    said = capsys.readouterr().err
    assert f"found no rating by classifier '{name}'; expected some by every named" in said
    assert ("Did you mean 'ana'?" in said) == (name == "Ana")
    assert not (here / "configs").exists()


def test_a_project_of_measured_numbers_names_no_categories(here, capsys):
    (here / "sizes.csv").write_text("item,rater,label\n1,ana,1.5\n1,ben,1.25\n2,,3.5\n")
    assert main(["init", "sizes.csv"]) == 0
    told = capsys.readouterr().out
    written = (here / "configs/projects/sizes.yaml").read_text()
    assert "level: interval" in written
    assert "\n  categories:" not in written
    assert "some rows name no rater; fill them in or drop them" in told
    again = ["--level", "interval", "--categories", "1,1.25,1.5,3.5", "--name", "other"]
    assert main(["init", "sizes.csv", *again]) == 0
    listed = (here / "configs/projects/other.yaml").read_text()
    assert "categories: [1.0, 1.25, 1.5, 3.5]" in listed


@pytest.mark.parametrize("name", ["null", "no", "true"])
def test_a_word_of_yaml_is_no_name_of_a_project(here, name):
    (here / f"{name}.csv").write_text("item,rater,label\n1,ana,x\n1,ben,y\n")
    assert main(["init", f"{name}.csv"]) == 0
    assert begun(f"p_{name}")[0].project == f"p_{name}"


@pytest.mark.parametrize(
    ("labels", "said", "level", "categories"),
    [
        (("1", "1.0", "2"), (), "ordinal", ("1", "2")),
        (("1000", "1e3", "2"), ("--level", "ratio"), "ratio", (2.0, 1000.0)),
        (("joy|anger", "anger|joy", "joy"), (), "nominal", ("no", "yes")),
        (("1", "2", "nan"), ("--categories", "1,2,nan"), "nominal", ("1", "2", "nan")),
        (("1_0", "2_0", "3_0"), (), "nominal", ("1_0", "2_0", "3_0")),
        (("1|2", "3|4", "5|6"), ("--level", "multivariate interval"), None, None),
    ],
)
def test_a_project_can_be_read_however_its_labels_are_spelt(here, labels, said, level, categories):
    rows = [
        f"{n},{rater},{labels[(n + turn) % 3]}" for n in range(9) for turn, rater in enumerate("ab")
    ]
    (here / "a.csv").write_text("\n".join(["item,rater,label", *rows]))
    assert main(["init", "a.csv", *said]) == 0
    settings, ratings = begun("a")
    assert settings.scale.level == (level or said[1])
    assert settings.scale.categories == categories
    assert settings.scale.dimensions == (2 if categories is None else 1)
    n_units = 2 if settings.units else 1
    assert len(ratings) == 18 * n_units


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (["--level", "ratio"], "found category 'x' on the ratio level; expected numbers there"),
        (["--level", "interval", "--categories", "x,y"], "found category 'x' on the interval"),
        (["--level", "multivariate interval"], "found 0 dimensions on the multivariate interval"),
        (["--categories", "x,y,x"], "found category 'x' twice; expected each once"),
    ],
)
def test_a_scale_that_cannot_be_gives_no_project(here, capsys, said, why):
    (here / "a.csv").write_text("item,rater,label\n1,ana,x\n1,ben,x\n")
    assert main(["init", "a.csv", *said]) == 2
    assert why in capsys.readouterr().err
    assert not (here / "configs").exists()


def in_other_words(names, n_items):
    """A table of three raters whose columns have these names, and the file's bytes."""
    rows = [",".join(names)]
    for n in range(n_items):
        for turn, rater in enumerate(("王", "李", "張")):
            label = "壞好"[(n + (turn == 2 and n % 7 == 0)) % 2]
            row = (
                f"A-{n:03}",
                f"這是第{n}篇帖子,關於天氣和政治的一些話還有更多的話說",
                rater,
                label,
            )
            day, share = f"{1 + n % 28:02}.11.2026 09:{turn:02}", f"0.{5 + (n + turn) % 5}"
            cells = [f'"{cell}"' for cell in (*row, day, share)]
            rows.append(",".join(cells))
    return "\n".join([*rows, ""])


@pytest.mark.parametrize(
    "names",
    [
        ("編號", "原文", "評分者", "判定", "時間", "把握"),
        ("Beitrag", "Wortlaut", "Kodiererin", "Einstufung", "Zeitpunkt", "Sicherheit"),
    ],
)
def test_columns_are_guessed_by_their_values_in_any_language(here, capsys, names):
    item, text, rater, label, time, confidence = names
    (here / "labels.csv").write_text(in_other_words(names, 28))
    assert main(["init", "labels.csv"]) == 0
    told = capsys.readouterr().out
    for role, column in (("item", item), ("rater", rater), ("label", label), ("text", text)):
        assert f"Please check: {role} is probably column {column!r}." in told
    settings, ratings = begun("labels")
    assert settings.columns.timestamp == time
    assert settings.columns.confidence == confidence
    assert settings.scale.categories == ("壞", "好")
    assert {"text", "timestamp", "confidence"} <= ratings.has
    assert ratings.raters == ("張", "李", "王")
    policy = (here / "configs/policies/labels.yaml").read_text()
    assert "min_items: 28  # as many as the export has; 30 or more are usual\n" in policy


def test_what_somebody_names_or_the_header_says_is_not_guessed_by_values(here, capsys):
    names = ("item", "說明", "rater", "label", "timestamp", "把握")
    (here / "labels.csv").write_text(in_other_words(names, 40))
    assert main(["init", "labels.csv", "--confidence", "把握"]) == 0
    told = capsys.readouterr().out
    assert [line.strip() for line in told.splitlines() if "probably" in line] == [
        "Please check: text is probably column '說明'."
    ]
    assert "min_items: 30\n" in (here / "configs/policies/labels.yaml").read_text()


def test_values_that_give_nothing_away_are_asked_for(here, capsys):
    rows = [f"{n},{n * 7 % 11},{n * 3 % 13},{n * n}" for n in range(40)]
    (here / "numbers.csv").write_text("\n".join(["a,b,c,d", *rows, ""]))
    assert main(["init", "numbers.csv"]) == 2
    assert "Name the columns (--item, --rater, --label)" in capsys.readouterr().err
