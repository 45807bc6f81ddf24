"""How HTTP requests reach Django: web processes, connections handed round among them, threads that answer."""
