"""How many words a text has: defined here once, for length bias and wherever a text's length is shown."""

from django.db import migrations

# What Python's `str.split` splits at, beside the blank.
WHITE_SPACE = (
    "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007"
    "\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
# Letters of scripts that are written without blanks: Thai, Lao, Burmese, Khmer, kana, Han.
LETTERS = (
    r"\u0e01-\u0e30\u0e32\u0e33\u0e40-\u0e46\u0e81-\u0eb0\u0eb2\u0eb3\u0ec0-\u0ec6"
    r"\u1000-\u102a\u1780-\u17b3\u3005-\u3007\u3041-\u3096\u30a1-\u30fa\u3400-\u4dbf"
    r"\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9d\U00020000-\U0002fa1f"
)
# Their vowel signs, tone and length marks, and their punctuation, which are no words.
MARKS = (
    r"\u0e31\u0e34-\u0e3a\u0e47-\u0e4f\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecf\u102b-\u104f\u17b4-\u17dd"
    r"\u3000-\u3004\u3008-\u303f\u3099-\u309f\u30fb-\u30ff\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40"
    r"\uff5b-\uff65\uff9e\uff9f"
)
MAKE = f"""
CREATE FUNCTION evaluations_word_count(body text) RETURNS integer
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT CASE WHEN octet_length(body) > length(body) AND body ~ '[{LETTERS}]'
        THEN length(body) - length(regexp_replace(body, '[{LETTERS}]', '', 'g'))
            + cardinality(array_remove(string_to_array(translate(
                regexp_replace(body, '[{LETTERS}{MARKS}]+', ' ', 'g'),
                U&'{"".join(f"!{ord(c):04x}" for c in WHITE_SPACE)}' UESCAPE '!',
                repeat(' ', {len(WHITE_SPACE)})), ' '), ''))
        ELSE cardinality(array_remove(string_to_array(translate(body,
                U&'{"".join(f"!{ord(c):04x}" for c in WHITE_SPACE)}' UESCAPE '!',
                repeat(' ', {len(WHITE_SPACE)})), ' '), ''))
        END
$$;
COMMENT ON FUNCTION evaluations_word_count IS
    'The words of a text: runs between white space, and each letter of scripts that are written without blanks'
    ' (Chinese, Japanese, Thai, Lao, Khmer, Burmese); see docs/method.md.';
"""


class Migration(migrations.Migration):
    dependencies = [("evaluations", "0013_judge_settings_declared_once")]

    operations = [migrations.RunSQL(MAKE, "DROP FUNCTION evaluations_word_count(text)")]
