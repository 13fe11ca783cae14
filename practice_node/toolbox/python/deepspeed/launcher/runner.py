"""Practice stand-in for deepspeed as a module."""

import sys

from practice_launchers.start import start

sys.exit(start("deepspeed", sys.argv[1:]))
