"""From `Ratings` to sufficient statistics: one engine a file."""

__all__ = []
