"""Judges improved, checked as instruments, certified, and compared with each other and with people.
Optional."""
