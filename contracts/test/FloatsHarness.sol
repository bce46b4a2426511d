// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Floats} from "../consumer/Floats.sol";

/// @title Exposes the reading of float32 outputs as contract functions.
contract FloatsHarness {
    function bitsAt(bytes calldata tensor, uint256 index) external pure returns (uint32) {
        return Floats.bitsAt(tensor, index);
    }

    /// @notice All numbers of a tensor.
    function fixedOf(bytes calldata tensor, uint256 decimals) external pure returns (int256[] memory all) {
        all = new int256[](tensor.length / 4);
        for (uint256 k = 0; k < all.length; ++k) all[k] = Floats.fixedAt(tensor, k, decimals);
    }

    function fixedAt(bytes calldata tensor, uint256 index, uint256 decimals) external pure returns (int256) {
        return Floats.fixedAt(tensor, index, decimals);
    }
}
