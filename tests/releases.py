"""What tests do with the releases of a store: withdraw them, and find the current one."""

from agreement_pipeline.release.contents import MANIFEST, WITHDRAWN
from agreement_pipeline.release.decisions import reconcile_notices_and_log, withdraw_versions


def withdraw(store, round_name, reasons):
    """Withdraw every release that contains the round. True if there was one."""
    with store.locked():
        reconcile_notices_and_log(store, [round_name])
        return withdraw_versions(store, round_name, store.versions(round_name), reasons, lambda: [])


def current_release(store, name):
    """The folder of the latest release in force whose files are there, or None."""
    for entry in reversed(store.in_force()):
        files = store.storage.names(f"releases/{entry['release']}")
        if entry["round"] == name and MANIFEST in files and WITHDRAWN not in files:
            return store.root / "releases" / entry["release"]
    return None
