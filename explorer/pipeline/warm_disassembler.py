"""The connection of a job to a disassembler that has already started.

In: a cubin. Out: the listing that nvdisasm prints for it, or None if there is no started disassembler or it
has not completed. Then the caller starts nvdisasm itself.

The sandbox gives each job one connection, for one listing. The other end belongs to a process outside of the
job that ends with the connection. If the sandbox has no disassembler for the job, the other end is closed.
"""

from __future__ import annotations

import socket
import struct

ARGUMENTS_WITH_DATA_FLOW = ("-c", "-gi", "-hex")
#: The options of nvdisasm. The data-flow analysis takes a third of the time and only finds the targets of
#: indirect branches.
ARGUMENTS = (*ARGUMENTS_WITH_DATA_FLOW, "-ndf")

LENGTH = struct.Struct("<Q")
_SECONDS = 60
_READ_BYTES = 1 << 18
_connection: socket.socket | None = None


def use(descriptor: int) -> None:
    """Use the connection `descriptor` for the next listing."""
    global _connection
    _connection = socket.socket(fileno=descriptor)


def disconnect() -> None:
    """Close the connection, which belongs to another process."""
    global _connection
    if _connection is not None:
        _connection.close()
    _connection = None


def warm_listing(cubin: bytes) -> str | None:
    """Return the listing of a cubin by the disassembler that this process is connected to, once."""
    global _connection
    connection, _connection = _connection, None
    if connection is None:
        return None
    with connection:
        listing = ask(connection, cubin)
    return None if listing is None else listing.decode()


def ask(connection: socket.socket, cubin: bytes, most_bytes: int | None = None) -> bytes | None:
    """Send a cubin and read the listing up to the zero byte that follows a complete listing."""
    connection.settimeout(_SECONDS)
    listing = bytearray()
    try:
        connection.sendall(LENGTH.pack(len(cubin)) + cubin)
        while data := connection.recv(_READ_BYTES):
            listing += data
            if most_bytes is not None and len(listing) > most_bytes:
                return None
    except OSError:  # The other end was closed.
        return None
    return bytes(listing[:-1]) if listing.endswith(b"\0") else None
