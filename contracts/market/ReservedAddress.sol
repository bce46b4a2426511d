// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Reserves an address for a contract. Contracts deployed before it, which it needs, can then name the address.
/// @dev Contracts that name each other do not fit one transaction. A contract's first creation has a known address
/// (nonce 1, EIP-161), whatever else the contract's deployer sends in between.
abstract contract ReservedAddress {
    error NotOwner(address caller, address owner);
    error AlreadyDeployed(address reserved);
    error NothingDeployed(address reserved);

    event Deployed(address indexed reserved);

    /// @notice Who reserved the address: only that account may deploy there.
    address public immutable owner;
    /// @notice The reserved address.
    address public immutable reserved;

    constructor() {
        owner = msg.sender;
        // RLP of the list of this address and 1.
        reserved = address(uint160(uint256(keccak256(abi.encodePacked(hex"d694", address(this), hex"01")))));
    }

    /// @dev Deploys a contract at the reserved address, for the owner.
    /// @param creationCode The contract's creation code, without arguments.
    /// @param arguments The arguments of the contract's constructor, ABI-encoded.
    function _deploy(bytes calldata creationCode, bytes memory arguments) internal {
        require(msg.sender == owner, NotOwner(msg.sender, owner));
        require(reserved.code.length == 0, AlreadyDeployed(reserved));
        bytes memory code = abi.encodePacked(creationCode, arguments);
        assembly ("memory-safe") {
            if iszero(create(0, add(code, 0x20), mload(code))) {
                // Forward the constructor's revert data. Memory is not used after this.
                let free := mload(0x40)
                returndatacopy(free, 0, returndatasize())
                revert(free, returndatasize())
            }
        }
        // SAFETY: revert a creation that leaves no code or has another address: otherwise the reserved address would be
        // used up.
        require(reserved.code.length != 0, NothingDeployed(reserved));
        emit Deployed(reserved);
    }
}
