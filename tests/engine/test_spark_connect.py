"""Spark's own settings say where it runs: here a server of Spark Connect on this machine."""

import json
import os
import shutil
import subprocess
import sys

import pandas as pd
import pytest

from tests.conftest import JAVA

pytestmark = pytest.mark.slow

LIGHT = """\
spark.driver.extraJavaOptions {java}
spark.ui.enabled false
spark.sql.shuffle.partitions 1
spark.sql.adaptive.enabled false
spark.sql.codegen.wholeStage false
spark.sql.codegen.factoryMode NO_CODEGEN
"""


def measured(folder, engine, **settings):
    command = [sys.executable, "-m", "agreement_pipeline", "measure", "round.parquet"]
    options = ["--scope", "round", "--measure", "krippendorff_alpha", "--format", "json"]
    run = subprocess.run(
        [*command, "--engine", engine, *options],
        cwd=folder,
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(run.stdout), run.stderr


def test_a_server_of_spark_connect_gives_what_duckdb_gives(tmp_path):
    pytest.importorskip("pyspark")
    pytest.importorskip("grpc_status", reason="Spark Connect is not installed")
    if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        pytest.skip("no Java on this machine")
    rows = [(f"i{i}", f"r{r}", "ny"[(i + (i % 7 == r)) % 2]) for i in range(60) for r in range(3)]
    pd.DataFrame(rows, columns=["item", "rater", "label"]).to_parquet(tmp_path / "round.parquet")
    (tmp_path / "spark-defaults.conf").write_text(LIGHT.format(java=JAVA))
    where = {"SPARK_REMOTE": "local[1]", "SPARK_CONF_DIR": str(tmp_path)}
    found, said = measured(tmp_path, "spark", **where)
    assert "Spark" in said
    assert found == measured(tmp_path, "duckdb")[0]
