from django.urls import path

from delivery.knowledge.views import cases, figures

app_name = "knowledge"
urlpatterns = [
    path("figures/", figures.figure_list, name="figures"),
    path("cases/", cases.case_list, name="cases"),
    path("cases/new/", cases.case_new, name="case_new"),
    path("cases/<int:pk>/", cases.case_page, name="case"),
    path("cases/<int:pk>/edit/", cases.case_edit, name="case_edit"),
    path("cases/<int:pk>/approve/", cases.case_approve, name="case_approve"),
    path("cases/<int:pk>/retire/", cases.case_retire, name="case_retire"),
    path("cases/<int:pk>/restore/", cases.case_restore, name="case_restore"),
    path("cases/<int:pk>/evidence/", cases.case_evidence, name="case_evidence"),
]
