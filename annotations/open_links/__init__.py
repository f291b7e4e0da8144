"""Campaigns open to everybody with a link: arrival, places and outcomes of participants."""
