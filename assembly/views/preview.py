"""What would an agent be told now?"""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from assembly.asked import Asked
from assembly.forms import PreviewForm
from assembly.service import assemble
from config.http.errors import Invalid
from teams.views.asking import asking


def preview(request: HttpRequest) -> HttpResponse:
    """Asks for agent, team, topic and budget; assembles the context and goes to its page."""
    principal = asking(request)
    if request.method != "POST":
        chosen = request.GET.get("agent", "")
        # With an agent chosen, its teams alone are offered; htmx asks for this as the choice changes.
        initial = {name: request.GET[name] for name in ("agent", "team", "topic", "max_tokens") if name in request.GET}
        return _page(request, PreviewForm(principal=principal, chosen=chosen, initial=initial))
    form = PreviewForm(request.POST, principal=principal)
    if form.is_valid():
        try:
            wishes = form.cleaned_data
            agent, team = wishes.pop("agent"), wishes.pop("team")
            assembly = assemble(agent=agent, team=team, asked=Asked(**wishes), principal=principal).assembly
        except Invalid as error:
            for field in error.extra["errors"]:
                form.add_error(field if field in form.fields else None, error.detail)
        else:
            return redirect("context", id_=assembly.id)
    return _page(request, form, status=422)


def _page(request: HttpRequest, form: PreviewForm, status: int = 200) -> HttpResponse:
    return render(request, "assembly/preview.html", {"form": form}, status=status)
