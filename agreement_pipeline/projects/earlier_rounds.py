"""What earlier rounds say of the same raters and items."""

import pandas as pd

from agreement_pipeline.ratings import KEY, Ratings
from agreement_pipeline.store import Store


def with_earlier_rounds(ratings: Ratings, round_name: str, store: Store) -> Ratings:
    """The ratings, preceded by each rater's labels for the same items in earlier rounds.

    A round is earlier if its name sorts before `round_name`.
    """
    with store.reading():
        names = [name for name in store.rounds() if name < round_name]
        tables = [store.ratings(name).table for name in names]
    if not names:
        return ratings
    earlier = pd.concat([table[~table["earlier"]] for table in tables])
    met_again = ratings.table[["item", "rater"]].drop_duplicates()
    earlier = earlier.merge(met_again, on=["item", "rater"])
    together = pd.concat(
        [earlier.assign(earlier=True), ratings.table.assign(earlier=False)], ignore_index=True
    )
    together["occurrence"] = together.groupby(["item", "rater"]).cumcount() + 1
    table = together.sort_values(list(KEY), kind="stable").reset_index(drop=True)
    return Ratings(table, ratings.scale, ratings.classifiers, ratings.contents)
