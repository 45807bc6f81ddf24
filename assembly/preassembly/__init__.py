"""What agents will probably ask for next is read before they ask, while a web process is idle."""
