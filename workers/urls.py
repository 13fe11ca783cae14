from django.urls import path

from workers import views

app_name = "workers"

urlpatterns = [
    path("nodes/", views.node_list, name="nodes"),
    path("nodes/new/", views.node_new, name="node_new"),
    path("nodes/<int:pk>/", views.node_page, name="node"),
    path("nodes/<int:pk>/confirm/", views.node_confirm, name="node_confirm"),
    path("nodes/<int:pk>/refetch/", views.node_refetch, name="node_refetch"),
    path("nodes/<int:pk>/maintenance/", views.node_maintenance, name="node_maintenance"),
    path("nodes/<int:pk>/check/", views.node_check, name="node_check"),
    path("jobs/", views.job_list, name="jobs"),
    path("jobs/new/", views.job_new, name="job_new"),
    path("jobs/<int:pk>/", views.job_page, name="job"),
    path("jobs/<int:pk>/log/", views.job_log, name="job_log"),
    path("jobs/<int:pk>/cancel/", views.job_cancel, name="job_cancel"),
    path("jobs/<int:pk>/retry/", views.job_retry, name="job_retry"),
    path("artifacts/upload/", views.artifact_upload, name="artifact_upload"),
    path("artifacts/<int:pk>/", views.artifact_page, name="artifact"),
    path("artifacts/<int:pk>/download/", views.artifact_download, name="artifact_download"),
]
