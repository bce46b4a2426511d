// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {vm} from "./Vm.sol";

/// @title Deploys contracts as they are built for deployment.
/// @dev Tests import interfaces only: what they import is compiled once more with them, by their own settings.
library Shipped {
    error NotDeployed(string name);

    /// @notice The code that creates a contract, without arguments.
    /// @param name `FILE:CONTRACT`, as in `contracts/vault/StakeVault.sol:StakeVault`.
    function creationCode(string memory name) internal view returns (bytes memory) {
        return vm.getCode(name);
    }

    /// @notice Deploys a contract. Reverts with `NotDeployed` if its constructor reverts.
    /// @param name As above.
    /// @param arguments Its constructor's, as `abi.encode` of them.
    function deploy(string memory name, bytes memory arguments) internal returns (address deployed) {
        bytes memory code = abi.encodePacked(vm.getCode(name), arguments);
        assembly ("memory-safe") {
            deployed := create(0, add(code, 0x20), mload(code))
        }
        require(deployed != address(0), NotDeployed(name));
    }
}
