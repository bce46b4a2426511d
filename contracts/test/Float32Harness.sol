// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Cast} from "../verifier/Cast.sol";
import {DType} from "../verifier/DType.sol";
import {ExactSum} from "../verifier/ExactSum.sol";
import {Float32} from "../verifier/Float32.sol";
import {Integer} from "../verifier/Integer.sol";

/// @title Runs the arithmetic libraries on packed batches, for tests and gas tables only.
/// @dev Operands and results are big-endian, `width` bytes each: 4 for float32, 32 for words. Gas figures are for one
/// call with its operands on the stack.
contract Float32Harness {
    error UnknownOperation(string name);

    /// @notice A float32 operation on pairs of words. A unary one ignores the second.
    function float32(
        string calldata name,
        bytes calldata operands
    ) external view returns (bytes memory results, uint256 maxGas, uint256 totalGas) {
        return runPairs(floatOperation(keccak256(bytes(name)), name), operands, 4, 0);
    }

    /// @notice An integer operation, or "cast" with `dtype = from + 256 * to`, on pairs of 32-byte words.
    function integer(
        string calldata name,
        uint256 dtype,
        bytes calldata operands
    ) external view returns (bytes memory results, uint256 maxGas, uint256 totalGas) {
        return runPairs(integerOperation(keccak256(bytes(name)), name), operands, 32, dtype);
    }

    /// @notice Dot products of rows of `terms` pairs.
    function dots(
        bytes memory operands,
        uint256 terms
    ) external view returns (bytes memory results, uint256 maxGas, uint256 totalGas) {
        uint256 rows = terms == 0 ? 1 : operands.length / 8 / terms;
        results = new bytes(4 * rows);
        for (uint256 row = 0; row < rows; ++row) {
            uint256 first = 8 * terms * row;
            assembly ("memory-safe") {
                first := add(add(operands, 32), first)
            }
            ExactSum.Acc memory acc;
            uint256 used = gasleft();
            ExactSum.addProducts(acc, first, 8, first + 4, 8, terms);
            used -= gasleft();
            totalGas += used;
            if (used > maxGas) maxGas = used;
            write(results, 4 * row, ExactSum.round(acc, DType.FLOAT32), 4);
        }
    }

    /// @notice Rounds packed records: sign byte, sticky byte, exponent (int256), mantissa.
    function rounded(bytes calldata records) external pure returns (bytes memory results) {
        uint256 count = records.length / 66;
        results = new bytes(4 * count);
        for (uint256 k = 0; k < count; ++k) {
            bytes calldata record = records[66 * k:66 * k + 66];
            int256 exponent = int256(read(record, 2, 32));
            uint256 mantissa = read(record, 34, 32);
            write(results, 4 * k, Float32.roundToFloat32(record[0] != 0, mantissa, exponent, record[1] != 0), 4);
        }
    }

    function runPairs(
        function(uint256, uint256, uint256) pure returns (uint256) operation,
        bytes calldata operands,
        uint256 width,
        uint256 dtype
    ) private view returns (bytes memory results, uint256 maxGas, uint256 totalGas) {
        uint256 pairs = operands.length / (2 * width);
        results = new bytes(width * pairs);
        for (uint256 k = 0; k < pairs; ++k) {
            uint256 a = read(operands, 2 * width * k, width);
            uint256 b = read(operands, 2 * width * k + width, width);
            uint256 used = gasleft();
            uint256 result = operation(a, b, dtype);
            used -= gasleft();
            write(results, width * k, result, width);
            totalGas += used;
            if (used > maxGas) maxGas = used;
        }
    }

    function read(bytes calldata packed, uint256 offset, uint256 width) private pure returns (uint256 word) {
        assembly ("memory-safe") {
            word := shr(sub(256, mul(8, width)), calldataload(add(packed.offset, offset)))
        }
    }

    /// @dev A result with bits above `width` bytes is an error: a float32 result must be a 32-bit word.
    function write(bytes memory packed, uint256 offset, uint256 word, uint256 width) private pure {
        assert(width == 32 || word >> (8 * width) == 0);
        assembly ("memory-safe") {
            let place := add(add(packed, 32), offset)
            let beyond := shr(mul(8, width), not(0))
            mstore(place, or(and(mload(place), beyond), shl(sub(256, mul(8, width)), word)))
        }
    }

    function floatOperation(
        bytes32 id,
        string calldata name
    ) private pure returns (function(uint256, uint256, uint256) pure returns (uint256)) {
        if (id == keccak256("none")) return none;
        if (id == keccak256("add")) return floatAdd;
        if (id == keccak256("sub")) return floatSub;
        if (id == keccak256("mul")) return floatMul;
        if (id == keccak256("div")) return floatDiv;
        if (id == keccak256("fmod")) return floatFmod;
        if (id == keccak256("sqrt")) return floatSqrt;
        if (id == keccak256("neg")) return floatNeg;
        if (id == keccak256("abs")) return floatAbs;
        if (id == keccak256("sign")) return floatSign;
        if (id == keccak256("min")) return floatMin;
        if (id == keccak256("max")) return floatMax;
        if (id == keccak256("floor")) return floatFloor;
        if (id == keccak256("ceil")) return floatCeil;
        if (id == keccak256("round")) return floatRound;
        if (id == keccak256("eq")) return floatEq;
        if (id == keccak256("lt")) return floatLt;
        if (id == keccak256("le")) return floatLe;
        if (id == keccak256("canonical")) return floatCanonical;
        if (id == keccak256("isNaN")) return floatIsNaN;
        if (id == keccak256("isInfinite")) return floatIsInfinite;
        revert UnknownOperation(name);
    }

    function integerOperation(
        bytes32 id,
        string calldata name
    ) private pure returns (function(uint256, uint256, uint256) pure returns (uint256)) {
        if (id == keccak256("none")) return none;
        if (id == keccak256("add")) return Integer.add;
        if (id == keccak256("sub")) return Integer.sub;
        if (id == keccak256("mul")) return Integer.mul;
        if (id == keccak256("div")) return Integer.div;
        if (id == keccak256("mod")) return Integer.mod;
        if (id == keccak256("fmod")) return Integer.fmod;
        if (id == keccak256("min")) return Integer.min;
        if (id == keccak256("max")) return Integer.max;
        if (id == keccak256("eq")) return Integer.eq;
        if (id == keccak256("lt")) return Integer.lt;
        if (id == keccak256("le")) return Integer.le;
        if (id == keccak256("and")) return Integer.and;
        if (id == keccak256("or")) return Integer.or;
        if (id == keccak256("xor")) return Integer.xor;
        if (id == keccak256("shl")) return Integer.shl;
        if (id == keccak256("shr")) return Integer.shr;
        if (id == keccak256("neg")) return integerNeg;
        if (id == keccak256("abs")) return integerAbs;
        if (id == keccak256("sign")) return integerSign;
        if (id == keccak256("not")) return integerNot;
        if (id == keccak256("cast")) return castPair;
        revert UnknownOperation(name);
    }

    function none(uint256 a, uint256, uint256) private pure returns (uint256) {
        return a;
    }

    function floatAdd(uint256 a, uint256 b, uint256) private pure returns (uint256) {
        return Float32.add(a, b);
    }

    function floatSub(uint256 a, uint256 b, uint256) private pure returns (uint256) {
        return Float32.sub(a, b);
    }

    function floatMul(uint256 a, uint256 b, uint256) private pure returns (uint256) {
        return Float32.mul(a, b);
    }

    function floatDiv(uint256 a, uint256 b, uint256) private pure returns (uint256) {
        return Float32.div(a, b);
    }

    function floatFmod(uint256 a, uint256 b, uint256) private pure returns (uint256) {
        return Float32.fmod(a, b);
    }

    function floatSqrt(uint256 a, uint256, uint256) private pure returns (uint256) {
        return Float32.sqrt(a);
    }

    function floatNeg(uint256 a, uint256, uint256) private pure returns (uint256) {
        return Float32.neg(a);
    }

    function floatAbs(uint256 a, uint256, uint256) private pure returns (uint256) {
        return Float32.abs(a);
    }

    function floatSign(uint256 a, uint256, uint256) private pure returns (uint256) {
        return Float32.sign(a);
    }

    function floatMin(uint256 a, uint256 b, uint256) private pure returns (uint256) {
        return Float32.min(a, b);
    }

    function floatMax(uint256 a, uint256 b, uint256) private pure returns (uint256) {
        return Float32.max(a, b);
    }

    function floatFloor(uint256 a, uint256, uint256) private pure returns (uint256) {
        return Float32.floor(a);
    }

    function floatCeil(uint256 a, uint256, uint256) private pure returns (uint256) {
        return Float32.ceil(a);
    }

    function floatRound(uint256 a, uint256, uint256) private pure returns (uint256) {
        return Float32.round(a);
    }

    function floatEq(uint256 a, uint256 b, uint256) private pure returns (uint256) {
        return Float32.eq(a, b);
    }

    function floatLt(uint256 a, uint256 b, uint256) private pure returns (uint256) {
        return Float32.lt(a, b);
    }

    function floatLe(uint256 a, uint256 b, uint256) private pure returns (uint256) {
        return Float32.le(a, b);
    }

    function floatCanonical(uint256 a, uint256, uint256) private pure returns (uint256) {
        return Float32.canonical(a);
    }

    function floatIsNaN(uint256 a, uint256, uint256) private pure returns (uint256) {
        return Float32.isNaN(a) ? 1 : 0;
    }

    function floatIsInfinite(uint256 a, uint256, uint256) private pure returns (uint256) {
        return Float32.isInfinite(a) ? 1 : 0;
    }

    function integerNeg(uint256 a, uint256, uint256 dtype) private pure returns (uint256) {
        return Integer.neg(a, dtype);
    }

    function integerAbs(uint256 a, uint256, uint256 dtype) private pure returns (uint256) {
        return Integer.abs(a, dtype);
    }

    function integerSign(uint256 a, uint256, uint256 dtype) private pure returns (uint256) {
        return Integer.sign(a, dtype);
    }

    function integerNot(uint256 a, uint256, uint256 dtype) private pure returns (uint256) {
        return Integer.not(a, dtype);
    }

    function castPair(uint256 a, uint256, uint256 dtypes) private pure returns (uint256) {
        return Cast.cast(a, dtypes & 0xff, dtypes >> 8);
    }
}
