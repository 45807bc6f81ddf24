"""Keys of recorded texts, apart from the texts themselves: destroying a key erases its text, in all backups too."""
