"""What a change of the embedder is refused for."""

from config.http.errors import DossierError


class BadChange(DossierError):
    """The embedder cannot be changed so, or not now. Nothing was switched."""

    status = 409
    code = "embedder_not_changed"
    title = "The embedder was not changed"
