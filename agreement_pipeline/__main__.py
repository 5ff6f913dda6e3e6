"""The command line as `python -m agreement_pipeline`."""

import sys

from agreement_pipeline.cli import main

if __name__ == "__main__":
    sys.exit(main())
