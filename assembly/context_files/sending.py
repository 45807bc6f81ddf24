"""A list of contexts as an answer, to be saved as a file."""

import tempfile
from collections.abc import Iterable, Sequence

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone

from assembly.context_files.columns import row_of
from assembly.context_files.formats import FORMATS
from assembly.models import Assembly, ContextFile
from memories.bundle.download import attached
from memories.bundle.zip_writing import IN_MEMORY_BYTES


def list_sent(contexts: Sequence[Assembly], kind: str) -> HttpResponseBase:
    """The rows at once."""
    parts = [FORMATS[kind].write([row_of(context) for context in contexts])]
    name = f"contexts-{timezone.now():%Y-%m-%d}.{kind}"
    return HttpResponse(
        "".join(_whole(parts, kind)),
        content_type=FORMATS[kind].content_type,
        headers={"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"},
    )


def file_sent(file: ContextFile) -> HttpResponseBase:
    """The rows that were prepared, part by part."""
    contents = file.parts.order_by("number").values_list("content", flat=True).iterator(chunk_size=1)
    written = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY_BYTES)  # noqa: SIM115 - the answer closes it
    for text in _whole((bytes(content).decode() for content in contents), file.format):
        written.write(text.encode())
    written.seek(0)
    name = f"contexts-{file.created:%Y-%m-%d-%H%M}.{file.format}"
    return attached(written, name, FORMATS[file.format].content_type)


def _whole(parts: Iterable[str], kind: str) -> Iterable[str]:
    """The parts with what stands around and between them; some have no rows."""
    form, begun = FORMATS[kind], False
    yield form.begin
    for part in parts:
        if part:
            yield form.between + part if begun else part
            begun = True
    yield form.end
