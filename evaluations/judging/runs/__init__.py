"""Runs: start, work on, pause, resume and finish, by any number of workers."""
