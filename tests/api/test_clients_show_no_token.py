"""What a notebook or a log shows of the client's objects has no token in it."""

from geval.client import AsyncClient, Client


def test_no_token_is_shown() -> None:
    clients = (Client("http://site.example", "geval_SECRET"),
               AsyncClient("http://site.example", "geval_SECRET"))  # fmt: skip
    for client in clients:
        assert client.token == "geval_SECRET"
        assert "SECRET" not in repr(client)
        assert "SECRET" not in repr(client.project("small"))
