"""An archive as an answer: written to a temporary file first, so that what fails is told, then sent piece by piece."""

from django.http import FileResponse

from memories.bundle.rooms import Scope, entries_of
from memories.bundle.zip_writing import zip_of

PIECE_BYTES = 65_536


def download_of(scope: Scope) -> FileResponse:
    """The zip of the scope, to be saved as a file."""
    response = FileResponse(
        zip_of(entries_of(scope)), as_attachment=True, filename=f"{scope.name}.zip", content_type="application/zip"
    )
    response.block_size = PIECE_BYTES
    response["Cache-Control"] = "no-store"
    return response
