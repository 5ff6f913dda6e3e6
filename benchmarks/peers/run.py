"""What other packages do with a long table: `run.py TASK FILE` prints the value.

It is run in an environment of its own, so it imports nothing of this project.
"""

import sys

COLUMNS = ["item", "rater", "label"]


def table(path):
    import pandas as pd

    return pd.read_csv(path) if path.endswith(".csv") else pd.read_parquet(path, columns=COLUMNS)


def wide(path, *, coded):
    """One row an item, one column a rater; categories as codes if asked for."""
    import pandas as pd

    frame = table(path)
    if coded:
        frame["label"] = pd.factorize(frame["label"])[0]
    return frame.pivot(index="item", columns="rater", values="label")


def krippendorff(path, level):
    import krippendorff

    rows = wide(path, coded=level == "nominal")
    return krippendorff.alpha(rows.to_numpy(float).T, level_of_measurement=level)


def irrcac(path, method):
    from irrCAC.raw import CAC

    return getattr(CAC(wide(path, coded=False)), method)()["est"]["coefficient_value"]


def nltk_alpha(path):
    from nltk.metrics.agreement import AnnotationTask

    frame = table(path)
    rows = zip(frame["rater"], frame["item"], frame["label"], strict=True)
    return AnnotationTask(data=list(rows)).alpha()


def simpledorff_alpha(path):
    import simpledorff

    return simpledorff.calculate_krippendorffs_alpha_for_df(
        table(path), experiment_col="item", annotator_col="rater", class_col="label"
    )


def statsmodels_fleiss(path):
    from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

    return fleiss_kappa(aggregate_raters(wide(path, coded=True).to_numpy())[0])


def statsmodels_cohen(path):
    from statsmodels.stats.inter_rater import cohens_kappa, to_table

    return cohens_kappa(to_table(wide(path, coded=True).to_numpy())[0]).kappa


def sklearn_cohen(path):
    from sklearn.metrics import cohen_kappa_score

    return cohen_kappa_score(*wide(path, coded=True).to_numpy().T)


def pingouin_icc(path):
    import pingouin

    found = pingouin.intraclass_corr(table(path), targets="item", raters="rater", ratings="label")
    return found.set_index("Type")["ICC"]["ICC(A,1)"]


def count(path):
    import duckdb

    grouped = f"SELECT item, count(*) AS n FROM '{path}' GROUP BY item"
    return duckdb.sql(f"SELECT sum(n) / count(*) FROM ({grouped})").fetchall()[0][0]


TASKS = {
    **{
        f"krippendorff_{level}": lambda path, level=level: krippendorff(path, level)
        for level in ("nominal", "ordinal", "interval")
    },
    "irrcac_alpha": lambda path: irrcac(path, "krippendorff"),
    "irrcac_fleiss": lambda path: irrcac(path, "fleiss"),
    "irrcac_conger": lambda path: irrcac(path, "conger"),
    **{
        task.__name__: task
        for task in (
            nltk_alpha,
            simpledorff_alpha,
            statsmodels_fleiss,
            statsmodels_cohen,
            sklearn_cohen,
            pingouin_icc,
            count,
        )
    },
}

if __name__ == "__main__":
    print(f'{{"value": {float(TASKS[sys.argv[1]](sys.argv[2]))!r}}}')
