"""A small file of text has one reading, whatever the session: these cells, or this error.

What is expected is written by hand, from RFC 4180, RFC 8259 and the rules of the guide.
"""

import json

import pytest

from agreement_pipeline.engine import duckdb_session
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.readers import read

HEAD = b"item,rater,label\n"
TWO = [("i1", "a", "x"), ("i1", "b", "y")]


def csv(*rows, end=b"\n"):
    """Two ratings and more rows, below a header."""
    lines = (HEAD.rstrip(), b"i1,a,x", b"i1,b,y", *rows)
    return end.join(lines) + end


def more(item="i2", rater="a", label="x"):
    """Two ratings and one more."""
    return [*TWO, (item, rater, label)]


def jsonl(*lines):
    """Two ratings and more lines of JSON."""
    return b"\n".join([*(record(*each) for each in TWO), *lines]) + b"\n"


def record(item="i2", rater="a", label="x"):
    """A line of JSON."""
    return json.dumps({"item": item, "rater": rater, "label": label}).encode()


def labelled(label):
    """Two ratings and one more, whose label stands there as it is given."""
    return jsonl(b'{"item": "i2", "rater": "a", "label": ' + label + b"}")


SOURCES = {
    "plain": ("csv", csv(b"i2,a,x"), more()),
    "no line end at the end": ("csv", csv(b"i2,a,x").rstrip(), more()),
    "a byte order mark": ("csv", b"\xef\xbb\xbf" + csv(b"i2,a,x"), more()),
    "Windows line ends": ("csv", csv(b"i2,a,x", end=b"\r\n"), more()),
    "old Macintosh line ends": ("csv", csv(b"i2,a,x", end=b"\r"), more()),
    "mixed line ends": ("csv", csv(b"i2,a,x\r"), more()),
    "mixed line ends, the first of Windows": ("csv", b"item,rater,label\r\n" + csv()[17:], TWO),
    "a quoted cell": ("csv", csv(b'"i2","a","x"'), more()),
    "a quoted header": ("csv", b'"item","rater","label"\n' + csv()[17:], TWO),
    "a separator in quotes": ("csv", csv(b'"i,2",a,x'), more("i,2")),
    "a quote in quotes": ("csv", csv(b'"i""2",a,x'), more('i"2')),
    "a line feed in quotes": ("csv", csv(b'"i\n2",a,x'), more("i\n2")),
    "a carriage return in quotes": ("csv", csv(b'"i\r2",a,x'), more("i\r2")),
    "Windows line ends in quotes": ("csv", csv(b'"i\r\n2",a,x', end=b"\r\n"), more("i\r\n2")),
    "blanks around a cell": ("csv", csv(b" i2 ,a,x"), more(" i2 ")),
    "a blank before quotes": ("csv", csv(b'i2,a, "x"'), more(label=' "x"')),
    "a blank after quotes": ("csv", csv(b'i2,a,"x" '), "row 4: found text that is not readable"),
    "text after quotes": ("csv", csv(b'i2,a,"x"y'), "row 4: found text that is not readable"),
    "a quote inside a cell": ("csv", csv(b'i"2,a,x'), more('i"2')),
    "quotes that do not close": ("csv", csv(b'i2,a,"x'), "row 4: found text that is not readable"),
    "a separator too many": ("csv", csv(b"i2,a,x,"), "row 4: found 4 cells; expected 3"),
    "separators too many in every row": (
        "csv",
        HEAD + b"i1,a,x,\ni1,b,y,\n",
        "row 2: found 4 cells; expected 3",
    ),
    "a cell too few": ("csv", csv(b"i2,a"), "row 4: found 2 cells; expected 3"),
    "a cell too few after blank lines": (
        "csv",
        csv(b"", b"", b"i2,a"),
        "row 6: found 2 cells; expected 3",
    ),
    "a cut off last row": ("csv", csv(b"i2,"), "row 4: found 2 cells; expected 3"),
    "a blank line": ("csv", csv(b"", b"i2,a,x"), more()),
    "a blank line at the end": ("csv", csv(b"i2,a,x", b""), more()),
    "a blank line first": ("csv", b"\n" + csv(), "row 1: found a blank line"),
    "blanks in a line": ("csv", csv(b"  ", b"i2,a,x"), "row 4: found 1 cell; expected 3"),
    "a row of empty cells": ("csv", csv(b",,", b"i2,a,x"), more()),
    "a mark of a comment": ("csv", csv(b"#i2,a,x"), more("#i2")),
    "an empty label": ("csv", csv(b"i2,a,"), TWO),
    "an empty label in quotes": ("csv", csv(b'i2,a,""'), TWO),
    "an empty item": ("csv", csv(b",a,x"), "row 4, column 'item': found no item"),
    "an empty rater": ("csv", csv(b"i2,,x"), "row 4, column 'rater': found no rater"),
    "a mark of a missing value": ("csv", csv(b"NA,null,NaN"), more("NA", "null", "NaN")),
    "leading zeros": ("csv", csv(b"007,01,1.0"), more("007", "01", "1.0")),
    "numbers as names": ("csv", csv(b"1e3,+1,x"), more("1e3", "+1")),
    "a flag": ("csv", csv(b"i2,a,TRUE"), more(label="TRUE")),
    "a date": ("csv", csv(b"2026-01-02,a,x"), more("2026-01-02")),
    "letters beyond ASCII": ("csv", csv("ä,é,日".encode()), more("ä", "é", "日")),
    "two forms of a letter": ("csv", csv("e\u0301,a,x".encode()), more("e\u0301")),
    "Latin-1": ("csv", csv(b"\xe4,a,x"), "line 4: found byte 0xe4, which is not UTF-8"),
    "UTF-16": ("csv", csv().decode().encode("utf-16"), "line 1: found a NUL byte"),
    "a NUL": ("csv", csv(b"i\x002,a,x"), "line 4: found a NUL byte"),
    "a character cut off": ("csv", csv() + b"i2,a,\xc3", "at the end of the file"),
    "the header again": ("csv", csv(HEAD.rstrip()), "row 4: found the header again"),
    "a column twice": ("csv", b"item,rater,label,label\ni1,a,x,y\n", "column 'label' twice"),
    "a column without a name": ("csv", b"item,rater,label,\ni1,a,x,\ni1,b,y,\n", TWO),
    "names in capitals beside others": (
        "csv",
        b"item,rater,label,Label\ni1,a,x,p\ni1,b,y,q\n",
        r"found columns \['label', 'Label'\], which differ in capital letters only",
    ),
    "columns in another order": ("csv", b"label,more,rater,item\nx,1,a,i1\ny,2,b,i1\n", TWO),
    "semicolons": ("csv", csv(b"i2,a,x").replace(b",", b";"), more()),
    "semicolons beside commas": (
        "csv",
        b"item;rater;label\ni,1;a;x\ni,1;b;y\n",
        [("i,1", "a", "x"), ("i,1", "b", "y")],
    ),
    "tabs in a file of commas": ("csv", csv(b"i2,a,x").replace(b",", b"\t"), more()),
    "tabs": ("tsv", csv(b"i2,a,x").replace(b",", b"\t"), more()),
    "commas in a file of tabs": ("tsv", csv(b"i2,a,x"), more()),
    "a comma in a file of tabs": ("tsv", csv(b"i2,a,x;y").replace(b",", b"\t"), more(label="x;y")),
    "an empty file": ("csv", b"", "found 0 bytes"),
    "nothing but blanks": ("csv", b" \n\n", "found nothing but blanks"),
    "a header alone": ("csv", HEAD, "found no row of data"),
    "no label at all": ("csv", HEAD + b"i1,a,\ni1,b,\n", "found no label in any row"),
    "a long cell": ("csv", csv(b"i2,a,x") + b"i3,a," + b"x" * 200_000, "row 5: .*131072"),
    "JSON": ("jsonl", jsonl(record()), more()),
    "JSON with a byte order mark": ("jsonl", b"\xef\xbb\xbf" + jsonl(record()), more()),
    "JSON with Windows line ends": ("jsonl", jsonl(record()).replace(b"\n", b"\r\n"), more()),
    "JSON with a blank line": ("jsonl", jsonl(b"", record()), more()),
    "JSON with blank lines at the end": ("jsonl", jsonl(record(), b" ", b""), more()),
    "a whole number in JSON": ("jsonl", labelled(b"12"), more(label="12")),
    "a large number in JSON": ("jsonl", labelled(b"1" * 25), more(label="1" * 25)),
    "an exponent in JSON": ("jsonl", labelled(b"1e2"), more(label="100")),
    "a fraction in JSON": ("jsonl", labelled(b"0.50"), more(label="0.5")),
    "25 digits behind the point": ("jsonl", labelled(b"0.1" + b"0" * 24), more(label="0.1")),
    "NaN in JSON": ("jsonl", labelled(b"NaN"), TWO),
    "true in JSON": ("jsonl", labelled(b"true"), more(label="True")),
    "null in JSON": ("jsonl", labelled(b"null"), TWO),
    "an empty text in JSON": ("jsonl", labelled(b'""'), TWO),
    "a list in JSON": ("jsonl", labelled(b'["p", "q"]'), more(label="p|q")),
    "an empty list in JSON": ("jsonl", labelled(b"[]"), more(label="")),
    "an object in JSON": ("jsonl", labelled(b"{}"), "row 3, column 'label': found {}"),
    "an escape in JSON": ("jsonl", labelled(b'"\\u00e9"'), more(label="é")),
    "half a character in JSON": ("jsonl", labelled(b'"\\ud800"'), "row 3: found half a character"),
    "a key twice in JSON": ("jsonl", jsonl(b'{"item": "i", "item": "j"}'), "row 3: .* twice"),
    "a key too few in JSON": ("jsonl", jsonl(b'{"item": "i2", "rater": "a"}'), TWO),
    "a key too many in JSON": ("jsonl", jsonl(record()[:-1] + b', "z": [1]}'), more()),
    "no object in JSON": ("jsonl", jsonl(b"[1]"), "row 3: found .*expected a JSON object"),
    "text that is no JSON": ("jsonl", jsonl(b"{'a': 1}", record()), "row 3: .* not readable as"),
    "a line of JSON cut off": ("jsonl", jsonl(b'{"item": "i2", "ra'), "row 3: .* is cut off"),
    "a NUL in JSON": ("jsonl", jsonl(b"\x00"), "line 3: found a NUL byte"),
    "Latin-1 in JSON": ("jsonl", labelled(b'"\xe4"'), "line 3: found byte 0xe4"),
    "a JSON document": ("jsonl", b"[\n" + record() + b"\n]\n", "row 1: found a JSON document"),
}


WAYS = {
    "alone": {},
    "in 8 threads under a limit of memory": {"memory_limit": "200MB"},
}


@pytest.fixture(scope="module", params=WAYS)
def options(request):
    """How DuckDB is asked to read."""
    if "threads" in request.param:
        duckdb_session("200MB").connection.execute("SET threads = 8")
    return WAYS[request.param]


def cells(ratings):
    """Item, rater and label of each rating."""
    columns = ratings.first_ratings(["item", "rater", "label"]).columns
    return sorted(zip(*(each.to_pylist() for each in columns), strict=True))


@pytest.mark.parametrize("name", SOURCES)
def test_a_small_source_has_one_reading(name, options, tmp_path):
    form, content, expected = SOURCES[name]
    path = tmp_path / f"table.{form}"
    path.write_bytes(content)
    if isinstance(expected, list):
        assert cells(read(path, **options)) == sorted(expected)
    else:
        with pytest.raises(RatingsError, match=expected):
            read(path, **options)
