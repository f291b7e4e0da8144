"""Figures drawn by the server: numbers → shapes → SVG, PNG and PDF."""
