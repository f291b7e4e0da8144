"""Date formats; files and the API use ISO 8601."""

DATE_FORMAT = "j M Y"
DATETIME_FORMAT = "j M Y, H:i"
