from django.urls import path

from delivery.agreement import views

app_name = "agreement"

urlpatterns = [path("engagements/<str:code>/agreement/", views.agreement, name="agreement")]
