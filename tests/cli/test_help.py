"""Every command explains itself in its help."""

import re

import click
import pytest

from agreement_pipeline.cli import main
from agreement_pipeline.cli.app import program
from agreement_pipeline.cli.options import Option

IN_ORDER = [
    "demo",
    "init",
    "measure",
    "compare",
    "judge",
    "release",
    "report",
    "plan",
    "pull",
    "run",
    "ui",
    "history",
    "reassess",
    "disputed",
    "draw",
    "correct",
    "certify",
    "to-date",
    "verify",
    "guide",
    "store",
]
NAMED = [[], *([name] for name in IN_ORDER)]
COMMANDS = {name: command.loaded for name, command in program.commands.items()}
every_page = pytest.mark.parametrize("words", NAMED, ids=lambda words: " ".join(words) or "all")
every_command = pytest.mark.parametrize("name", IN_ORDER)


def shown(capsys, *words):
    """The help of a command."""
    assert main([*words, "--help"]) == 0
    said = capsys.readouterr()
    assert not said.err
    return said.out


def in_one_line(text):
    return " ".join(text.split())


@every_page
def test_the_help_is_no_wider_than_100_columns(capsys, monkeypatch, words):
    monkeypatch.setenv("COLUMNS", "300")
    assert max(map(len, shown(capsys, *words).splitlines())) <= 100


@every_page
def test_short_and_long_names_show_the_same_help(capsys, words):
    long = shown(capsys, *words)
    assert main([*words, "-h"]) == 0
    assert capsys.readouterr().out == long


def test_the_commands_stand_in_the_order_of_use(capsys):
    listed = shown(capsys).split("Commands:\n")[1].split("\n\n")[0]
    assert re.findall(r"^  (\S+)", listed, re.MULTILINE) == IN_ORDER
    assert "..." not in listed


def test_the_help_says_how_completion_is_switched_on(capsys):
    said = shown(capsys)
    assert 'eval "$(_AGREEMENT_PIPELINE_COMPLETE=bash_source agreement-pipeline)"' in said
    assert "zsh_source" in said


def test_every_command_has_a_page():
    assert {*COMMANDS} == {*IN_ORDER}


@every_command
def test_every_argument_and_option_is_explained(capsys, name):
    page = in_one_line(shown(capsys, name))
    for param in COMMANDS[name].params:
        assert param.help, param.opts
        assert param.help[0].isupper() or param.help.startswith("long: "), param.opts
        assert in_one_line(param.help) in page, param.opts


@every_command
def test_every_option_has_a_heading_and_stands_under_it(capsys, name):
    sections = re.split(r"^(?=\S.*:$)", shown(capsys, name), flags=re.MULTILINE)
    for param in COMMANDS[name].params:
        if isinstance(param, click.Argument):
            heading, shown_as = "Positional arguments", param.make_metavar(click.Context(program))
        else:
            assert isinstance(param, Option)
            heading, shown_as = param.group, param.opts[0]
        (section,) = (text for text in sections if text.startswith(f"{heading}:\n"))
        assert re.search(rf"^  {re.escape(shown_as)}( |$)", section, re.MULTILINE), param.opts


DEFAULTS = {
    "--layout": "long",
    "--encoding": "utf-8",
    "--decimal": ".",
    "--sheet": "(the only one)",
    "--header-row": "1",
    "--time-format": "(told by the column)",
    "--reader": "(found by the content)",
    "--requires": "(what the reader needs)",
    "--item": "item",
    "--rater": "rater",
    "--label": "label",
    "--level": "(that of the labels; of a population, nominal)",
    "--categories": "(those that occur)",
    "--confidence-level": "0.95",
    "--n-resamples": "10000",
    "--interval-method": "smoothed_bayesian_bootstrap",
    "--scope": "(round, classifier, stratum, label)",
    "--panel-size": "(as many raters as most items have)",
    "--trains": "(plurality, or mean of numbers)",
    "--category": "(the lowest)",
    "--format": "table",
    "--engine": "auto",
    "--units": "(labels are categories)",
    "--memory-limit": "(80% of the memory; 300MB for a table of 300 MB or more)",
    "--root": ".",
    "--expected": "0.85",
    "--prevalence": "0.5,0.5",
    "--labels-an-item": "3",
    "--probability": "0.9",
    "--rounds": "600",
    "--wrong": "0.02",
}
OF_COMMANDS = {
    ("ui", "--port"): "3000",
    ("init", "--name"): "(of the export)",
    ("measure", "--measure"): "(those of the bundled policies, and three others)",
    ("compare", "--measure"): "(krippendorff_alpha of tables, schouten_kappa of names)",
    ("to-date", "--measure"): "(all that the level allows)",
    ("disputed", "--format"): "csv",
    ("draw", "--format"): "csv",
    ("draw", "--output"): "(the standard output)",
    ("draw", "--name"): "(of the file)",
    ("draw", "--store"): "(the one store in .agreement/store)",
    ("correct", "--store"): "(the one store in .agreement/store)",
    ("draw", "--reason"): "(none)",
    ("certify", "--round"): "(all rounds of the store)",
    ("certify", "--reason"): "(none)",
    ("certify", "--policy"): "classifier-standard",
    ("correct", "--majority-of"): "(pairs of an item and a rater)",
    ("disputed", "--output"): "(the standard output)",
    ("disputed", "--by"): "disagreement",
    ("history", "--store"): "(the one store in .agreement/store)",
    ("report", "--output"): "(text in the terminal)",
    ("store", "--rater"): None,
    ("store", "--item"): None,
    ("store", "--by"): "(the account)",
}
REQUIRED = {
    ("plan", "--policy"),
    ("to-date", "--store"),
    ("draw", "--n"),
}


@every_command
def test_every_default_is_shown(capsys, name):
    page = shown(capsys, name)
    for param in COMMANDS[name].params:
        if isinstance(param, click.Argument):
            continue
        option = param.opts[0]
        (row,) = re.findall(rf"^  {re.escape(option)} .*\n(?:   .*\n)*", page, re.MULTILINE)
        default = OF_COMMANDS.get((name, option), DEFAULTS.get(option))
        found = re.findall(r"\[default: (.+?)\]", in_one_line(row))
        assert found == ([] if default is None else [default]), option
        assert ("[required]" in row) == ((name, option) in REQUIRED), option


@every_command
def test_every_example_is_a_command_line_that_the_command_reads(name, capsys):
    command = COMMANDS[name]
    assert command.examples
    for example in command.examples:
        assert f"\n  {example}\n" in shown(capsys, name)
        program_name, first, *words = re.findall(r"'([^']*)'|(\S+)", example)
        assert (program_name[1], first[1]) == ("agreement-pipeline", name)
        read = [quoted or bare for quoted, bare in words]
        assert command.make_context(name, read).params
