"""What the packages of others compute, for tests."""
