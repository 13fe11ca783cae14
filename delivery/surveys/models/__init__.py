from delivery.surveys.models.consequence import Consequence, Decision
from delivery.surveys.models.questionnaire import Question, Questionnaire, QuestionnaireDraft
from delivery.surveys.models.survey import Answer, AnswerRevision, Comment, Survey

__all__ = ["Answer", "AnswerRevision", "Comment", "Consequence", "Decision", "Question",
           "Questionnaire", "QuestionnaireDraft", "Survey"]
