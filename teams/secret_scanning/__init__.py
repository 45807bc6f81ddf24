"""Keys and passwords are found in texts before they are stored: refused, replaced or kept, as the team has set."""
