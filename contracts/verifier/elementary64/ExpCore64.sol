// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Wide} from "./Wide.sol";

/// @title The exponential function in Q252. Mirrors src/numerics/elementary64/expCore.ts.
library ExpCore64 {
    /// @dev log2(e) with 64 fraction bits.
    int256 private constant LOG2E_Q64 = 0x171547652b82fe177;
    uint256 private constant TERMS = 46;

    /// @dev e^t for t in Q244, |t| < 2^10 (2^254 as an integer), as a mantissa in Q252 (0.70 .. 1.42) times 2^exponent;
    /// relative error 2^-234.
    function expFixed(int256 t) internal pure returns (uint256 mantissa, int256 exponent) {
        unchecked {
            int256 n = ((t >> 180) * LOG2E_Q64 + (1 << 127)) >> 128;
            int256 r = (t - n * Wide.LN2) << 8;
            bool negative = r < 0;
            uint256 magnitude = uint256(negative ? -r : r);
            uint256 growth = Wide.times(magnitude, expm1Quotient(negative, magnitude));
            return (negative ? Wide.ONE - growth : Wide.ONE + growth, n - Wide.FRACTION);
        }
    }

    /// @dev (e^r - 1)/r for |r| < 0.347 in Q252 (r negated if `negative`); relative error 2^-250. 1 for r = 0.
    function expm1Quotient(bool negative, uint256 r) internal pure returns (uint256 sum) {
        unchecked {
            sum = Wide.ONE;
            for (uint256 k = TERMS; k > 1; --k) {
                uint256 term = Wide.times(r, sum) / k;
                sum = negative ? Wide.ONE - term : Wide.ONE + term;
            }
        }
    }

    /// @dev e^t and e^-t for t in Q244, 0 <= t < 2^10, over one exponent: `growing * 2^exponent`,
    /// `decaying * 2^exponent`.
    function expBoth(uint256 t) internal pure returns (uint256 growing, uint256 decaying, int256 exponent) {
        unchecked {
            (growing, exponent) = expFixed(int256(t));
            decaying = Wide.over(Wide.ONE, growing) >> uint256(2 * (exponent + Wide.FRACTION));
        }
    }
}
