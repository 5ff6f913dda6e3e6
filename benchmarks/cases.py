"""What is measured: topics, each with rounds of several sizes and the programs that read them."""

from typing import NamedTuple


class Round(NamedTuple):
    """The size of a round: every rater rates every item, less a share of missing ratings.

    `labels` are words, grades from 1 to 5, or numbers that hardly ever repeat. `meetings` says how
    often a rater meets each item. `clear` is the share of items that all raters see alike.
    """

    items: int
    raters: int = 5
    missing: float = 0.0
    labels: str = "words"
    meetings: int = 1
    clear: float = 0.64

    @property
    def cells(self) -> int:
        """How many ratings there are with the missing ones."""
        return self.items * self.raters * self.meetings

    @property
    def ratings(self) -> int:
        """How many ratings there are, about."""
        return round(self.cells * (1 - self.missing))

    @property
    def name(self) -> str:
        """The name of its file, without what says the format."""
        return "-".join(f"{value:g}" if isinstance(value, float) else str(value) for value in self)


class Program(NamedTuple):
    """A program: its name in tables, its environment, and what follows the interpreter.

    The environment is "" for the one that runs the benchmarks. `{file}` is the round's file.
    """

    name: str
    environment: str
    command: tuple[str, ...]

    @property
    def ours(self) -> bool:
        """True for a program of this project."""
        return self.name.startswith(OURS)


class Topic(NamedTuple):
    """Programs that do the same with the same rounds.

    Each is divided by the first program, or, to show growth, by itself on the smallest round.
    """

    name: str
    title: str
    rounds: tuple[Round, ...]
    programs: tuple[Program, ...]
    suffix: str = ".parquet"
    counted: str = "ratings"
    growth: bool = False


OURS = "agreement_pipeline"
LIMITS = tuple(
    part for limit in ("rows=200000000", "file_bytes=20000000000") for part in ("--limit", limit)
)
ALPHA = ("--measure", "krippendorff_alpha")


def command(name: str, what: str, *options: str) -> Program:
    """A command of this project on the round's file."""
    arguments = ("-m", OURS, name, "{file}", *options, "--format", "json", *LIMITS)
    return Program(f"{OURS}: {what}", "", arguments)


def measure(what: str, *options: str) -> Program:
    return command("measure", what, *options, "--scope", "round")


def own(what: str, task: str, *options: str) -> Program:
    """A task of this project that is no command."""
    return Program(f"{OURS}: {what}", "", ("-m", "benchmarks.ours", task, *options))


def peer(name: str, what: str, task: str, environment: str = "current") -> Program:
    return Program(f"{name}: {what}", environment, ("benchmarks/peers/run.py", task, "{file}"))


def sizes(*ratings: float, raters: int = 5, **others: object) -> tuple[Round, ...]:
    """Rounds of so many ratings."""
    return tuple(Round(round(n / raters), raters, **others) for n in ratings)


ALPHA_WITH_INTERVAL = measure("α with its interval", *ALPHA)
GROUPED = peer("duckdb", "GROUP BY item, counts alone", "count")
KRIPPENDORFF = peer("krippendorff", "α alone", "krippendorff_nominal")
JUDGED = command("judge", "judge", "--policy", "configs/policies/standard.yaml")
DRAWS = ("interval", "{items}", "{missing}")
LARGEST = Round(18_000_000, 6, 0.1)
REPEATED = Round(4000, 5, meetings=5)

TOPICS = (
    Topic(
        "alpha",
        "From a long table to α (Parquet)",
        (*sizes(1e3, 1e5, 1e6, 5e6), LARGEST),
        (
            ALPHA_WITH_INTERVAL,
            KRIPPENDORFF,
            peer("irrCAC", "α, analytic interval", "irrcac_alpha", "irrcac"),
            peer("nltk", "α alone", "nltk_alpha"),
            peer("simpledorff", "α alone", "simpledorff_alpha"),
            GROUPED,
        ),
    ),
    Topic(
        "csv",
        "From a long table to α (CSV)",
        sizes(1e5, 5e6),
        (ALPHA_WITH_INTERVAL, KRIPPENDORFF, GROUPED),
        suffix=".csv",
    ),
    Topic(
        "judge",
        "From a long table to all nominal measures, and to a decision",
        sizes(1e3, 1e5, 5e6),
        (JUDGED, measure("every nominal measure, with intervals")),
    ),
    Topic(
        "dagster",
        "A full round in Dagster: ingest, contract, estimates, decision, release",
        sizes(1e3, 1e5, 5e6, clear=0.95),
        (own("the round's job", "dagster", "{file}"),),
    ),
    Topic(
        "raters",
        "Many raters, about 100,000 ratings: α of the round",
        tuple(Round(round(1e5 / raters), raters) for raters in (3, 1000)),
        (
            ALPHA_WITH_INTERVAL,
            KRIPPENDORFF,
            peer("irrCAC", "α, analytic interval", "irrcac_alpha", "irrcac"),
        ),
        counted="raters",
    ),
    Topic(
        "fleiss",
        "Fleiss' κ",
        sizes(1e6),
        (
            measure("with its interval", "--measure", "fleiss_kappa"),
            peer("statsmodels", "alone", "statsmodels_fleiss"),
            peer("irrCAC", "with analytic interval", "irrcac_fleiss", "irrcac"),
        ),
    ),
    Topic(
        "kappa_s",
        "Shah's κ_S, which is Conger's κ",
        sizes(1e6),
        (
            measure("with its interval", "--measure", "shah_kappa_s"),
            peer("irrCAC", "with analytic interval", "irrcac_conger", "irrcac"),
        ),
    ),
    Topic(
        "cohen",
        "Cohen's κ of two raters",
        sizes(1e6, raters=2),
        (
            measure("with its interval", "--measure", "cohen_kappa"),
            peer("scikit-learn", "alone", "sklearn_cohen"),
            peer("statsmodels", "with analytic interval", "statsmodels_cohen"),
        ),
    ),
    Topic(
        "ordinal",
        "Ordinal α of grades from 1 to 5",
        sizes(1e6, labels="grades"),
        (
            measure("with its interval", *ALPHA, "--level", "ordinal"),
            peer("krippendorff", "alone", "krippendorff_ordinal"),
        ),
    ),
    Topic(
        "numbers",
        "Interval α of numbers that hardly ever repeat",
        sizes(250, 1000, 1e4, 1e5, labels="numbers"),
        (
            measure("with its interval", *ALPHA, "--level", "interval"),
            peer("krippendorff", "alone", "krippendorff_interval"),
        ),
    ),
    Topic(
        "icc",
        "ICC(2,1) of grades from 1 to 5",
        sizes(1e5, labels="grades"),
        (
            measure("with its interval", "--measure", "icc_2_1", "--level", "interval"),
            peer("pingouin", "with analytic interval", "pingouin_icc"),
        ),
    ),
    Topic(
        "rho",
        "Campagner and Cabitza's ρ, five meetings with each item",
        (REPEATED._replace(items=400), REPEATED, REPEATED._replace(items=40_000)),
        (
            measure(
                "with its interval",
                *("--measure", "campagner_cabitza_rho", "--occurrence", "occurrence"),
            ),
        ),
    ),
    Topic(
        "draws_missing",
        "Intervals alone, from counts, 10 % of ratings missing",
        tuple(Round(items, 5, 0.1) for items in (10**4, 10**7)),
        (
            own("α, Fleiss' κ, AC1 and percent agreement", *DRAWS, "counts"),
            own("κ_va of a classifier", *DRAWS, "isolated"),
            own("κ_S", *DRAWS, "patterns"),
            own("Light's κ", *DRAWS, "pairs"),
            own("S of a classifier", *DRAWS, "panel"),
            own("recall of a classifier by category", *DRAWS, "recall"),
        ),
        counted="items",
        growth=True,
    ),
)
