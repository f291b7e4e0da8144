"""The bundled PostgreSQL: started by the first process that needs it, stopped by the last."""
