"""The pages that show several apps together."""

from django.urls import path

from config.pages.agent import agent_page
from config.pages.home import home
from config.pages.memory import memory_page
from config.pages.team import team_page

urlpatterns = [
    path("", home, name="home"),
    path("agents/<slug:slug>/", agent_page, name="agent_page"),
    path("teams/<slug:slug>/", team_page, name="team_page"),
    path("memories/<uuid:id_>/", memory_page, name="memory"),
]
