"""The Dagster layer: the same line, as assets, checks, sensors and schedules. Nothing else imports Dagster."""
