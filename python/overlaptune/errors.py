"""Exceptions. The text names the thing at fault, what was expected and what to do."""

from __future__ import annotations

from typing import Optional


class Error(Exception):
    """Base of all exceptions of this package."""

    #: The ovt_status of the C interface; None where no call was made.
    status: Optional[int] = None


class LibraryError(Error, ImportError):
    """liboverlaptune.so was not found, cannot be loaded, or is not of this version."""


class ArgumentError(Error, ValueError):
    """An unknown value, one that does not fit, an invalid problem, or a closed database."""

    status = 1


class NotFoundError(Error):
    """No such database or platform, or a file that may not be read."""

    status = 2


class DatabaseError(Error):
    """A file that is damaged, of a newer schema, or not a database of overlaptune."""

    status = 3


class UnavailableError(Error):
    """Another process keeps the file locked, or the disk fails."""

    status = 4


class OutOfMemoryError(Error, MemoryError):
    """There is not enough memory; nothing was changed."""

    status = 5


class InternalError(Error):
    """A defect of the library."""

    status = 6


BY_STATUS: dict[Optional[int], type[Error]] = {
    kind.status: kind
    for kind in (
        ArgumentError,
        NotFoundError,
        DatabaseError,
        UnavailableError,
        OutOfMemoryError,
        InternalError,
    )
}
