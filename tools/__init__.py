"""What maintainers run: pages of the documentation that are made from the code."""
