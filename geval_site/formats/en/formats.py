"""All dates; files and the API have ISO 8601."""

DATE_FORMAT = "j M Y"
DATETIME_FORMAT = "j M Y, H:i"
