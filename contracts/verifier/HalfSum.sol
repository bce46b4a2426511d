// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ExactSum} from "./ExactSum.sol";

/// @title Adds products of float16 or bfloat16 words to an exact sum. Mirrors src/numerics/exactSum.ts.
/// @dev The factors are float32 numbers too, but shorter products take less gas.
library HalfSum {
    /// @dev The exponent field, all ones for infinities and NaN, and the leading bit of a normal number, which is also
    /// 1 in the exponent field.
    uint256 private constant FLOAT16_FIELD = 0x7c00;
    uint256 private constant FLOAT16_LEADING_BIT = 0x400;
    uint256 private constant BFLOAT16_FIELD = 0x7f80;
    uint256 private constant BFLOAT16_LEADING_BIT = 0x80;
    uint256 private constant SIGN = 0x8000;
    /// @dev The windows of ExactSum.Acc, 32 bytes each: the bits of an offset that choose one.
    uint256 private constant ACC_WINDOWS = 0x60;

    /// @notice Adds `terms` products of float16. Factors start at memory addresses `a` and `b`, most significant byte
    /// first; the next factors follow `aStep` and `bStep` bytes on.
    /// @dev A product is `m * 2^(p - 50)` with m < 2^22 and p the sum of both exponent fields, 2 .. 60. `m * 2^p` is
    /// below 2^82: 2^32 terms fit one number, even in multiples of 2^-172, the second window's unit.
    function addFloat16(
        ExactSum.Acc memory acc,
        uint256 a,
        uint256 aStep,
        uint256 b,
        uint256 bStep,
        uint256 terms
    ) internal pure {
        unchecked {
            int256 sum = 0;
            for (; terms != 0; --terms) {
                (uint256 x, uint256 y) = _load(a, b);
                a += aStep;
                b += bStep;
                uint256 xField = x & FLOAT16_FIELD;
                uint256 yField = y & FLOAT16_FIELD;
                uint256 product;
                if (_isNormal(xField, yField, FLOAT16_LEADING_BIT)) {
                    product = _normal(x, y, FLOAT16_LEADING_BIT) << ((xField + yField) >> 10);
                } else {
                    (uint256 m, uint256 fields) = _other(acc, x, y, FLOAT16_FIELD, FLOAT16_LEADING_BIT);
                    product = m << (fields >> 10);
                }
                sum += _signed(product, x, y);
            }
            acc.low += sum << 122;
        }
    }

    /// @notice Adds `terms` products of bfloat16, like `addFloat16`.
    /// @dev A product is `m * 2^(p - 268)` with m < 2^16 and p the sum of both exponent fields, 2 .. 508. The product
    /// goes to the same window like the equal float32 product with 32 more bits.
    function addBfloat16(
        ExactSum.Acc memory acc,
        uint256 a,
        uint256 aStep,
        uint256 b,
        uint256 bStep,
        uint256 terms
    ) internal pure {
        unchecked {
            for (; terms != 0; --terms) {
                (uint256 x, uint256 y) = _load(a, b);
                a += aStep;
                b += bStep;
                uint256 xField = x & BFLOAT16_FIELD;
                uint256 yField = y & BFLOAT16_FIELD;
                uint256 m;
                uint256 p;
                if (_isNormal(xField, yField, BFLOAT16_LEADING_BIT)) {
                    (m, p) = (_normal(x, y, BFLOAT16_LEADING_BIT), xField + yField);
                } else {
                    (m, p) = _other(acc, x, y, BFLOAT16_FIELD, BFLOAT16_LEADING_BIT);
                }
                p >>= 7;
                int256 term = _signed(m << ((p & 127) + 32), x, y);
                // SAFETY: p <= 255 + 255 < 512, so no write leaves the four windows.
                assembly ("memory-safe") {
                    let window := add(acc, and(shr(2, p), ACC_WINDOWS)) // window p / 128
                    mstore(window, add(mload(window), term))
                }
            }
        }
    }

    function _load(uint256 a, uint256 b) private pure returns (uint256 x, uint256 y) {
        assembly ("memory-safe") {
            x := shr(240, mload(a)) // the highest two bytes
            y := shr(240, mload(b))
        }
    }

    /// @dev Returns whether both numbers are normal. Adding one to a field of all ones carries into the sign's bit.
    function _isNormal(uint256 xField, uint256 yField, uint256 leadingBit) private pure returns (bool yes) {
        assembly ("memory-safe") {
            let special := and(or(add(xField, leadingBit), add(yField, leadingBit)), SIGN)
            yes := iszero(or(iszero(mul(xField, yField)), special))
        }
    }

    /// @dev The product of both mantissas.
    function _normal(uint256 x, uint256 y, uint256 leadingBit) private pure returns (uint256) {
        unchecked {
            return ((x & (leadingBit - 1)) | leadingBit) * ((y & (leadingBit - 1)) | leadingBit);
        }
    }

    /// @dev Returns the product of mantissas if at least one has no leading bit, and the sum of the exponent fields; 0,
    /// and a flag, if a number is not finite.
    function _other(
        ExactSum.Acc memory acc,
        uint256 x,
        uint256 y,
        uint256 field,
        uint256 leadingBit
    ) private pure returns (uint256 m, uint256 fields) {
        unchecked {
            uint256 xMagnitude = x & (SIGN - 1);
            uint256 yMagnitude = y & (SIGN - 1);
            if (xMagnitude >= field || yMagnitude >= field) {
                acc.flags |=
                    xMagnitude > field || yMagnitude > field || xMagnitude * yMagnitude == 0
                        ? ExactSum.FLAG_NAN
                        : (x ^ y) & SIGN == 0
                            ? ExactSum.FLAG_POSITIVE_INFINITY
                            : ExactSum.FLAG_NEGATIVE_INFINITY;
                return (0, 0);
            }
            assembly ("memory-safe") {
                // Field 0: no leading bit, and the exponent of field 1.
                let fraction := sub(leadingBit, 1)
                let xLowest := mul(iszero(and(x, field)), leadingBit)
                let yLowest := mul(iszero(and(y, field)), leadingBit)
                m := mul(sub(or(and(x, fraction), leadingBit), xLowest), sub(or(and(y, fraction), leadingBit), yLowest))
                fields := add(add(and(x, field), xLowest), add(and(y, field), yLowest))
            }
        }
    }

    /// @dev The magnitude with the sign of x * y.
    function _signed(uint256 magnitude, uint256 x, uint256 y) private pure returns (int256 term) {
        assembly ("memory-safe") {
            let sign := sub(0, shr(15, xor(x, y))) // all ones: `xor` and `sub` negate
            term := sub(xor(magnitude, sign), sign)
        }
    }
}
