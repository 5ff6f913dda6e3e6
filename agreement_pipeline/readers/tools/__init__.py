"""The exports of tools: one format a file. A file in this folder is enough."""
