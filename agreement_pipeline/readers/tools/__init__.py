"""The exports of tools: a tool or a family of formats a file. A file in this folder is enough."""
