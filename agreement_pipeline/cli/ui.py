import os
import sys
from importlib.util import find_spec
from pathlib import Path

from agreement_pipeline.cli.options import command, option, root_option
from agreement_pipeline.errors import ProjectError

LOCATION = "agreement_pipeline.orchestration.definitions"


@command("agreement-pipeline ui", "agreement-pipeline ui --root agreement-demo --port 3001")
@root_option
@option(
    "--port",
    group="Server",
    type=int,
    default=3000,
    help="Where the UI is served, on this machine only.",
)
def ui(root: Path, port: int) -> int:
    """Open the Dagster UI on your projects, with their sensors, schedules and rounds.

    It shows the runs of `agreement-pipeline run` too, and judges new rounds until you end it with
    Ctrl-C. How a team runs it on a server: agreement-pipeline guide deployment.
    """
    from agreement_pipeline.orchestration import prepare_instance
    from agreement_pipeline.projects import load_projects

    if find_spec("dagster_webserver") is None:
        raise ProjectError(
            "ui: found no dagster-webserver; expected the extra ui. Install it: "
            "pip install 'agreement-pipeline[ui]'."
        )
    load_projects(root / "configs" / "projects")
    home = prepare_instance(root.resolve())
    places = {"AGREEMENT_ROOT": str(root.resolve()), "DAGSTER_HOME": str(home)}
    served = ("-m", LOCATION, "--host", "127.0.0.1", "--port", str(port))
    arguments = [sys.executable, "-m", "dagster", "dev", *served]
    sys.stdout.flush()
    # Ctrl-C and other signals then reach Dagster itself, which ends its processes in order.
    os.execve(sys.executable, arguments, {**os.environ, **places})
