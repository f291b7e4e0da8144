"""How gunicorn serves the site; options of its command line go before these settings.

https://docs.gunicorn.org/en/stable/settings.html
"""

# Gunicorn's threads, given to requests whose head is there: slow connections keep nobody out.
worker_class = "geval_site.web_worker.HeadFirstWorker"
workers = 2
threads = 4
# A worker takes hardly more requests than it has threads, and keeps no connection that asks
# nothing: what it took and cannot begin, the other worker might have answered by now.
worker_connections = 5
keepalive = 0
# Seconds that a load or a first look at a large report may take.
timeout = 120
loglevel = "warning"
