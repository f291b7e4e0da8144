"""Turns on pages: their text is the transcript to the letter, and nothing in them is markup."""

import re
from html import unescape

from hypothesis import given
from hypothesis import strategies as st

from evaluations.web.templatetags.turns import session
from geval.texts.turns import ToolCall, Turn, transcript

WORDS = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
TURNS = st.lists(
    st.builds(
        Turn,
        role=st.sampled_from(["user", "assistant", "tool", "narrator"]),
        text=WORDS,
        name=WORDS,
        time=WORDS,
        calls=st.lists(
            st.builds(ToolCall, name=WORDS, arguments=WORDS, result=st.none() | WORDS), max_size=3
        ).map(tuple),
        attachments=st.lists(WORDS | st.just("https://example.org/a?b=1&c"), max_size=2).map(tuple),
    ),
    max_size=5,
)
HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(1)>'


def text_of(html: str) -> str:
    return unescape(re.sub(r"<[^>]*>", "", html))


@given(TURNS)
def test_the_text_of_a_session_is_its_transcript(turns: list[Turn]) -> None:
    assert text_of(session(turns)) == transcript(turns)


def test_hostile_turns_are_text() -> None:
    call = ToolCall(HOSTILE, HOSTILE, HOSTILE)
    links = (HOSTILE, "javascript:alert(1)", "https://example.org/" + HOSTILE)
    html = session([Turn(HOSTILE, HOSTILE, HOSTILE, HOSTILE, (call,), links)])

    tags = {tag.split()[0].strip("<>/") for tag in re.findall(r"</?[a-z][^>]*>", html)}
    assert tags == {"ol", "li", "span", "div", "details", "summary", "code", "a"}
    assert "javascript:" not in "".join(re.findall(r'href="([^"]*)"', html))
    assert 'rel="noopener noreferrer nofollow"' in html
