from django.urls import path

from workers import catalogue_views, chain_views, rule_views, views

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
    path("jobs/catalogue/", catalogue_views.catalogue, name="catalogue"),
    path("jobs/catalogue/<str:code>/", catalogue_views.kind, name="kind"),
    path("jobs/chains/", chain_views.chains, name="chains"),
    path("jobs/chains/new/", chain_views.chain_new, name="chain_new"),
    path("jobs/chains/<int:pk>/", chain_views.chain, name="chain"),
    path("jobs/chains/<int:pk>/start/", chain_views.chain_start, name="chain_start"),
    path("jobs/chain-runs/<int:pk>/", chain_views.run, name="chain_run"),
    path("jobs/<int:pk>/", views.job_page, name="job"),
    path("jobs/<int:pk>/log/", views.job_log, name="job_log"),
    path("jobs/<int:pk>/cancel/", views.job_cancel, name="job_cancel"),
    path("jobs/<int:pk>/retry/", views.job_retry, name="job_retry"),
    path("artifacts/upload/", views.artifact_upload, name="artifact_upload"),
    path("artifacts/<int:pk>/", views.artifact_page, name="artifact"),
    path("artifacts/<int:pk>/download/", views.artifact_download, name="artifact_download"),
    path("rules/", rule_views.rule_list, name="rules"),
    path("scans/", rule_views.scan_list, name="scans"),
    path("scans/new/", rule_views.scan_new, name="scan_new"),
    path("scans/<int:pk>/", rule_views.scan_page, name="scan"),
    path("scans/<int:pk>/patch/", rule_views.scan_patch, name="scan_patch"),
]
