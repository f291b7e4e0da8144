"""Judges improved, checked as instruments, certified, compared with each other and with people.
Optional."""
