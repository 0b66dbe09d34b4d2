"""Foundations: compilation, bits, random streams, files and errors."""

from rookery.base.bits import Bits, highest, lowest
from rookery.base.compiled import Index, Number, compiled, interpreted, namespace, parallel
from rookery.base.errors import (
    ConfigError,
    DeviceMissing,
    DiskFull,
    FileDamaged,
    IllegalPosition,
    RookeryError,
    RunFolderError,
    UnknownName,
)
from rookery.base.files import (
    check_digest,
    damaged,
    fingerprint,
    pack_arrays,
    plain,
    read_arrays,
    read_file,
    sign,
    unpack_arrays,
    unsigned,
    write_arrays,
    write_atomic,
)
from rookery.base.randomness import generator, seeds, uniform

__all__ = [
    "Bits",
    "ConfigError",
    "DeviceMissing",
    "DiskFull",
    "FileDamaged",
    "IllegalPosition",
    "Index",
    "Number",
    "RookeryError",
    "RunFolderError",
    "UnknownName",
    "check_digest",
    "compiled",
    "damaged",
    "fingerprint",
    "generator",
    "highest",
    "interpreted",
    "lowest",
    "namespace",
    "pack_arrays",
    "parallel",
    "plain",
    "read_arrays",
    "read_file",
    "seeds",
    "sign",
    "uniform",
    "unpack_arrays",
    "unsigned",
    "write_arrays",
    "write_atomic",
]
