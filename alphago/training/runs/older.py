"""What earlier versions of the package wrote into a run's folder, in the form of today."""

from typing import Any


def newer_config(config: dict[str, Any]) -> dict[str, Any]:
    """Return a config without a version, from before configs had one, in the form of version 2.

    Raises KeyError or ValueError for a run that this version cannot continue.
    """
    settings = dict(config["settings"])
    if settings.pop("sizes", ()):
        raise ValueError("plays several boards at the same time, which runs no longer do")
    return {**config, "version": 2, "settings": settings}


def newer_state(data: dict[str, Any]) -> dict[str, Any]:
    """Return the data of a state of format 4 in the form of format 5."""
    (stage,) = data["boards"]
    kept = {name: value for name, value in data.items() if name != "boards"}
    return {**kept, "lesson": data["stage"], "stage": stage}
