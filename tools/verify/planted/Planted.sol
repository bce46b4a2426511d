// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Which planted bug is alive: in the copy that tools/verify/planted makes, the length of some account's code.
library Planted {
    address internal constant AT = address(0xb06);

    function on(uint256 bug) internal view returns (bool) {
        return AT.code.length == bug;
    }
}
