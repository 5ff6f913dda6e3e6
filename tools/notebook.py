"""Run the notebook of the documentation, and keep what its cells show.

python -m tools.notebook docs/notebook.ipynb
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import nbformat
from nbclient import NotebookClient

DRAWN, PLAIN = "text/html", "text/plain"


def main(arguments: Sequence[str]) -> None:
    """Of a table only its HTML is kept, since the plain text repeats it."""
    match arguments:
        case [place]:
            path = Path(place)
        case _:
            raise SystemExit(__doc__)
    notebook = nbformat.read(path, as_version=nbformat.NO_CONVERT)
    metadata = notebook.metadata.copy()
    NotebookClient(notebook, resources={"metadata": {"path": path.parent}}).execute()
    notebook.metadata = metadata
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if "outputs" in cell:  # progress goes to streams
            cell.outputs = [each for each in cell.outputs if each.output_type != "stream"]
        for output in cell.get("outputs", []):
            if DRAWN in output.get("data", {}):
                output.data.pop(PLAIN, None)
    nbformat.write(notebook, path)


if __name__ == "__main__":
    main(sys.argv[1:])
