"""What does `python -m maskwright` run? The command line."""

import sys

from maskwright.cli import main

if __name__ == "__main__":
    sys.exit(main())
