from django.urls import path

from delivery.demo import views

app_name = "practice"

urlpatterns = [
    path("practice/", views.practice, name="practice"),
    path("practice/node/", views.practice_node, name="practice_node"),
    path("practice/progress/", views.progress, name="progress"),
]
