// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title How bonds and the collateral of a dead claim are divided.
/// @dev Pure arithmetic, checked by solc's SMTChecker (test/contracts/smt/PayoutProofs.sol). Amounts have at most 128
/// bits, dues 112.
library Payouts {
    /// @notice Returns the price of a worker's move drawn from the bond, limited by the bond, and the bond's rest.
    function draw(uint256 bond, uint256 price) internal pure returns (uint256 paid, uint256 left) {
        paid = _min(price, bond);
        left = bond - paid;
    }

    /// @notice Returns the amount due to a game if the claim dies: the worker's draws from the bond and the
    /// challenger's own moves.
    function due(uint256 bond, uint256 left, uint256 spent) internal pure returns (uint256) {
        return bond - left + spent;
    }

    /// @notice A slashed collateral: the winner's bounty, the pot for all games alive, and of the pot what they are not
    /// due, for the sink.
    function divide(
        uint256 collateral,
        uint256 bounty,
        uint256 dues
    ) internal pure returns (uint256 toWinner, uint256 pot, uint256 toSink) {
        toWinner = _min(bounty, collateral);
        pot = collateral - toWinner;
        toSink = pot > dues ? pot - dues : 0;
    }

    /// @notice Returns the price per unit of settlement gas: the wanted price, limited by the pot's remainder after
    /// moves.
    /// @param moves Amount due to all games alive for their moves.
    /// @param settlements Gas for settling all remaining games.
    function affordable(
        uint256 collateral,
        uint256 bounty,
        uint256 moves,
        uint256 settlements,
        uint256 wanted
    ) internal pure returns (uint256) {
        (, , uint256 spare) = divide(collateral, bounty, moves);
        return settlements == 0 ? 0 : _min(wanted, spare / settlements);
    }

    /// @notice Returns a due in full, or its pro rata part if the pot is short.
    function share(uint256 due_, uint256 pot, uint256 dues) internal pure returns (uint256) {
        return pot >= dues ? due_ : (due_ * pot) / dues;
    }

    /// @notice Splits the rest of a timed-out challenger's bond: a reward to the caller, the rest to the worker.
    function forfeit(uint256 left, uint256 reward) internal pure returns (uint256 toCaller, uint256 toWorker) {
        toCaller = _min(reward, left);
        toWorker = left - toCaller;
    }

    /// @notice A missed deadline's penalty: a part of the collateral, in 1/10,000.
    function penalty(uint256 collateral, uint256 bps) internal pure returns (uint256) {
        return (collateral * bps) / 10_000;
    }

    /// @dev OpenZeppelin's works on bits, which solvers are slow at.
    function _min(uint256 a, uint256 b) private pure returns (uint256) {
        return a < b ? a : b;
    }
}
