"""What mentions a person is found, reviewed, handed over, restricted and corrected."""
