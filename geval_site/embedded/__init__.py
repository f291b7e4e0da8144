"""The bundled PostgreSQL: started by the first command that connects, shared, stopped by the
last."""
