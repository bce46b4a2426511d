// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title The arithmetic of deposits, and the draw.
/// @dev Pure, checked by solc's SMTChecker (test/contracts/smt/TicketProofs.sol): nothing is made or lost, and no
/// number that is taken from grows.
library TicketAccounts {
    /// @notice Takes a face from a deposit: from what is not asked back first.
    /// @param free What is not asked back.
    /// @param withdrawing What is.
    /// @param face At most their sum.
    function reserve(
        uint256 free,
        uint256 withdrawing,
        uint256 face
    ) internal pure returns (uint256 freeLeft, uint256 withdrawingLeft) {
        if (face <= free) return (free - face, withdrawing);
        return (0, withdrawing - (face - free));
    }

    /// @notice Moves a part of what is free to what is asked back.
    /// @param amount At most `free`.
    function request(
        uint256 free,
        uint256 withdrawing,
        uint256 amount
    ) internal pure returns (uint256 freeLeft, uint256 withdrawingMore) {
        return (free - amount, withdrawing + amount);
    }

    /// @notice The number that a ticket draws: both sides chose a part of it without knowing the other's.
    /// @param secret The worker's, of which the signed claim has the hash.
    /// @param ticketDigest Of what the payer signed after that.
    function draw(bytes32 secret, bytes32 ticketDigest) internal pure returns (uint256) {
        return uint256(keccak256(abi.encode(secret, ticketDigest)));
    }
}
