"""How a third rater who is asked only where two differ moves each measure.

`python benchmarks/chosen_ratings.py` prints a table. The values are exact.
"""

from populations import where_two_differ

from agreement_pipeline.measures import MEASURES
from agreement_pipeline.statistics import LabelsByRater

GUESSED = 0.235
NAMES = (
    "krippendorff_alpha",
    "alpha_by_category",
    "fleiss_kappa",
    "gwet_ac1",
    "shah_kappa_s",
    "bennett_s",
    "percent_agreement",
    "category_agreement",
    "specific_agreement",
    "kraemer_icc",
    "light_kappa",
)


def value(name: str, labels: LabelsByRater) -> float:
    """The measure on all items; of a measure of every category, that of the lowest."""
    record = MEASURES[name]
    statistic = labels.counts().merged() if record.needs == "counts" else labels
    return float(record(statistic).value.min())


def main() -> None:
    every, asked = where_two_differ(GUESSED)
    for name in NAMES:
        print(f"| `{name}` | {value(name, every):.3f} | {value(name, asked):.3f} |")


if __name__ == "__main__":
    main()
