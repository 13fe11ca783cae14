"""`python -m toolreaders read FILE…`, `compare BASELINE FILE` and `scan PATH`."""

import sys

from toolreaders.command_line import main

sys.exit(main())
