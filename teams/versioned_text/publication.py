"""The next version of a text may have to pass checks before it is published. The app that knows a check registers it
here.

Checks apply to what people and keys publish on pages and over REST, not to imports of archives.
"""

from collections.abc import Callable

from config.http.errors import DossierError
from teams.principal import Principal
from teams.versioned_text.versioned_file import VersionedFile


class PublicationRefused(DossierError):
    """A check does not allow the text to be published. Nothing was changed."""

    status = 409
    code = "publication_refused"
    title = "The text was not published"


PublicationCheck = Callable[[Principal, VersionedFile, str], None]
"""A function that raises PublicationRefused if the principal may not publish this content as the file's next version.
"""

registered: list[PublicationCheck] = []


def check_publication(principal: Principal, file: VersionedFile, content: str) -> None:
    """Run all checks on the text that is to be the file's next version; an unchanged text passes.

    Raises PublicationRefused.
    """
    if content != file.content:
        for check in registered:
            check(principal, file, content)
