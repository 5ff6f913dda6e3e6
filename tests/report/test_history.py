import pandas as pd
import pytest

from agreement_pipeline.policy import Rule
from agreement_pipeline.report import figures, not_admitted
from agreement_pipeline.report.figures import history_figure
from agreement_pipeline.report.history import round_counts

HELD = ("held: w1, w4",)
NOT_JUDGED = ("not judged: ['w3']; the table says why",)


@pytest.mark.parametrize(
    ("decisions", "counts", "words"),
    [
        ((), (0, 0, 0), ()),
        ((("w1", "admitted"), ("w2", "admitted (tentative)")), (2, 0, 0), ()),
        ((("w1", "held"), ("w1", "held"), ("w4", "pending")), (2, 2, 0), HELD),
        ((("w3", "admitted"), ("w3", "not judged")), (1, 0, 1), NOT_JUDGED),
        (
            (("w1", "held"), ("w3", "not judged"), ("w4", "pending")),
            (3, 2, 1),
            (*HELD, *NOT_JUDGED),
        ),
    ],
)
def test_rounds_that_are_not_admitted_are_held_or_not_judged(decisions, counts, words):
    rounds = pd.DataFrame(decisions, columns=["round", "decision"], dtype=object)
    assert tuple(round_counts(rounds).values()) == counts
    assert not_admitted(rounds) == words


@pytest.fixture
def drawn(monkeypatch):
    """The axes of the plot of some decisions, by a rule with cut-offs of its own."""

    def draw(decisions):
        rounds = pd.DataFrame(
            [
                {
                    "round": f"w{number}",
                    "decision": decision,
                    "measure": "krippendorff_alpha",
                    "value": 0.9,
                    "low": 0.85,
                    "high": 0.95,
                }
                for number, decision in enumerate(decisions)
            ]
        )
        monkeypatch.setattr(figures, "_image", lambda figure: figure)
        return history_figure(rounds, Rule("krippendorff_alpha", reliable=0.9, tentative=0.7))

    return draw


def test_the_plot_shows_the_cut_offs_of_the_rule(drawn):
    (axes,) = drawn(["admitted"]).axes
    levels = {line.get_ydata()[0] for line in axes.lines if line.get_label().count("from")}
    assert levels == {0.9, 0.7}


def test_reliable_tentative_and_held_rounds_differ_and_a_legend_names_each_once(drawn):
    figure = drawn(["admitted", "admitted (tentative)", "held", "held"])
    (axes,), (legend,) = figure.axes, figure.legends
    points = {
        line.get_label(): (line.get_marker(), line.get_color())
        for line in axes.lines
        if line.get_marker() != "None"
    }
    assert len(points) == 3
    assert len({marker for marker, _ in points.values()}) == 3
    assert len({colour for _, colour in points.values()}) == 3
    assert sorted(text.get_text() for text in legend.get_texts()) == [
        "admitted",
        "admitted (tentative)",
        "held",
        "reliable from 0.9",
        "tentative from 0.7",
    ]
