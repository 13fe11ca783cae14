"""The cause of a failure in the active language, of the values that a job or a reading keeps."""

from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from toolreaders.causes.cause import CLUSTER, ENVIRONMENT, HARDWARE, SCRIPT

FAULTS = {
    ENVIRONMENT: _("environment"),
    SCRIPT: _("script"),
    HARDWARE: _("hardware"),
    CLUSTER: _("cluster"),
}
"""Classes of faults (DOMAIN 3.4.1)."""


def cause_words(stored: dict[str, Any]) -> dict[str, Any]:
    """What is shown of a cause: `stored` is `Diagnosis.as_json`, where it has the keys."""
    remedy, fault = stored.get("remedy", ""), stored.get("fault", "")
    return {"headline": gettext(stored["headline"]) % stored["values"],
            "remedy": gettext(remedy) % stored["values"] if remedy else "",
            "fault": str(FAULTS[fault]) if fault else "",
            "line": stored["line"], "quote": stored["quote"],
            "source": stored.get("source", ""), "versions": stored.get("versions", ""),
            "kind_says": ""}
