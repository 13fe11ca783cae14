from django.urls import path

from engagements.views import duties, people

app_name = "people"

urlpatterns = [
    path("password/", people.password, name="password"),
    path("people/", people.people, name="list"),
    path("people/new/", people.person_new, name="new"),
    path("people/<int:pk>/", people.person, name="person"),
    path("people/duties/", duties.duty_list, name="duties"),
    path("people/duties/<slug:code>/", duties.duty_set, name="duty_set"),
    path("customers/", people.customers, name="customers"),
    path("customers/<int:pk>/", people.customer, name="customer"),
]
