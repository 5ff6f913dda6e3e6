"""Sheets of workbooks: those of OpenDocument say what those of Excel say."""

import re
from zipfile import ZipFile

import pytest
from openpyxl import Workbook, load_workbook
from openpyxl.chart import BarChart

from agreement_pipeline import Scale
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.readers import Columns, Limits, find_unnamed_label_columns, read

NAMES = ("urn:oasis:names:tc:opendocument:xmlns:{}:1.0", ("office", "table", "text"))
SPACES = " ".join(f'xmlns:{each}="{NAMES[0].format(each)}"' for each in NAMES[1])
BLANK = (
    '<table:table-row table:number-rows-repeated="1048000"><table:table-cell/></table:table-row>'
)


def text(words):
    return (
        f'<table:table-cell office:value-type="string"><text:p>{words}</text:p></table:table-cell>'
    )


def number(value, times=1):
    return (
        f'<table:table-cell office:value-type="float" office:value="{value}" '
        f'table:number-columns-repeated="{times}"><text:p>shown</text:p></table:table-cell>'
    )


def row(*cells, times=1):
    repeated = f' table:number-rows-repeated="{times}"' if times > 1 else ""
    far = '<table:table-cell table:number-columns-repeated="16000"/>'
    return f"<table:table-row{repeated}>{''.join(cells)}{far}</table:table-row>"


HEADER = row(*map(text, ("item", "rater", "label")))
RATED = [row(number(1), text("ana"), text("x")), row(number(1), text("ben"), text("y"))]


def document(path, body, *, head=""):
    sheets = f"<office:document-content {SPACES}><office:body><office:spreadsheet>{body}"
    end = "</office:spreadsheet></office:body></office:document-content>"
    with ZipFile(path, "w") as packed:
        packed.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        packed.writestr("content.xml", f"{head}{sheets}{end}")
    return path


def sheet(*rows, name="Sheet1"):
    return f'<table:table table:name="{name}">{"".join(rows)}</table:table>'


def said(path, columns=None):
    ratings = read(path, columns or Columns())
    return sorted(
        ratings.to_pandas()[["item", "rater", "label"]].itertuples(index=False, name=None)
    )


def test_a_sheet_of_open_document_is_read_as_one_of_excel(tmp_path):
    rows = [("item", "rater", "label"), (1, "ana", "x  y"), (2.5, "ben", True), (None, None, None)]
    book = Workbook()
    for each in rows:
        book.active.append(each)
    book.save(tmp_path / "r.xlsx")
    boolean = '<table:table-cell office:value-type="boolean" office:boolean-value="true"/>'
    body = sheet(
        HEADER,
        row(number(1), text("ana"), text('x<text:s text:c="2"/><text:span>y</text:span>')),
        row(number(2.5), text("ben"), boolean),
        BLANK,
    )
    path = document(tmp_path / "r.ods", body)
    columns = Columns()
    usual = read(tmp_path / "r.xlsx", columns, usable=False)
    assert read(path, columns, usable=False).digest == usual.digest


def test_a_sheet_is_chosen_by_name_and_the_header_may_stand_in_a_later_row(tmp_path):
    body = sheet(row(text("about")), name="About") + sheet(
        row(text("Ratings")), row(times=2), HEADER, *RATED, BLANK, name="May &amp; June"
    )
    path = document(tmp_path / "r.ods", body)
    columns = Columns(sheet="May & June", header_row=4)
    assert said(path, columns) == [("1", "ana", "x"), ("1", "ben", "y")]
    with pytest.raises(RatingsError, match=r"found sheets \['About', 'May & June'\]; expected one"):
        read(path)
    with pytest.raises(RatingsError, match="expected 'June' among them"):
        read(path, Columns(sheet="June"))


def test_repeated_cells_rows_and_blanks_keep_their_places(tmp_path):
    empty = '<table:table-cell table:number-columns-repeated="2"/>'
    header = row(text("item"), empty, text("rater"), text("label"), text("other"))
    body = sheet(
        header,
        row(number(1), empty, text("ana"), number(3, times=2)),
        row(times=3),
        row(number(1), empty, text("ben"), number(4)),
    )
    assert said(document(tmp_path / "r.ods", body)) == [("1", "ana", "3"), ("1", "ben", "4")]
    path = document(tmp_path / "r.ods", sheet(HEADER, *RATED, row(text("i"), times=2)))
    assert len(read(path)) == 2
    path = document(tmp_path / "r.ods", sheet(HEADER, row(times=3), row(number(1), text("ana"))))
    with pytest.raises(RatingsError, match="found no label in any row"):
        read(path)
    path = document(
        tmp_path / "r.ods", sheet(HEADER, *RATED, row(times=2), row(text(""), text("c"), text("x")))
    )
    with pytest.raises(RatingsError, match=r"r.ods: row 6, column 'item': found no item"):
        read(path)


def test_a_note_on_a_cell_is_no_text_of_it(tmp_path):
    note = "<office:annotation><text:p>why?</text:p></office:annotation>"
    noted = f"<table:table-cell>{note}<text:p>x</text:p></table:table-cell>"
    path = document(tmp_path / "r.ods", sheet(HEADER, row(number(1), text("a"), noted), RATED[1]))
    assert said(path)[0] == ("1", "a", "x")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("", "found no sheet"),
        (sheet(HEADER, row(number(1), text("a"), text("x"), times=2000)), "found 2000 equal rows"),
        (sheet(HEADER, row(number(1, times=20_000))), "found 20000 equal rows or cells"),
        (sheet(HEADER, row(number(1, times="many"))), "found 'many' as a number of repetitions"),
        (sheet(HEADER, row(text('<text:s text:c="-1"/>'))), "found '-1' as a number of rep"),
        (sheet(HEADER)[:-9], "not readable as XML"),
        (sheet(), "found no"),
        (sheet(HEADER), "found no row of data"),
    ],
    ids=["none", "rows", "cells", "many", "spaces", "cut", "empty", "header"],
)
def test_what_is_no_sheet_is_refused(tmp_path, body, words):
    with pytest.raises(RatingsError, match=words):
        read(document(tmp_path / "r.ods", body))


def test_a_hostile_workbook_is_refused(tmp_path):
    head = '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]>'
    with pytest.raises(RatingsError, match="found a DOCTYPE"):
        read(document(tmp_path / "r.ods", sheet(HEADER, *RATED), head=head))
    path = document(tmp_path / "r.ods", sheet(HEADER, *RATED) + " " * 10_000)
    with pytest.raises(RatingsError, match=r"bytes( once unpacked)?; expected at most 2000"):
        read(path, limits=Limits(file_bytes=2_000))
    deep = "<text:span>" * 20_000 + "</text:span>" * 20_000
    path = document(tmp_path / "r.ods", sheet(HEADER, row(number(1), text("a"), text(deep))))
    with pytest.raises(RatingsError, match="found"):
        read(path)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(RatingsError, match="without its end"):
        read(path)


@pytest.mark.parametrize(
    ("rows", "what"),
    [
        ([row(times=99_999_999), row(number(1))], "rows"),
        ([row(number(1), times=900)] * 1200, "rows"),
        ([row(*[number(1, times=900)] * 20)], "columns"),
    ],
)
def test_a_sheet_that_no_spreadsheet_could_have_is_refused_at_once(tmp_path, rows, what):
    path = document(tmp_path / "r.ods", sheet(HEADER, *rows))
    with pytest.raises(RatingsError, match=rf"found a sheet of [0-9,]+ {what} or more"):
        read(path)


def test_a_day_of_open_document_is_read_in_its_own_form(tmp_path):
    day = '<table:table-cell office:value-type="date" office:date-value="2026-09-02"/>'
    rows = [row(day, text(rater), text(label)) for rater, label in (("ana", "x"), ("ben", "y"))]
    found = said(document(tmp_path / "r.ods", sheet(HEADER, *rows)))
    assert found == [("2026-09-02", "ana", "x"), ("2026-09-02", "ben", "y")]


def test_a_workbook_of_charts_alone_has_no_table(tmp_path):
    book = Workbook()
    book.create_chartsheet("A chart").add_chart(BarChart())
    book.remove(book.active)
    book.save(tmp_path / "r.xlsx")
    with pytest.raises(RatingsError, match=r"r\.xlsx: found no sheet with cells; expected one"):
        said(tmp_path / "r.xlsx")


def test_a_text_may_stand_in_the_attribute_alone(tmp_path):
    cell = '<table:table-cell office:value-type="string" office:string-value="x"/>'
    body = sheet(HEADER, row(number(1), text("ana"), cell), RATED[1])
    path = document(tmp_path / "r.ods", body)
    assert said(path) == [("1", "ana", "x"), ("1", "ben", "y")]


def excel(path, sheets=("Sheet",)):
    book = Workbook()
    for each in (
        ("item", "rater", "label"),
        *((i, r, "xy"[i % 2]) for i in range(4) for r in "ab"),
    ):
        book.active.append(each)
    if "chart" in sheets:
        book.create_chartsheet("A chart").add_chart(BarChart())
    book.save(path)
    return path


def repacked(path, change):
    """A copy of a workbook with another first sheet."""
    other = path.with_name(f"other-{path.name}")
    with ZipFile(path) as packed, ZipFile(other, "w") as written:
        for name in packed.namelist():
            data = packed.read(name)
            written.writestr(name, change(data) if name.endswith("sheet1.xml") else data)
    return other


def test_a_sheet_is_as_large_as_its_rows_and_not_as_it_says(tmp_path):
    path = repacked(
        excel(tmp_path / "r.xlsx"), lambda data: data.replace(b'ref="A1:C9"', b'ref="A1:C3"')
    )
    assert len(said(path)) == 8


def test_a_chart_has_no_ratings_and_hides_none(tmp_path):
    assert len(said(excel(tmp_path / "r.xlsx", ("chart",)))) == 8


def test_a_sheet_that_breaks_off_is_refused(tmp_path):
    path = repacked(excel(tmp_path / "r.xlsx"), lambda data: data[: len(data) // 2])
    with pytest.raises(RatingsError, match="found no workbook"):
        said(path)


def test_a_workbook_of_excel_is_read_under_any_name(tmp_path):
    usual = said(excel(tmp_path / "r.xlsx"))
    assert said(excel(tmp_path / "r.ods")) == usual


@pytest.mark.parametrize("name", ["r.xls", "r.xlsx"])
def test_a_workbook_of_excel_97_or_with_a_password_is_named(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(bytes.fromhex("d0cf11e0a1b11ae1") + bytes(600))
    with pytest.raises(RatingsError, match=r"Excel 97 to 2003 \(.xls\), or one with a password"):
        read(path)


def test_a_formula_without_its_value_is_refused(tmp_path):
    """A program that writes formulas does not calculate them. Such a cell is not empty."""
    path = excel(tmp_path / "r.xlsx")
    book = load_workbook(path)
    book.active["C4"] = '=IF(1=1,"x","y")'
    book.save(path)
    with pytest.raises(RatingsError, match=r"r\.xlsx: C4: found a formula without its value"):
        read(path)
    cell = '<table:table-cell table:formula="of:=[.A1]"/>'
    body = sheet(HEADER, row(number(1), text("ana"), cell), RATED[1])
    with pytest.raises(RatingsError, match="found a formula without its value"):
        read(document(tmp_path / "r.ods", body))


def test_a_formula_whose_value_is_the_empty_text_is_an_empty_cell(tmp_path):
    formula = b'<c r="C4" t="str"><f>""</f><v></v></c>'
    path = repacked(
        excel(tmp_path / "r.xlsx"),
        lambda data: re.sub(rb'<c r="C4".*?</c>', lambda _: formula, data),
    )
    assert len(said(path)) == 7
    cell = '<table:table-cell table:formula="of:=&quot;&quot;" office:value-type="string"/>'
    body = sheet(HEADER, *RATED, row(number(2), text("ana"), cell))
    assert len(said(document(tmp_path / "r.ods", body))) == 2


def changed(path, change):
    book = load_workbook(excel(path))
    change(book.active)
    book.save(path)
    return path


def with_error(place):
    def change(sheet):
        sheet[place] = "#N/A"
        assert sheet[place].data_type == "e"

    return change


@pytest.mark.parametrize(
    ("place", "words"),
    [("C4", "row 4, column 'label'"), ("A3", "row 3, column 'item'")],
)
def test_an_error_of_a_formula_is_neither_a_label_nor_an_item(tmp_path, place, words):
    path = changed(tmp_path / "r.xlsx", with_error(place))
    with pytest.raises(RatingsError, match=rf"r\.xlsx: {words}: found the error #N/A; expected a"):
        read(path)


def test_an_error_in_a_sheet_of_open_document_is_no_empty_cell(tmp_path):
    """LibreOffice writes it so: the empty text, and beside it what the cell shows."""
    error = (
        '<table:table-cell table:formula="of:=NA()" office:value-type="string" '
        'office:string-value=""><text:p>#N/A</text:p></table:table-cell>'
    )
    path = document(tmp_path / "r.ods", sheet(HEADER, *RATED, row(number(2), text("ana"), error)))
    with pytest.raises(RatingsError, match=r"r\.ods: row 4, column 'label': found the error #N/A"):
        read(path)


@pytest.mark.parametrize(
    ("area", "words"),
    [("C2:C3", "row 3, column 'label'"), ("B4:C4", "row 4, column 'label'")],
)
def test_merged_cells_hide_no_label(tmp_path, area, words):
    path = changed(tmp_path / "r.xlsx", lambda sheet: sheet.merge_cells(area))
    with pytest.raises(RatingsError, match=rf"{words}: found a cell that is merged with another"):
        read(path)


@pytest.mark.parametrize("area", ["A12:C13", "C4:C5", "C4:D4"])
def test_merged_cells_that_are_empty_hide_nothing(tmp_path, area):
    def unlabelled(sheet):
        sheet["C4"] = sheet["C5"] = None

    def merged(sheet):
        unlabelled(sheet)
        sheet.merge_cells(area)

    expected = said(changed(tmp_path / "usual.xlsx", unlabelled))
    assert len(expected) == 6
    assert said(changed(tmp_path / "r.xlsx", merged)) == expected


def test_merged_cells_of_open_document_hide_no_label(tmp_path):
    covered = "<table:covered-table-cell/>"
    path = document(tmp_path / "r.ods", sheet(HEADER, *RATED, row(number(2), text("b"), covered)))
    with pytest.raises(RatingsError, match="row 4, column 'label': found a cell that is merged"):
        read(path)


def test_a_title_that_is_merged_over_its_whole_row_is_above_the_header(tmp_path):
    title = text("Ratings") + '<table:covered-table-cell table:number-columns-repeated="16383"/>'
    head = f"<table:table-row>{title}</table:table-row>"
    path = document(tmp_path / "r.ods", sheet(head, HEADER, *RATED))
    assert said(path, Columns(header_row=2)) == [("1", "ana", "x"), ("1", "ben", "y")]


def test_errors_and_merged_cells_beside_the_ratings_and_in_the_header_do_no_harm(tmp_path):
    def beside(sheet):
        sheet["D1"], sheet["D2"], sheet["D4"], sheet["F1"] = "note", "why?", "#N/A", "#N/A"
        sheet.merge_cells("D2:D3")
        sheet.merge_cells("D1:E1")

    assert said(changed(tmp_path / "r.xlsx", beside)) == said(excel(tmp_path / "usual.xlsx"))


def test_a_column_with_an_error_may_be_that_of_a_rater_who_is_not_read(tmp_path):
    book = Workbook()
    for each in (("item", "ana", "ben", "chi"), (1, "x", "y", "x"), (2, "y", "y", "#N/A")):
        book.active.append(each)
    book.save(tmp_path / "r.xlsx")
    columns = Columns(raters=("ana", "ben"))
    assert find_unnamed_label_columns(tmp_path / "r.xlsx", columns, Scale(("x", "y"))) == ("chi",)
    with pytest.raises(RatingsError, match="row 3, column 'chi': found the error #N/A"):
        read(tmp_path / "r.xlsx", Columns(raters=("ana", "chi")), layout="wide")
