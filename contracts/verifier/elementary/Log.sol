// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Float32} from "../Float32.sol";
import {Enclosure} from "./Enclosure.sol";
import {LogCore} from "./LogCore.sol";

/// @title The natural logarithm on float32. Mirrors src/numerics/elementary/log.ts.
library Log {
    /// @dev The natural logarithm, correctly rounded, for a float32 word x below 2^32.
    function log(uint256 x, uint256 dtype) internal pure returns (uint256) {
        unchecked {
            uint256 magnitude = x & 0x7fffffff;
            if (magnitude > Float32.INFINITY) return Float32.NAN;
            if (magnitude == 0) return Float32.NEG_INFINITY;
            (bool negative, uint256 mantissa, int256 exponent) = Float32.decode(x);
            if (negative) return Float32.NAN;
            if (magnitude == Float32.INFINITY) return Float32.INFINITY;
            (negative, mantissa, exponent) = LogCore.logPositive(mantissa, exponent);
            return Enclosure.roundEnclosure(dtype, negative, mantissa, exponent);
        }
    }
}
