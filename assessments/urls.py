"""Routes of criteria, baselines and verdicts."""

app_name = "assessments"
urlpatterns: list = []
