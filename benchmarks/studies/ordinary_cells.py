"""How often honest rounds are held by what their cells say: placeholders, and words of raters.

Each line is for one kind of round: how many of the simulated rounds are held since a label may say
that nobody gave one, or since the words of raters do not meet. To add a kind, write a function
whose docstring is its line, and name it in `DECLARED`, `UNDECLARED` or `WORDS`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from agreement_pipeline.policy import judge, load_policy
from agreement_pipeline.ratings import Scale
from agreement_pipeline.readers import read
from benchmarks.studies.study import Asked, Cells, percent, seeded, study

N_ITEMS = 300
POLICY = replace(load_policy("standard"), n_resamples=1000)
HOLD = {"placeholders_not_declared", "words_do_not_meet"}
Random = np.random.Generator
Make = Callable[[Random], tuple[pd.DataFrame, Scale | None]]


def table(answers: np.ndarray, labels: Sequence[str] | Sequence[Sequence[str]]) -> pd.DataFrame:
    """A row a rating. `answers` are places of labels, of shape (raters, items)."""
    words = [labels if isinstance(labels[0], str) else labels[at] for at in range(len(answers))]
    parts = [
        pd.DataFrame(
            {"item": range(len(own)), "rater": f"r{at}", "label": np.array(words[at])[own]}
        )
        for at, own in enumerate(answers)
    ]
    return pd.concat(parts, ignore_index=True).astype({"item": str})


def answers_of(
    random: Random, n_labels: int, n_raters: int = 3, n_items: int = N_ITEMS, errors: float = 0.05
) -> np.ndarray:
    truth = random.choice(n_labels, n_items, p=random.dirichlet(np.full(n_labels, 3.0)))
    wrong = random.random((n_raters, n_items)) < errors
    return np.where(wrong, random.integers(0, n_labels, (n_raters, n_items)), truth)


def _of_three(random: Random, name: str, errors: float = 0.05) -> tuple[pd.DataFrame, Scale]:
    labels = ["against", "for", name]
    return table(answers_of(random, 3, errors=errors), labels), Scale(tuple(labels))


def declared_unknown(random: Random) -> tuple[pd.DataFrame, Scale]:
    """A category really called *unknown*, declared."""
    return _of_three(random, "unknown")


def declared_none(random: Random) -> tuple[pd.DataFrame, Scale]:
    """A category really called *none*, declared."""
    return _of_three(random, "none")


def declared_dash(random: Random) -> tuple[pd.DataFrame, Scale]:
    """A category really called *-*, declared."""
    return _of_three(random, "-")


def undeclared_unknown(random: Random) -> tuple[pd.DataFrame, None]:
    """A category really called *unknown*, which nobody declared."""
    return _of_three(random, "unknown")[0], None


def undeclared_none(random: Random) -> tuple[pd.DataFrame, None]:
    """A category really called *none*, which nobody declared, with 10 % of errors."""
    return _of_three(random, "none", errors=0.1)[0], None


def signs(random: Random) -> tuple[pd.DataFrame, None]:
    """The signs *+*, *-* and *0*, which nobody declared."""
    return table(answers_of(random, 3), ["+", "-", "0"]), None


def few_categories(random: Random) -> tuple[pd.DataFrame, None]:
    """Five categories, of which one of three raters uses two."""
    answers = answers_of(random, 5, errors=0.1)
    answers[2] = np.minimum(answers[2], 1)
    return table(answers, list("abcde")), None


def one_label(random: Random) -> tuple[pd.DataFrame, None]:
    """Three categories, and a rater who always gives the same one."""
    answers = answers_of(random, 3)
    answers[2] = random.integers(0, 3)
    return table(answers, list("abc")), None


def lost(random: Random) -> tuple[pd.DataFrame, None]:
    """Three raters who guess among four categories, on 40 items."""
    return table(answers_of(random, 4, n_items=40, errors=1.0), list("abcd")), None


def many_categories(random: Random) -> tuple[pd.DataFrame, None]:
    """Two raters and forty categories on 60 items, with 40 % of errors."""
    answers = answers_of(random, 40, n_raters=2, n_items=60, errors=0.4)
    return table(answers, [f"c{at}" for at in range(40)]), None


def few_items(random: Random) -> tuple[pd.DataFrame, Scale]:
    """Three raters and two categories, on 12 items."""
    return table(answers_of(random, 2, n_items=12, errors=0.2), ["no", "yes"]), Scale(("no", "yes"))


def two_languages(random: Random) -> tuple[pd.DataFrame, None]:
    """Two teams, each with words and items of its own language."""
    english = table(answers_of(random, 2, n_raters=2), ["no", "yes"])
    german = table(answers_of(random, 2, n_raters=2), ["nein", "ja"])
    german = german.assign(item="g" + german["item"], rater="g" + german["rater"])
    return pd.concat([english, german], ignore_index=True), None


def bilingual(random: Random) -> tuple[pd.DataFrame, None]:
    """A team that uses the words of two languages for different things."""
    return table(answers_of(random, 4, n_raters=4), ["hate", "Hetze", "spam", "Werbung"]), None


def two_fields(random: Random) -> tuple[pd.DataFrame, None]:
    """Raters of two fields with categories of their own, who share 30 items of both."""
    answers = answers_of(random, 4, n_raters=2, errors=0.1)
    rows = table(answers, ["tennis", "chess", "tax", "law"])
    of_sports = rows["label"].isin(["tennis", "chess"])
    is_shared = rows["item"].astype(int) < 30
    return rows[is_shared | (of_sports == (rows["rater"] == "r0"))], None


DECLARED: tuple[Make, ...] = (declared_unknown, declared_none, declared_dash)
UNDECLARED: tuple[Make, ...] = (undeclared_unknown, undeclared_none)
WORDS: tuple[Make, ...] = (
    signs,
    few_categories,
    one_label,
    lost,
    many_categories,
    few_items,
    two_languages,
    bilingual,
    two_fields,
)


def is_held(made: tuple[pd.DataFrame, Scale | None]) -> bool:
    """Where neither placeholders nor words can hold a round, nothing is estimated."""
    ratings = read(made[0], scale=made[1])
    if not (ratings.foreign_words or ratings.undeclared_placeholders):
        return False
    return bool(HOLD & {*judge(ratings, POLICY).codes})


@study("round | held, %", rounds=100)
def ordinary_cells(asked: Asked) -> Iterator[Cells]:
    """How often each kind of honest round is held."""
    for number, make in enumerate((*DECLARED, *WORDS, *UNDECLARED)):
        held = np.array([is_held(each) for each in seeded(make, asked.rounds, number)])
        yield str(make.__doc__).rstrip("."), *percent(held)
