"""Which tables of this app the audit log tracks: all of them."""

from delivery.surveys import models as own
from engagements.audit_rows.tracking import track_rows

track_rows(own.Questionnaire, own.Question, own.QuestionnaireDraft)
track_rows(own.Survey, own.Answer, own.AnswerRevision, own.Consequence, own.Decision)
track_rows(own.Comment, is_confidential=True)  # some are internal
