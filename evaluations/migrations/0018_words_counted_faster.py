"""Count words by plain blanks where a text has no other white space, which most have not: ten times
as fast, and the same numbers."""

from importlib import import_module

from django.db import migrations

earlier = import_module("evaluations.migrations.0014_words_of_an_output")
OTHER_SPACE = "".join(f"\\u{ord(character):04x}" for character in earlier.WHITE_SPACE)
ASCII_SPACE = r"\t\n\r\f\x0b\x1c\x1d\x1e\x1f"
CAREFUL = earlier.MAKE[
    earlier.MAKE.index("    SELECT CASE") + len("    SELECT ") : earlier.MAKE.index("\n$$;")
]
MAKE = f"""
CREATE OR REPLACE FUNCTION evaluations_word_count(body text) RETURNS integer
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT CASE WHEN body !~ '[{OTHER_SPACE}{earlier.LETTERS}]'
        THEN cardinality(array_remove(string_to_array(body, ' '), ''))
        WHEN octet_length(body) = length(body)
        THEN cardinality(array_remove(string_to_array(
            translate(body, E'{ASCII_SPACE}', repeat(' ', 9)), ' '), ''))
        ELSE {CAREFUL} END
$$;
"""
BACK = earlier.MAKE.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION")


class Migration(migrations.Migration):
    dependencies = [("evaluations", "0017_minimum_coverage")]

    operations = [migrations.RunSQL(MAKE, BACK)]
