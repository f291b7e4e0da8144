"""Certificates: whether a judge meets stated requirements, bound to the data behind them."""
