"""Practice stand-in for accelerate as a module."""

import sys

from practice_launchers.start import start

sys.exit(start("accelerate", sys.argv[1:]))
