"""What the client sends, without a site."""

from geval.client import Client, site
from geval.client.requests import Request


def test_no_token_is_shown() -> None:
    client = Client("http://site.example", "geval_SECRET")

    assert client.token == "geval_SECRET"
    assert "SECRET" not in repr(client)
    assert "SECRET" not in repr(client.project("small"))


def test_a_name_is_quoted_within_an_address() -> None:
    assert Client("http://x", "t").project("a/b ü").path == "/projects/a%2Fb%20%C3%BC"


def test_only_values_of_a_query_are_sent() -> None:
    query = {"most": None, "check": True, "scale": ["a=1-5", "b=0-1"]}
    with Request("GET", "/outputs", query).written("t") as written:
        assert written.address == "/api/v1/outputs?check=true&scale=a%3D1-5&scale=b%3D0-1"


def test_an_upload_is_sent_again_from_its_beginning() -> None:
    request = Request("POST", "/outputs", rows=[{"a": 1}])
    with request.written("t") as written:
        assert written.content is not None
        written.content.read()
        pause = site.pause_before_next(ConnectionResetError(), 1, written.content)
        again = written.content.read()

    assert (pause, again) == (1.0, b'{"a": 1}\n')
    assert written.headers["Content-Length"] == "9"
