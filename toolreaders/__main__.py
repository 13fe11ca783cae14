"""`python -m toolreaders read FILE…` and `python -m toolreaders scan PATH`."""

import sys

from toolreaders.command_line import main

sys.exit(main())
