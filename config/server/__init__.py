"""The web server: it accepts connections, shares them among processes, and limits what a request may use."""
