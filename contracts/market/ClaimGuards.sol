// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ClaimStatus, IMarketEvents} from "../interfaces/IMarketEvents.sol";
import {IDisputeGame} from "../interfaces/IDisputeGame.sol";
import {IStakeVault} from "../interfaces/IStakeVault.sol";
import {ClaimId} from "../types/Ids.sol";

/// @title What has a vault, a game and claims: the conditions under which a claim is disputed and becomes final.
/// @dev SAFETY: without storage. The market and its extension share this code, and each declares its own storage.
abstract contract ClaimGuards {
    IStakeVault internal immutable _vault;
    IDisputeGame internal immutable _game;

    constructor(IStakeVault vault_, IDisputeGame game_) {
        _vault = vault_;
        _game = game_;
    }

    /// @dev Requires that a claim's window has ended.
    function _requireOver(ClaimId claimId, uint256 windowEnd) internal view {
        require(block.timestamp > windowEnd, IMarketEvents.WindowOpen(claimId, windowEnd));
    }

    /// @dev Requires that nobody disputes a claim.
    function _requireUndisputed(ClaimId claimId) internal view {
        (uint256 games, , , ) = _game.claimGames(claimId);
        // INVARIANT: no claim stands while anybody disputes it.
        require(games == 0, IMarketEvents.GamesOpen(claimId, games));
    }

    /// @dev Requires a status of a claim.
    function _requireClaim(ClaimId claimId, ClaimStatus actual, ClaimStatus needed) internal pure {
        require(actual == needed, IMarketEvents.WrongClaimStatus(claimId, actual, needed));
    }
}
