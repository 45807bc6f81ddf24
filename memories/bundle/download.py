"""An archive as an answer: written to a temporary file first, so that what fails is told, then sent piece by piece."""

from typing import IO

from django.http import FileResponse, HttpResponse
from django.http.response import HttpResponseBase

from memories.bundle.rooms import Scope, entries_of
from memories.bundle.zip_writing import IN_MEMORY_BYTES, zip_of

PIECE_BYTES = 65_536
ZIP = "application/zip"


def download_of(scope: Scope) -> HttpResponseBase:
    """The zip of the scope, to be saved as a file."""
    return attached(zip_of(entries_of(scope)), f"{scope.name}.zip", ZIP)


def attached(file: IO[bytes], name: str, content_type: str) -> HttpResponseBase:
    """What the temporary file holds, to be saved under that name."""
    whole = file.read(IN_MEMORY_BYTES + 1)
    if len(whole) <= IN_MEMORY_BYTES:
        file.close()
        disposition = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
        return HttpResponse(whole, content_type=content_type, headers=disposition)
    file.seek(0)
    response = FileResponse(file, as_attachment=True, filename=name, content_type=content_type)
    response.block_size = PIECE_BYTES
    response["Cache-Control"] = "no-store"
    return response
