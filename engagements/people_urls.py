from django.urls import path

from engagements.views import delegations, duties, people, sign_ins

app_name = "people"

urlpatterns = [
    path("password/", people.password, name="password"),
    path("tokens/", sign_ins.own_tokens, name="own_tokens"),
    path("people/<int:pk>/tokens/", sign_ins.tokens, name="tokens"),
    path("tokens/<int:pk>/revoke/", sign_ins.token_revoke, name="token_revoke"),
    path("sign-ins/", sign_ins.sign_ins, name="sign_ins"),
    path("log-ins/", sign_ins.log_ins, name="log_ins"),
    path("sign-ins/end/", sign_ins.sign_ins_end, name="sign_ins_end"),
    path("sign-ins/<int:pk>/end/", sign_ins.sign_ins_end, name="sign_in_end"),
    path("people/", people.people, name="list"),
    path("people/new/", people.person_new, name="new"),
    path("people/<int:pk>/", people.person, name="person"),
    path("delegations/", delegations.delegations, name="delegations"),
    path("delegations/<int:pk>/end/", delegations.delegation_end, name="delegation_end"),
    path("people/duties/", duties.duty_list, name="duties"),
    path("people/duties/<slug:code>/", duties.duty_set, name="duty_set"),
    path("customers/", people.customers, name="customers"),
    path("customers/<int:pk>/", people.customer, name="customer"),
]
