"""Failures on request: `.practice/faults.json` in the login's home folder.

Known names: card_alarm (card number), missing_dcmi, nan_loss (iteration), hang (iteration),
killed (iteration), full_disk (iteration of the training, or any true value for ATC), slow,
conversion_error, analysis_error, install_error, no_docker, failed_requests (how many),
other_scheme. One job alone fails by its variable PRACTICE_FAULT, for example
`PRACTICE_FAULT=nan_loss:20,slow`.
"""

import json
from pathlib import Path

FILE = Path(".practice") / "faults.json"


def set_faults(home: Path, **faults) -> None:
    """Make the stand-ins of this home fail as told; no faults repair it."""
    path = home / FILE
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(faults))
