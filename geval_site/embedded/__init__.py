"""The PostgreSQL that comes along: started when a command first connects, shared, stopped by the
last one."""
