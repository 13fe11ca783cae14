"""Pages of surveys and of the questionnaire's versions."""
