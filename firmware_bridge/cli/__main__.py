"""``python -m firmware_bridge.cli``: the same command where the console script is not on the path."""

import sys

from firmware_bridge.cli.entry import main

sys.exit(main())
