"""Means by `ppi-python`, the package of the authors of PPI++, for the tests of the correction.

Run it where `ppi-python` is installed: `make vectors`.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from ppi_py import ppi_mean_ci, ppi_mean_pointestimate

N_TABLES, ALPHA, SEED = 200, 0.1, 20231103


def tables() -> Iterator[dict[str, Any]]:
    """Random tables: labels of 0 and 1, and numbers, by good classifiers and by useless ones."""
    rng = np.random.default_rng(SEED)
    for table in range(N_TABLES):
        n, others = int(rng.integers(4, 25)), int(rng.integers(5, 60))
        noise, bias = rng.choice([0.1, 0.5, 1.0, 3.0]), rng.choice([0.0, 0.5])
        latent = rng.normal(size=n + others)
        predicted = latent + bias + noise * rng.normal(size=n + others)
        if table % 2:
            latent, predicted = (latent > 0.3).astype(int), (predicted > 0.3).astype(int)
        else:
            latent, predicted = latent.round(2), predicted.round(2)
        yield {
            "labels": latent[:n].tolist(),
            "predicted": predicted[:n].tolist(),
            "others": predicted[n:].tolist(),
        }


def computed(table: dict[str, Any]) -> dict[str, Any]:
    """A table with the estimate of its mean and an interval at a level of 90 %."""
    given = [np.array(table[name], dtype=float) for name in ("labels", "predicted", "others")]
    low, high = ppi_mean_ci(*given, alpha=ALPHA)
    value = np.ravel(ppi_mean_pointestimate(*given))
    return {**table, "value": float(value[0]), "interval": [float(low[0]), float(high[0])]}


if __name__ == "__main__":
    cases = [computed(table) for table in tables()]
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    Path(sys.argv[1]).write_text(f"[\n{lines}\n]\n", encoding="utf-8")
