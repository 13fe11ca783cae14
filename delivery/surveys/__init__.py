"""The questionnaire, its answers, and what follows from them."""
