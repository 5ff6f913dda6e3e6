"""Two versions of the package, compared on random tables to the last digit."""
