// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title The arithmetic of deposits, and the draw.
/// @dev Pure, checked by solc's SMTChecker (test/contracts/smt/TicketProofs.sol): amounts are neither created nor lost,
/// and no balance grows when tokens are taken from it.
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

    /// @notice Moves an amount from the free part to the withdrawing part.
    /// @param amount At most `free`.
    function request(
        uint256 free,
        uint256 withdrawing,
        uint256 amount
    ) internal pure returns (uint256 freeLeft, uint256 withdrawingMore) {
        return (free - amount, withdrawing + amount);
    }

    /// @notice The number that a ticket draws: each side chose one input without knowing the other's.
    /// @param secret The worker's secret, whose hash the signed claim contains.
    /// @param ticketDigest Digest of the ticket that the payer signed afterwards.
    function draw(bytes32 secret, bytes32 ticketDigest) internal pure returns (uint256) {
        return uint256(keccak256(abi.encode(secret, ticketDigest)));
    }
}
