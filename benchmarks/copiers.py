"""How much α rises if one of several raters copies another.

`python benchmarks/copiers.py` prints the value of four raters who know an item or guess it, without
a copier, and with one who takes some labels from another rater.
"""

import numpy as np

from agreement_pipeline.measures import MEASURES
from agreement_pipeline.ratings import Scale
from agreement_pipeline.statistics import CategoryCounts

ITEMS, RATERS, TRUTH = 1_000_000, 4, 0.569
COPIED = (0.0, 0.8, 1.0)
TWO = Scale(("no", "yes"))


def main() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=(ITEMS, 1))
    guesses = rng.integers(2, size=(ITEMS, RATERS))
    labels = np.where(rng.random((ITEMS, RATERS)) < np.sqrt(TRUTH), truth, guesses)
    for share in COPIED:
        copied = labels.copy()
        copied[:, 0] = np.where(rng.random(ITEMS) < share, labels[:, 1], labels[:, 0])
        yes = copied.sum(1)
        counts = CategoryCounts(np.column_stack([RATERS - yes, yes]), scale=TWO)
        alpha = float(MEASURES["krippendorff_alpha"](counts).value)
        expected = TRUTH + share * 2 * (1 - TRUTH) / (RATERS * (RATERS - 1))
        print(f"copied {share:4.0%}: alpha {alpha:.4f}, expected {expected:.4f}")


if __name__ == "__main__":
    main()
