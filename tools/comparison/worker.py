"""What one version of the package says of all cases: `python -P worker.py ROOT CASES OUT`.

ROOT must be first on the path of Python, since the version there is the one that is asked. This
file imports nothing else of this folder, and only names of the package that its guide shows.
"""

import json
import sys
import time
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

Plain = dict[str, Any]
N_RESAMPLES = 400
PLAIN = "plain.csv"
"""A sound table beside the cases, by which a version shows what it knows."""
PARTS = ("category", "rater", "without", "pair")
ROUND = ("round", "classifier", "stratum")
MEASURES = (
    "krippendorff_alpha",
    "percent_agreement",
    "fleiss_kappa",
    "fleiss_kappa_quadratic",
    "gwet_ac1",
    "gwet_ac2_linear",
    "bennett_s",
    "category_agreement",
    "specific_agreement",
    "alpha_by_category",
    "alpha_masi",
    "cohen_kappa",
    "light_kappa",
    "conger_kappa",
    "conger_kappa_linear",
    "shah_kappa_s",
    "icc_2_1",
    "lin_ccc",
    "janson_olsson_iota",
    "self_agreement",
    "self_agreement_unbiased",
    "test_retest_alpha",
    "test_retest_kappa",
    "campagner_cabitza_rho_confidence",
    "advantage_probability",
    "alpha_with_classifier",
    "shah_s",
    "vanbelle_albert_kappa",
    "recall_by_category",
    "vanbelle_albert_group_kappa",
    "gold_accuracy",
    "stratum_alpha",
)
OF_PARTS = ("krippendorff_alpha", "self_agreement_unbiased")
OF_COUNTS = ("krippendorff_alpha", "percent_agreement", "fleiss_kappa", "gwet_ac1", "bennett_s")
OF_ESTIMATES = ("n_used", "n_apart", "on_marking", "chosen", "prevailing", "population")
LEFT_OUT = ("code_version", "convention")
"""What differs between versions without a fault: a version's number, and words on conventions."""


def flat(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """The leaves of plain data, each with the keys that lead to it.

    A finding is found by its check, so that a new check moves no other one.

    >>> dict(flat({"a": [{"b": 1}], "c": [2, 3], "d": [{"check": "rows", "passed": True}]}))
    {'a 0 b': 1, 'c': [2, 3], 'd rows check': 'rows', 'd rows passed': True}
    """
    inner: Iterator[tuple[Any, Any]] | None = None
    if isinstance(value, Mapping):
        inner = iter(value.items())
    elif isinstance(value, list | tuple) and any(isinstance(each, Mapping) for each in value):
        checks = [each.get("check") for each in value if isinstance(each, Mapping)]
        are_named = None not in checks and len({*checks}) == len(value)
        inner = zip(checks if are_named else range(len(value)), value, strict=True)
    if inner is None:
        yield key, value
        return
    for name, each in inner:
        if name not in LEFT_OUT:
            yield from flat(each, f"{key} {name}".strip())


class Asked:
    """A version of the package that answers one case after the other."""

    def __init__(self, folder: Path) -> None:
        import agreement_pipeline
        from agreement_pipeline.readers import Rules
        from agreement_pipeline.units import UnitSettings

        self.folder = folder
        self.package: Any = agreement_pipeline
        self.rules, self.units = Rules, UnitSettings
        self.inference = agreement_pipeline.Inference(n_resamples=N_RESAMPLES)
        self.measures = self._known()

    def facts(self, case: Plain) -> Plain:
        """What is said of a case, or the error. An error that nobody meant is a fact too."""
        try:
            counts = case["layout"] in ("counts", "contingency")
            return self._counted(case) if counts else self._read(case)
        except Exception as error:
            return {"error": _words_of(error)}

    def _read(self, case: Plain) -> Plain:
        ratings = self._ratings(case["source"], case)
        facts = self._of_ratings(ratings)
        facts["gold"] = sorted(ratings.gold)
        facts["strata"] = {name: list(each) for name, each in ratings.strata.items()}
        origin = ratings.origin
        former_words = getattr(origin, "words", None)
        facts["left out"] = getattr(origin, "left_out_in_words", former_words)
        facts |= self._surveyed(ratings, self.measures, ROUND)
        facts |= self._surveyed(ratings, OF_PARTS, PARTS)
        if case["earlier"]:
            beside = self._beside(ratings, case)
            facts |= {f"beside an earlier round: {key}": value for key, value in beside.items()}
        decision = self.package.judge(ratings, self._policy(case["policy"]))
        return facts | dict(flat(decision.to_mapping(), "decision"))

    def _counted(self, case: Plain) -> Plain:
        read = getattr(self.package, f"read_{case['layout']}")
        counts = read(self.folder / case["source"], scale=self._scale(case), level=case["level"])
        names = OF_COUNTS if case["layout"] == "counts" else self.measures
        return self._surveyed(counts, names, ("round", "category"))

    def _of_ratings(self, ratings: Any) -> Plain:
        scale = ratings.scale
        return {
            "digest": ratings.digest,
            "raters": list(ratings.raters),
            "classifiers": list(ratings.classifiers),
            "scale": [scale.level, _names(scale.categories), scale.declared],
        }

    def _surveyed(self, ratings: Any, names: Any, scopes: Any) -> Plain:
        try:
            found = self.package.survey(ratings, names, self.inference, scopes=scopes)
        except Exception as error:
            return {f"estimates of {', '.join(scopes)} error": _words_of(error)}
        return {key: value for each in found for key, value in _of_estimate(each)}

    def _beside(self, ratings: Any, case: Plain) -> Plain:
        """The ratings after an earlier round, and the difference from it."""
        try:
            before = self._ratings(case["earlier"], case)
            is_former = not hasattr(ratings, "preceded_by")
            after = ratings.after([before]) if is_former else ratings.preceded_by([before])
            names = [name for name in self.measures if "self" in name or "retest" in name]
            found = self._surveyed(after, names, ("round", "rater"))
            difference = self.package.compare(before, ratings, inference=self.inference)
            differ = dict(flat(difference.to_mapping(), "difference"))
            return {"after digest": after.digest, **found, **differ}
        except Exception as error:
            return {"error": _words_of(error)}

    def _ratings(self, name: str, case: Plain) -> Any:
        """The ratings of a source, which may be handed over as a frame."""
        source: Any = self.folder / name
        if case["as_frame"]:
            import pandas as pd

            source = pd.read_parquet(source)
        rules = _tupled(case["rules"])
        if "units" in rules:
            rules["units"] = self.units(**rules["units"])
        return self.package.read_ratings(
            source,
            columns=self.package.Columns(**_tupled(case["columns"])),
            layout=case["layout"],
            scale=self._scale(case),
            level=case["level"],
            classifiers=tuple(case["classifiers"]),
            round_name=case["round_name"],
            rules=self.rules(**rules),
        )

    def _scale(self, case: Plain) -> Any:
        said = case["categories"]
        return None if said is None else self.package.Scale(_tupled(said), case["level"])

    def _policy(self, name: str) -> Any:
        path = self.folder / "policies" / f"{name}.yaml"
        return self.package.load_policy(path if path.exists() else name)

    def _known(self) -> list[str]:
        """The measures that are registered in this version."""
        plain = self.package.read_ratings(self.folder / PLAIN)
        return [name for name in MEASURES if "error" not in self._registered(plain, name)]

    def _registered(self, ratings: Any, measure: str) -> str:
        return " ".join(self._surveyed(ratings, [measure], ()))


def _tupled(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _tupled(each) for name, each in value.items()}
    return tuple(map(_tupled, value)) if isinstance(value, list) else value


def _names(categories: Any) -> Any:
    return None if categories is None else [repr(each) for each in categories]


def _of_estimate(found: Any) -> Iterator[tuple[str, Any]]:
    said = {name: value for name, value in found.to_mapping().items() if name != "categories"}
    about = f"{said.pop('measure')} of {said.pop('scope')}"
    said |= {name: getattr(found, name) for name in OF_ESTIMATES}
    for name, value in said.items():
        if name not in LEFT_OUT:
            yield f"{about}: {name}", value


def _words_of(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def main(root: Path, cases: Path, out: Path) -> None:
    """Write a line of JSON for each case: its name, its facts, and the CPU seconds."""
    warnings.simplefilter("ignore")
    asked = Asked(cases.parent)
    from_there = Path(asked.package.__file__).resolve()
    if not from_there.is_relative_to(root.resolve()):
        raise SystemExit(f"found the package at {from_there}; expected the one in {root}.")
    with out.open("w", encoding="utf-8") as file:
        for case in json.loads(cases.read_text(encoding="utf-8")):
            begin = time.process_time()
            facts = asked.facts(case)
            spent = round(time.process_time() - begin, 3)
            line = {"name": case["name"], "facts": facts, "cpu": spent}
            file.write(json.dumps(line, default=str) + "\n")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
