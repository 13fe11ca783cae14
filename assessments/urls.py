"""Routes of criteria, baselines and verdicts."""

from django.urls import path

from assessments import views

app_name = "assessments"
SET = "engagements/<str:code>/criteria/"
CRITERION = "criteria/<int:pk>/"

urlpatterns = [
    path(SET, views.criteria, name="criteria"),
    path(SET + "draft/", views.criteria_draft, name="criteria_draft"),
    path(SET + "sign/", views.criteria_sign, name="criteria_sign"),
    path(SET + "judge/", views.criteria_judge, name="criteria_judge"),
    path(SET + "new/", views.criterion_new, name="criterion_new"),
    path("engagements/<str:code>/baselines/new/", views.baseline_new, name="baseline_new"),
    path(CRITERION, views.criterion, name="criterion"),
    path(CRITERION + "judge/", views.criterion_judge, name="criterion_judge"),
    path(CRITERION + "measure/", views.criterion_measure, name="criterion_measure"),
    path(CRITERION + "remove/", views.criterion_remove, name="criterion_remove"),
    path(CRITERION + "curve.json", views.curve_spec, name="curve_spec"),
    path(CRITERION + "curve.svg", views.curve_svg, name="curve_svg"),
    path("definitions/", views.definitions, name="definitions"),
    path("definitions/<int:pk>/", views.definition, name="definition"),
]
