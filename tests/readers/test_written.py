"""Tables in other encodings, with decimal commas, on sheets, or with rows above the header."""

import pandas as pd
import polars as pl
import pytest

from agreement_pipeline.counting import read_contingency, read_counts
from agreement_pipeline.errors import ProjectError, RatingsError
from agreement_pipeline.ratings import Scale
from agreement_pipeline.readers import (
    Columns,
    find_unnamed_label_columns,
    guess_columns,
    read,
    read_header,
    read_rounds,
)

ROWS = [
    ("Straße", "Änne", "4,52"),
    ("Straße", "Özil", "4"),
    ("b\nc", "Änne", ",5"),
    ("b\nc", "Özil", "1e3"),
]
NAMES = ("item", "rater", "label")
AS_NUMBERS = [4.52, 4.0, 0.5, 1000.0]


def csv(rows=ROWS, above=(), names=NAMES, quoted='"{}"'):
    lines = [";".join(quoted.format(cell) for cell in row) for row in rows]
    return "\r\n".join([*above, ";".join(names), *lines, ""])


def said(path, **written):
    ratings = read(path, Columns(decimal=",", **written), level="interval")
    return sorted(
        ratings.to_pandas()[["item", "rater", "label"]].itertuples(index=False, name=None)
    )


EXPECTED = sorted((item, rater, n) for (item, rater, _), n in zip(ROWS, AS_NUMBERS, strict=True))


@pytest.mark.parametrize(
    "encoding", ["latin-1", "cp1252", "utf-16", "utf-16-le", "utf-32", "UTF8", "utf-8-sig"]
)
@pytest.mark.parametrize("above", [(), ('Export of "May', "", "4,52;\rÄ;x")], ids=["none", "three"])
def test_text_of_any_encoding_says_the_same_with_rows_above_it(tmp_path, encoding, above):
    path = tmp_path / "r.csv"
    path.write_bytes(csv(above=above).encode(encoding))
    assert said(path, encoding=encoding, header_row=len(above) + 1) == EXPECTED


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_a_large_text_is_read_block_by_block_in_its_encoding(tmp_path, encoding):
    rows = [(f"Straße {at}", rater, f"{at % 7},5") for at in range(60_000) for rater in ("Ä", "B")]
    path = tmp_path / "r.csv"
    path.write_bytes(csv(rows, ["above"], quoted="{}").encode(encoding))
    ratings = read(path, Columns(encoding=encoding, decimal=",", header_row=2), level="interval")
    assert (ratings.n_items, ratings.raters) == (60_000, ("B", "Ä"))
    plain = pd.DataFrame(rows, columns=NAMES)
    plain["label"] = plain["label"].str.replace(",", ".")
    assert ratings.digest == read(plain, level="interval").digest


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_row_of_the_header_needs_lines_that_end_in_a_line_feed(tmp_path, encoding):
    path = tmp_path / "r.csv"
    path.write_bytes(csv(above=["x"]).replace("\r\n", "\r").replace("\n", " ").encode(encoding))
    with pytest.raises(RatingsError, match="found lines that end in a carriage return alone"):
        read(path, Columns(encoding=encoding, header_row=2))
    usual = csv([("a", "Änne", "4"), ("a", "Özil", "5")])
    path.write_bytes(usual.replace("\r\n", "\r").encode(encoding))
    assert len(said(path, encoding=encoding)) == 2


def test_a_mistake_is_named_by_the_row_that_an_editor_shows(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("x\ny\nitem,rater,label\ni,a,1\ni,b\n")
    with pytest.raises(RatingsError, match=r"r.csv: row 5: found 2 cells; expected 3"):
        read(path, Columns(header_row=3))
    path.write_text("x\ny\nitem;rater;label\ni;a;1\ni;b;maybe\n")
    with pytest.raises(RatingsError, match=r"r.csv: row 5, column 'label'"):
        read(path, Columns(header_row=3), level="interval")
    path.write_text("x\n\nitem;item;label\n")
    with pytest.raises(RatingsError, match=r"r.csv: row 3: found column 'item' twice"):
        read(path, Columns(header_row=3))


def test_a_file_without_a_row_so_far_down_is_refused(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("item,rater,label\ni,a,1\n")
    with pytest.raises(RatingsError, match=r"found nothing but blanks"):
        read(path, Columns(header_row=9))


def test_what_a_wrong_file_gives_names_the_option(tmp_path):
    path = tmp_path / "r.csv"
    path.write_bytes(csv().encode("latin-1"))
    with pytest.raises(RatingsError, match=r"not UTF-8.* --encoding cp1252"):
        read(path)
    path.write_bytes(csv().encode("utf-16"))
    with pytest.raises(RatingsError, match=r"NUL byte.* --encoding utf-16"):
        read(path)
    with pytest.raises(RatingsError, match=r"found bytes that are no ascii"):
        read(path, Columns(encoding="ascii"))
    path.write_text(csv())
    with pytest.raises(RatingsError, match=r"found labels .*'4,52'.*--decimal ,"):
        read(path, level="interval")
    with pytest.raises(RatingsError, match=r"found labels .*'4,52'.*--decimal ,"):
        read(path, scale=Scale((4.52, 4, 0.5, 1000), "interval"))
    path.write_text(
        csv([("i", "a", "1", "0,5"), ("i", "b", "2", "1")], names=(*NAMES, "confidence"))
    )
    with pytest.raises(RatingsError, match=r"column 'confidence'.*--decimal ,"):
        read(path)
    path.write_text("Ratings;May\n" + csv())
    with pytest.raises(RatingsError, match=r"name the row of the header"):
        read(path)


def test_a_point_beside_decimal_commas_is_no_number(tmp_path):
    path = tmp_path / "r.csv"
    for odd in ("4.52", "1.234,5", ".5"):
        path.write_text(csv([*ROWS, ("j", "Änne", odd)]))
        with pytest.raises(
            RatingsError, match=r"column 'label': found .*expected numbers with a decimal comma"
        ):
            said(path)


def test_only_numbers_lose_their_comma(tmp_path):
    path = tmp_path / "r.csv"
    rows = [
        ("i,1", "Anne, B", "yes, sure"),
        ("i,1", "b", "1,5"),
        ("i,2", "b", "yes, sure"),
        ("i,2", "c", "1,5"),
    ]
    path.write_text(csv(rows))
    ratings = read(path, Columns(decimal=","))
    assert ratings.scale.names == ("1.5", "yes, sure")
    assert ratings.raters == ("Anne, B", "b", "c")


def test_vectors_confidences_wide_tables_and_models_may_have_commas(tmp_path):
    rows = [("i", "a", "1,5|2", "0,5"), ("i", "b", "1|2,5", "1")]
    path = tmp_path / "r.csv"
    path.write_text(csv(rows, names=(*NAMES, "confidence")))
    ratings = read(path, Columns(decimal=","), level="multivariate interval")
    assert sorted(ratings.to_pandas()["confidence"]) == [0.5, 1.0]
    path.write_text("item;a;b;gpt\ni;1,5;2;3,5\nj;2,5;2;1\n")
    wide = Columns(raters=("a", "b"), models={"gpt": "gpt"}, decimal=",")
    numbers = read(path, wide, layout="wide", level="interval").to_pandas()["label"]
    assert sorted(numbers) == [1.0, 1.5, 2.0, 2.0, 2.5, 3.5]


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_frames_may_have_decimal_commas_and_nothing_else_is_said_of_them(kind):
    frame = kind(
        {name: list(cells) for name, cells in zip(NAMES, zip(*ROWS, strict=True), strict=True)}
    )
    assert said(frame) == EXPECTED
    with pytest.raises(ProjectError, match=r"found \['encoding'\].*neither text nor a workbook"):
        said(frame, encoding="cp1252")


@pytest.fixture
def workbook(tmp_path):
    from openpyxl import Workbook

    book = Workbook()
    book.active.title = "About"
    sheet = book.create_sheet("May's ratings")
    for row in [["Ratings"], [], NAMES, *ROWS]:
        sheet.append(row)
    path = tmp_path / "r.xlsx"
    book.save(path)
    return path


def test_a_sheet_is_named_and_its_header_may_be_in_a_later_row(workbook):
    assert said(workbook, sheet="May's ratings", header_row=3) == EXPECTED
    assert read_header(workbook, Columns(sheet="May's ratings", header_row=3)) == [*NAMES]
    with pytest.raises(
        RatingsError,
        match=r"found sheets \['About', \"May's ratings\"\]; expected one, .*--sheet About",
    ):
        read(workbook)
    with pytest.raises(RatingsError, match=r"expected 'May' among them"):
        read(workbook, Columns(sheet="May"))
    with pytest.raises(ProjectError, match=r"found \['encoding'\] for a workbook"):
        read(workbook, Columns(sheet="About", encoding="cp1252"))


def test_a_file_that_cannot_be_so_is_refused(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text(csv())
    with pytest.raises(ProjectError, match=r"r.csv: found \['sheet'\] for delimited text"):
        read(path, Columns(sheet="May"))
    lines = tmp_path / "r.jsonl"
    lines.write_text('{"item": "i", "rater": "a", "label": "x"}\n')
    with pytest.raises(ProjectError, match=r"found \['header_row'\]"):
        read(lines, Columns(header_row=2))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"encoding": "latin-99"}, "encoding: found 'latin-99'; expected an encoding of text"),
        ({"encoding": "base64"}, "encoding: found 'base64'"),
        ({"decimal": ";"}, "decimal: found ';'; expected a point or a comma"),
        ({"header_row": 0}, "header_row: found 0; expected a whole number from 1"),
    ],
)
def test_what_cannot_be_said_of_a_table_is_refused(wrong, words):
    with pytest.raises(ProjectError, match=words):
        Columns(**wrong)


def test_rounds_counts_and_columns_left_out_are_read_the_same_way(tmp_path):
    path = tmp_path / "r.csv"
    path.write_bytes("Größe\nitem;rater;label;round\ni;ä;1,5;w1\ni;b;1,5;w2\n".encode("utf-16"))
    written = {"encoding": "utf-16", "header_row": 2}
    assert read_rounds(path, Columns(**written)) == ("w1", "w2")
    path.write_bytes("x\nitem;rater;label;replicate\ni;ä;1;1\ni;b;1;1\n".encode("utf-16"))
    assert guess_columns(path, Columns(**written)) == {"occurrence": "replicate"}
    path.write_bytes("x\nitem;a;b;c\ni;ä;b;ä\n".encode("latin-1"))
    columns = Columns(encoding="latin-1", header_row=2, raters=("a", "b"))
    assert find_unnamed_label_columns(path, columns, Scale(("ä", "b"))) == ("c",)
    path.write_bytes("x\n;ä;b\nä;3;1\nb;0;3\n".encode("latin-1"))
    columns = Columns(encoding="latin-1", header_row=2)
    assert read_contingency(path, columns=columns).everybody.scale.names == ("ä", "b")
    assert read_counts(path, columns=columns).counts.scale.names == ("ä", "b")


@pytest.mark.parametrize(
    "label", [" 1.234", "1.234 ", "1.234e0", "1.2e3", " .5", "-1.5 ", "1,5|2.5"]
)
def test_a_point_is_refused_however_the_number_is_written(tmp_path, label):
    path = tmp_path / "r.csv"
    path.write_text(f"item;rater;label\ni;a;{label}\ni;b;{'2,5|1,5' if '|' in label else '2,5'}\n")
    level = "multivariate interval" if "|" in label else "interval"
    with pytest.raises(RatingsError, match="expected numbers with a decimal comma"):
        read(path, Columns(decimal=","), level=level)


def test_a_header_below_the_end_of_the_file_is_refused_at_once(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("item,rater,label\ni,a,x\n")
    with pytest.raises(RatingsError, match="found nothing but blanks"):
        read(path, Columns(header_row=1_000_000))
    with pytest.raises(ProjectError, match="expected a whole number from 1 to 1,048,576"):
        Columns(header_row=10**20)


def test_a_sign_of_windows_in_latin_1_parts_no_line(tmp_path):
    path = tmp_path / "r.csv"
    path.write_bytes("item;rater;label\ni;a;so …\ni;b;no …\n".encode("cp1252"))
    assert len(read(path, Columns(encoding="latin-1"))) == 2


def test_a_percentage_is_refused_with_the_step_that_makes_it_a_number(saved, refusal, tmp_path):
    path = saved(tmp_path, "round.csv", "item,rater,label\ni1,ana,51 %\ni1,ben,60%\n")
    assert refusal(path, level="interval").endswith(" If it is a percentage, take off its sign.")
