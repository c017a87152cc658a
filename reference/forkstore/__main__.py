"""`python -m forkstore`: the command without its script."""

import sys

from .inspect import main

sys.exit(main())
