// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {GasSchedule} from "../game/GasSchedule.sol";
import {Payouts} from "../game/Payouts.sol";
import {Pick} from "../types/GameState.sol";

/// @notice Makes the arithmetic of prices and payouts callable.
contract PriceHarness {
    event NextPrice(uint256 price);

    function draw(uint256 bond, uint256 price_) external pure returns (uint256 taken, uint256 left) {
        return Payouts.draw(bond, price_);
    }

    function due(uint256 bond, uint256 left, uint256 spent) external pure returns (uint256) {
        return Payouts.due(bond, left, spent);
    }

    function divide(
        uint256 collateral,
        uint256 bounty,
        uint256 dues
    ) external pure returns (uint256 toWinner, uint256 pot, uint256 toSink) {
        return Payouts.divide(collateral, bounty, dues);
    }

    function share(uint256 due_, uint256 pot, uint256 dues) external pure returns (uint256) {
        return Payouts.share(due_, pot, dues);
    }

    function forfeit(uint256 left, uint256 reward) external pure returns (uint256 toCaller, uint256 toWorker) {
        return Payouts.forfeit(left, reward);
    }

    function affordable(
        uint256 collateral,
        uint256 bounty,
        uint256 moves_,
        uint256 settlements_,
        uint256 wanted
    ) external pure returns (uint256) {
        return Payouts.affordable(collateral, bounty, moves_, settlements_, wanted);
    }

    function price(uint256 wanted, uint256 cap) external pure returns (uint256) {
        return GasSchedule.price(wanted, cap);
    }

    /// @dev By an event, because calls see no base fee.
    function emitNextPrice(uint256 cap) external {
        emit NextPrice(GasSchedule.nextPrice(cap));
    }

    /// @return open At a node `levels` below the root.
    /// @return reveal Of `2^hop` children.
    /// @return pick Of `levels` levels.
    /// @return expand Of `2^hop` children and `levels` siblings.
    function moves(
        uint256 hop,
        uint256 levels
    ) external pure returns (uint256 open, uint256 reveal, uint256 pick, uint256 expand) {
        return (
            GasSchedule.open(levels),
            GasSchedule.reveal(hop),
            GasSchedule.pick(levels),
            GasSchedule.expand(hop, levels)
        );
    }

    function seam(Pick calldata p) external pure returns (uint256) {
        return GasSchedule.seam(p);
    }

    /// @return one Gas for a settlement that leaves `games` open.
    /// @return all Gas of all settlements of `games`.
    function settlements(uint256 games) external pure returns (uint256 one, uint256 all) {
        return (GasSchedule.settle(games), GasSchedule.settlements(games));
    }

    function worst(uint256 k, uint256 maxStepGas) external pure returns (uint256 worker, uint256 challenger) {
        return (GasSchedule.worstWorker(k), GasSchedule.worstChallenger(k, maxStepGas));
    }

    /// @notice Returns the gas of a transaction with this call's calldata and `rest` more gas burnt.
    function transactionGas(bytes calldata, uint256 rest) external view returns (uint256) {
        return GasSchedule.transactionGas(gasleft() + rest);
    }

    /// @notice Returns the paid part of `most` gas for a transaction with this call's calldata and `rest` more gas
    /// burnt.
    function paid(uint256 most, uint256 rest) external view returns (uint256) {
        return GasSchedule.paid(most, gasleft() + rest);
    }

    /// @notice Makes the same call through a contract, which receives nothing.
    function paidToAContract(uint256 most, uint256 rest) external view returns (uint256) {
        return this.paid(most, rest);
    }
}
