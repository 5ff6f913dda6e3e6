"""What a storage holds."""


def contents(storage, folder=""):
    """The bytes of all files under a folder, by name."""
    above = f"{folder}/" if folder else ""
    return {name: storage.read(f"{above}{name}") for name in storage.names(folder)}
