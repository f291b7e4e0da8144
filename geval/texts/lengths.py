"""How long a text is, in words. The site's database counts the same (`evaluations_word_count`)."""

import re

# Letters of scripts that are written without blanks: Thai, Lao, Burmese, Khmer, kana, Han.
_LETTERS = (
    r"\u0e01-\u0e30\u0e32\u0e33\u0e40-\u0e46\u0e81-\u0eb0\u0eb2\u0eb3\u0ec0-\u0ec6"
    r"\u1000-\u102a\u1780-\u17b3\u3005-\u3007\u3041-\u3096\u30a1-\u30fa\u3400-\u4dbf"
    r"\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9d\U00020000-\U0002fa1f"
)
# Their vowel signs, tone and length marks, and their punctuation, which are no words.
_MARKS = (
    r"\u0e31\u0e34-\u0e3a\u0e47-\u0e4f\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecf\u102b-\u104f\u17b4-\u17dd"
    r"\u3000-\u3004\u3008-\u303f\u3099-\u309f\u30fb-\u30ff\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40"
    r"\uff5b-\uff65\uff9e\uff9f"
)
_LETTER, _NO_BLANKS = re.compile(f"[{_LETTERS}]"), re.compile(f"[{_LETTERS}{_MARKS}]+")


def count_words(text: str) -> int:
    """Return the number of words: runs between white space, and each letter of scripts that are
    written without blanks, such as Chinese, Japanese and Thai."""
    if text.isascii() or not (letters := len(_LETTER.findall(text))):
        return len(text.split())
    return letters + len(_NO_BLANKS.sub(" ", text).split())
