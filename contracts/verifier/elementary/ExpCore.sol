// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Fixed} from "./Fixed.sol";

/// @title The exponential function in fixed point. Mirrors src/numerics/elementary/expCore.ts.
library ExpCore {
    /// @dev log2(e) with 64 fraction bits.
    int256 private constant LOG2E_Q64 = 0x171547652b82fe177;
    uint256 private constant TERMS = 26;

    /// @dev e^t for t in Q126, |t| < 2^8 (2^134 as an integer), as a mantissa in Q126 (0.70 .. 1.42) times 2^exponent;
    /// relative error 2^-118. Largest numbers: t * LOG2E_Q64 < 2^199, r * sum < 2^251.
    function expFixed(int256 t) internal pure returns (uint256 mantissa, int256 exponent) {
        unchecked {
            int256 n = (t * LOG2E_Q64 + (1 << 189)) >> 190;
            int256 r = t - n * Fixed.LN2;
            return (uint256(int256(Fixed.ONE) + ((r * expm1Quotient(r)) >> 126)), n - Fixed.FRACTION);
        }
    }

    /// @dev (e^r - 1)/r for r in Q126, |r| < 0.347; relative error 2^-123. 1 for r = 0. Largest number:
    /// r * sum < 2^251.
    function expm1Quotient(int256 r) internal pure returns (int256 sum) {
        sum = int256(Fixed.ONE);
        int256 one = int256(Fixed.ONE);
        // sum = 1 + r * sum / k for k = TERMS .. 2; in assembly because the checks of `/` would double the gas.
        assembly ("memory-safe") {
            for {
                let k := TERMS
            } gt(k, 1) {
                k := sub(k, 1)
            } {
                sum := add(one, sdiv(sar(126, mul(r, sum)), k))
            }
        }
    }

    /// @dev e^t and e^-t for t in Q126, 0 <= t < 2^8, over one exponent: `growing * 2^exponent`,
    /// `decaying * 2^exponent`.
    function expBoth(uint256 t) internal pure returns (uint256 growing, uint256 decaying, int256 exponent) {
        unchecked {
            (growing, exponent) = expFixed(int256(t));
            decaying = ((Fixed.ONE << 126) / growing) >> uint256(2 * (exponent + Fixed.FRACTION));
        }
    }
}
