"""Forms of this app, by topic."""

from assessments.forms.allowlist import AllowPatternForm
from assessments.forms.criteria import (
    CriterionForm,
    ReadySetForm,
    SignedSheetForm,
    WaiverForm,
)
from assessments.forms.definitions import PreviewForm, SampleForm, VersionForm
from assessments.forms.files import BaselineForm, FileForm
from assessments.forms.rounds import RoundForm

__all__ = ["AllowPatternForm", "BaselineForm", "CriterionForm", "FileForm", "PreviewForm",
           "ReadySetForm", "RoundForm", "SampleForm", "SignedSheetForm", "VersionForm",
           "WaiverForm"]
