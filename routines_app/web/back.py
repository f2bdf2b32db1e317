"""Back to where a button was pressed."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme


def back_to(request: HttpRequest, otherwise: str) -> HttpResponse:
    """To the page that the form names in `then`, when that is a page of ours; else to the other."""
    then = request.POST.get("then", "")
    if url_has_allowed_host_and_scheme(then, allowed_hosts=None) and then.startswith("/"):
        return redirect(then)
    return redirect(otherwise)
