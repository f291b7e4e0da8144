"""Runs: started, worked on, paused, resumed and finished, by any number of workers."""
