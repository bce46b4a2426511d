// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ProtocolHarness} from "../../../contracts/test/ProtocolMocks.sol";

/// @notice What trees of bytes in calldata cost: each byte is copied once, to where memory is free, and no further.
contract TensorTreeGasTest {
    ProtocolHarness private _harness = new ProtocolHarness();

    /// @dev A chunk is copied and hashed, and with its neighbour's.
    function test_tensorRoot_costsSoMuchAChunk_howeverMany() external view {
        for (uint256 chunks = 1; chunks <= 256; chunks *= 16) {
            uint256 gas = _gasOf(abi.encodeCall(ProtocolHarness.tensorRoot, (new bytes(512 * chunks))));
            require(gas < 4_000 + 1_400 * chunks, "gas");
        }
    }

    function test_parentOf_costsSoMuchAHash_howeverMany() external view {
        for (uint256 children = 1; children <= 64; children *= 2) {
            uint256 gas = _gasOf(abi.encodeCall(ProtocolHarness.parentOf, (new bytes(32 * children))));
            require(gas < 4_000 + 350 * children, "gas");
        }
    }

    /// @dev With what a call itself costs, 2,600.
    function _gasOf(bytes memory call) private view returns (uint256 gas) {
        address harness = address(_harness);
        uint256 start = gasleft();
        (bool ok, ) = harness.staticcall(call);
        gas = start - gasleft();
        require(ok, "failed");
    }
}
