"""Practice stand-in for torchrun as a module."""

import sys

from practice_launchers.start import start

sys.exit(start("torchrun", sys.argv[1:]))
