"""Bit scans that compile to one instruction on every device and also run interpreted."""

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.extending import intrinsic

from rookery.base.compiled import compiled

Bits = Any
"""A bitboard: np.uint64."""

if numba.config.DISABLE_JIT:

    def lowest(bits: Bits) -> Bits:
        """Return the index of the lowest set bit; `bits` must not be 0."""
        return np.uint64((int(bits) & -int(bits)).bit_length() - 1)

    def highest(bits: Bits) -> Bits:
        """Return the index of the highest set bit; `bits` must not be 0."""
        return np.uint64(int(bits).bit_length() - 1)

else:

    def _instruction(name: str) -> Any:
        """Return an LLVM instruction from uint64 to uint64; its result for 0 is undefined."""

        @intrinsic
        def scan(context, bits):  # type: ignore[no-untyped-def]
            def code(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
                return getattr(builder, name)(arguments[0], ir.Constant(ir.IntType(1), 1))

            return numba.types.uint64(numba.types.uint64), code

        return scan

    _trailing_zeros, _leading_zeros = _instruction("cttz"), _instruction("ctlz")
    _HIGHEST_INDEX = np.uint64(63)

    @compiled
    def lowest(bits: Bits) -> Bits:
        """Return the index of the lowest set bit; `bits` must not be 0."""
        return _trailing_zeros(bits)

    @compiled
    def highest(bits: Bits) -> Bits:
        """Return the index of the highest set bit; `bits` must not be 0."""
        return _HIGHEST_INDEX - _leading_zeros(bits)
