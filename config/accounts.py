"""URLs of the pages about accounts: those of django-allauth for signing in and out, passwords and two factors; and
sessions.

Accounts are created by admins and no mail is sent, so there are no pages for sign-up, e-mail addresses and resets by
mail.
"""

from allauth.account import views
from django.urls import include, path

from teams.sign_in import views as sign_in
from teams.user_settings import user_settings

urlpatterns = [
    path("login/", views.login, name="account_login"),
    path("logout/", views.logout, name="account_logout"),
    path("inactive/", views.account_inactive, name="account_inactive"),
    path("reauthenticate/", views.reauthenticate, name="account_reauthenticate"),
    path("password/change/", views.password_change, name="account_change_password"),
    path("password/set/", views.password_set, name="account_set_password"),
    path("2fa/", include("allauth.mfa.urls")),
    path("settings/", user_settings, name="user_settings"),
    path("sessions/", sign_in.browser_sessions, name="browser_sessions"),
    path("sessions/end-others/", sign_in.other_browser_sessions_end, name="other_browser_sessions_end"),
    path("sessions/<uuid:id_>/end/", sign_in.browser_session_end, name="browser_session_end"),
]
