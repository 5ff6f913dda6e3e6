"""Shah (2011): a fixed group of experts, and a classifier compared with it."""

from functools import cache
from itertools import product

import numpy as np

from agreement_pipeline.measures import MEASURES
from agreement_pipeline.ratings import Codes, Scale
from agreement_pipeline.statistics import LabelsByRater
from tools.pages.sources._figure import Figure, Source, parts

EXPERTS = ("E1", "E2", "E3", "E4")
LABELS = Scale(("L1", "L2", "L3", "L4"))
HYPO = {
    "Hypo0": ([[0, 1, 2, 3]], [200]),
    "Hypo2": ([[1, 1, 2, 3], [0, 0, 2, 3]], [100, 100]),
    "Hypo3 as worded": ([[1, 1, 0, 3], [0, 0, 1, 3]], [100, 100]),
    "Hypo3 as meant": ([[1, 1, 1, 3], [0, 0, 0, 3]], [100, 100]),
    "Hypo4": ([[0] * 4, [1] * 4, [2] * 4, [3] * 4], [50] * 4),
    "Hypo4a": ([[0] * 4, [1] * 4], [100, 100]),
}
SEROLOGY = {  # specimens by the labels of Ref-1, Ref-2, Ref-3 and T: table 1, after Williams (1976)
    ("RE", "RE", "RE", "RE"): 12,
    ("NR", "NR", "NR", "BL"): 5,
    ("NR", "NR", "NR", "NR"): 4,
    ("BL", "NR", "NR", "BL"): 3,
    ("RE", "BL", "BL", "RE"): 2,
    ("RE", "NR", "BL", "RE"): 2,
}
REACTIONS = Scale(("NR", "BL", "RE"))
R = 3  # reference laboratories
DRAWS = 2_000
PANELS = "5.1, figure 1(a)"


def hypo(name: str) -> LabelsByRater:
    """A hypothetical panel of section 5.1: four experts, 200 instances."""
    codes, weights = HYPO[name]
    return LabelsByRater(codes, weights, scale=LABELS, raters=EXPERTS)


def laboratories() -> LabelsByRater:
    """The three reference laboratories of table 1."""
    codes = [[REACTIONS.position_of_label(label) for label in row[:R]] for row in SEROLOGY]
    return LabelsByRater(
        codes, list(SEROLOGY.values()), scale=REACTIONS, raters=("Ref-1", "Ref-2", "Ref-3")
    )


def laboratory_t(labels: Codes | None = None) -> LabelsByRater:
    """Laboratory T against the three, or a classifier with other labels."""
    own = np.array([REACTIONS.position_of_label(row[R]) for row in SEROLOGY])
    return laboratories().with_classifier(own if labels is None else labels, "T")


@cache
def guessing(kappa: str) -> tuple[float, float]:
    """The mean of a coefficient over panels that guess, and its standard error.

    Each of four experts gives each of 200 items one of four labels with the same probability.
    """
    found = MEASURES[kappa](_guessed().counts() if kappa == "fleiss_kappa" else _guessed()).value
    return float(found.mean()), float(found.std(ddof=1) / np.sqrt(DRAWS))


@cache
def _guessed() -> LabelsByRater:
    """All panels at once: how many of 200 items have each of the 256 ways to be labelled."""
    rng, ways = np.random.default_rng(2011), list(product(range(4), repeat=4))
    place = 4 ** np.arange(4)[::-1]
    panels = (rng.integers(4, size=(200, 4)) @ place for _ in range(DRAWS))
    weights = [np.bincount(panel, minlength=len(ways)) for panel in panels]
    return LabelsByRater(ways, scale=LABELS, raters=EXPERTS).with_weights(np.array(weights, float))


def _of(name: str, patterns: LabelsByRater) -> dict[str, float]:
    record = MEASURES[name]
    return parts(record(patterns.counts() if record.needs == "counts" else patterns))


def _kappas(name: str) -> tuple[float, float]:
    return _of("shah_kappa_s", hypo(name))["value"], _of("fleiss_kappa", hypo(name))["value"]


def _by_r_squared(found: dict[str, float]) -> tuple[float, float]:
    """Chance divided by r² instead of r(r-1), and the coefficient that results."""
    slip = found["expected"] * (R - 1) / R
    return slip, _equation_1(found, slip)


def _equation_1(found: dict[str, float], a_e: float) -> float:
    """The coefficient with another chance."""
    return (found["observed"] - a_e) / (found.get("greatest", 1.0) - a_e)


def _panel(name: str, printed: str, holds: bool, why: str = "") -> Figure:
    return Figure(PANELS, f"{name}: κ_S, κ_F", printed, _kappas(name), why=why, holds=holds)


def _hypothetical() -> list[Figure]:
    of = {name: _kappas(name) for name in HYPO}
    chance = {
        name: _of("shah_kappa_s", hypo(name))["expected"] for name in ("Hypo0", "Hypo4", "Hypo4a")
    }
    opposite = "in Hypo2, E1 and E2 say L2 and then L1, so three experts never agree on an instance"
    return [
        _panel(
            "Hypo0", "κ_F < 0, and A_e = 0 for κ_S", of["Hypo0"][1] < 0 and chance["Hypo0"] == 0
        ),
        _guessing(),
        _panel("Hypo2", "κ_F < 0, κ_S above it", of["Hypo2"][1] < 0 < of["Hypo2"][0]),
        _panel(
            "Hypo3 as worded",
            "E3 (L1, then L2) agrees with both E1 and E2",
            of["Hypo3 as worded"][0] > of["Hypo2"][0],
            opposite,
        ),
        _panel(
            "Hypo3 as meant",
            "E3 agrees with both E1 and E2",
            of["Hypo3 as meant"][0] > of["Hypo2"][0],
            "E3 gives the labels of E1 and E2",
        ),
        _panel("Hypo4", "1 for both", of["Hypo4"] == (1.0, 1.0)),
        _panel("Hypo4a", "1 for both", of["Hypo4a"] == (1.0, 1.0)),
        Figure(
            PANELS,
            "A_e of κ_S on Hypo4, Hypo4a",
            "chance differs although A_o is 1 in both",
            (chance["Hypo4"], chance["Hypo4a"]),
            holds=chance["Hypo4"] != chance["Hypo4a"],
        ),
    ]


def _guessing() -> Figure:
    s, f = guessing("shah_kappa_s"), guessing("fleiss_kappa")
    return Figure(
        PANELS,
        "Hypo1, experts who guess: mean κ_S, κ_F",
        "not in the source",
        (s[0], f[0]),
        why=f"{DRAWS} panels of four experts guess 200 labels. The standard errors are "
        f"{s[1]:.4f} and {f[1]:.4f}",
        holds=abs(s[0]) < 3 * s[1],
    )


def _serology() -> list[Figure]:
    panel = "5.3, three reference laboratories"
    f, s = _of("fleiss_kappa", laboratories()), _of("shah_kappa_s", laboratories())
    divided = "dividing by r² where equation 4 divides by r(r-1)"
    a_e, kappa = _by_r_squared(s)
    no_cohen = (
        "With r², the statistic for two experts would not be Cohen's kappa, as the text says it is."
    )
    return [
        Figure(panel, "κ_F and κ_S: A_o", "0.81", f["observed"]),
        Figure(panel, "κ_F: A_e", "0.412", f["expected"]),
        Figure(panel, "κ_F", "0.676", f["value"]),
        Figure(panel, "κ_S: A_e", "0.272", s["expected"], slip=(divided, a_e), why=no_cohen),
        Figure(
            panel,
            "κ_S",
            "0.738",
            s["value"],
            slip=("the printed A_e", _equation_1(s, 0.272)),
            why=f"Dividing by r² throughout gives {kappa:.5f}.",
        ),
        Figure(
            panel,
            "ICC, quoted from Vanbelle and Albert",
            "0.68",
            f["value"],
            why="with three ratings of each specimen, the ICC is Fleiss' kappa",
        ),
    ]


def _against_t() -> list[Figure]:
    where = "5.3, laboratory T"
    va, s = (parts(MEASURES[name](laboratory_t())) for name in ("vanbelle_albert_kappa", "shah_s"))
    divided = "dividing by r² where equation 7 divides by r(r-1)"
    a_e, value = _by_r_squared(s)
    constant = np.full(len(SEROLOGY), REACTIONS.position_of_label("RE"))
    trivial = [
        float(MEASURES[name](laboratory_t(constant)).value)
        for name in ("vanbelle_albert_kappa", "shah_s")
    ]
    return [
        Figure(where, "κ_va: A_o", "0.655", va["observed"]),
        Figure(where, "κ_va: A_e", "0.362", va["expected"]),
        Figure(where, "κ_va: A_max", "0.893", va["greatest"]),
        Figure(where, "κ_va", "0.551", va["value"]),
        Figure(where, "S: A_o", "0.571", s["observed"]),
        Figure(where, "S: A_e", "0.105", s["expected"], slip=(divided, a_e)),
        Figure(where, "S: A_max", "0.81", s["greatest"]),
        Figure(
            where,
            "S",
            "0.662",
            s["value"],
            slip=("the printed A_e", _equation_1(s, 0.105)),
            why=f"Dividing by r² throughout gives {value:.5f}.",
        ),
        Figure(
            "5.2",
            "a classifier of one class only: κ_va, S (here: RE on table 1)",
            "κ_va is 0, S is not",
            (trivial[0] + 0.0, trivial[1]),
            why="κ_va of a constant classifier is 0, whatever the panel says",
            holds=abs(trivial[0]) < 1e-12 < abs(trivial[1]),
        ),
    ]


SOURCE = Source(
    "Shah (2011)",
    "Shah, M. (2011). Generalized agreement statistics over fixed group of experts. ECML PKDD "
    "2011, LNAI 6913, 191-206. https://doi.org/10.1007/978-3-642-23808-6_13",
    (*_hypothetical(), *_serology(), *_against_t()),
    note="Figures 1 and 2 are bars without numbers, and the labels of the trained classifiers are "
    "not published. By theorem 1, κ_S has no more chance agreement and no more variance than κ_F. "
    "Tests check both.",
)
