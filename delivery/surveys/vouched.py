"""Which tables of this app the audit log vouches for: all of them."""

from delivery.surveys import models as own
from engagements.vouching import vouch_for

vouch_for(own.Questionnaire, own.Question, own.QuestionnaireDraft)
vouch_for(own.Survey, own.Answer, own.AnswerRevision, own.Comment, own.Consequence, own.Decision)
