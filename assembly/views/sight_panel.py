"""The panel beside the editor: what the draft changes for the agent that comes first, in a few lines."""

import hashlib

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from assembly.trial import trial
from assembly.views.sight_subject import Subject
from assembly.views.sight_wishes import Written, default_wish
from assembly.views.sight_words import headline, sight_rows, tone
from config.http.errors import Invalid


def panel(request: HttpRequest, subject: Subject, written: Written) -> HttpResponse:
    """Without a draft, or an agent to read it, nothing is put together.

    The page sends back what it said last: the same sentence is not read out again.
    """
    page = {"subject": subject, "written": written}
    if written.origin != "draft" or not subject.agents:
        return render(request, "assembly/_sight_panel.html", page)
    wish = default_wish(request, subject)
    try:
        found = trial(
            agent=subject.agents[0], team=wish.team, asked=wish.asked, texts={subject.file.about: written.text}
        )
    except Invalid as refused:
        return render(request, "assembly/_sight_panel.html", {**page, "refused": refused.detail})
    rows, told = sight_rows(found), headline(found)
    said = hashlib.sha256(told.encode()).hexdigest()[:16]
    page |= {
        "wish": wish,
        "headline": told,
        "tone": tone(found),
        "rows": [row for row in rows if not row.is_same],
        "same": sum(row.is_same for row in rows),
        "said": said,
        "is_news": said != request.GET.get("said"),
    }
    return render(request, "assembly/_sight_panel.html", page)
