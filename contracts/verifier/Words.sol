// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {DType} from "./DType.sol";
import {Float} from "./Float.sol";
import {Float32} from "./Float32.sol";
import {Integer} from "./Integer.sol";

/// @title Words: one element each. Mirrors `canonicalWord` of src/numerics/dtype.ts.
library Words {
    /// @notice Returns the word for a tensor's element: its low bits extended; one zero, one NaN; a bool is 0 or 1.
    function canonical(uint256 raw, uint256 dtype) internal pure returns (uint256) {
        if (dtype == DType.FLOAT32) return Float32.canonical(raw);
        return DType.isFloat(dtype) ? Float.canonical(raw, dtype) : Integer.wrap(raw, dtype);
    }
}
