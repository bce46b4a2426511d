// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IClaimContract} from "../interfaces/IClaimContract.sol";
import {ClaimStatus, IMarketEvents} from "../interfaces/IMarketEvents.sol";
import {IDisputeGame} from "../interfaces/IDisputeGame.sol";
import {IStakeVault} from "../interfaces/IStakeVault.sol";
import {ClaimId, JobId} from "../types/Ids.sol";
import {ClaimKey, Job, JobIds} from "../types/Job.sol";
import {Parameters} from "../types/Parameters.sol";
import {ClaimGuards} from "./ClaimGuards.sol";

/// @title A contract with claims that a dispute game decides: the job market, or claims behind pledges.
/// @dev Vault and game are deployed before, name this contract's address and have its parameters. The three contracts
/// therefore know each other for good, and nobody else has a say.
abstract contract ClaimContract is IClaimContract, ClaimGuards {
    using JobIds for ClaimKey;

    modifier onlyGame() {
        require(msg.sender == address(_game), IMarketEvents.NotGame(msg.sender));
        _;
    }

    /// @inheritdoc IClaimContract
    function gameOpened(JobId jobId, ClaimId claimId, address challenger, uint256 bond) external onlyGame {
        (ClaimStatus status, uint256 windowEnd) = _stateOf(jobId, claimId);
        _requireClaim(claimId, status, ClaimStatus.Submitted);
        require(block.timestamp <= windowEnd, IMarketEvents.WindowClosed(claimId, windowEnd));
        _requireBacked(claimId);
        _vault.take(challenger, bond);
    }

    /// @inheritdoc IClaimContract
    function vault() external view returns (IStakeVault) {
        return _vault;
    }

    /// @inheritdoc IClaimContract
    function game() external view returns (IDisputeGame) {
        return _game;
    }

    /// @inheritdoc IClaimContract
    function claimStatus(ClaimKey calldata key) external view returns (ClaimStatus status, uint256 time) {
        ClaimId claimId = key.claimId();
        (, bool dead, , ) = _game.claimGames(claimId);
        (status, time) = _stateOf(key.jobId, claimId);
        if (dead) status = ClaimStatus.Refuted;
    }

    /// @inheritdoc IClaimContract
    function jobIdOf(Job calldata job) public view returns (JobId) {
        return JobIds.jobId(job, address(this));
    }

    /// @dev Returns a claim's status by what this contract stored, and the time since when or up to when the status
    /// holds, as `claimStatus` does.
    function _stateOf(JobId jobId, ClaimId claimId) internal view virtual returns (ClaimStatus, uint256 time);

    /// @dev Requires that the claim's worker can still lose something. A job's claim locks its own collateral, and
    /// needs no check.
    // solhint-disable-next-line no-empty-blocks
    function _requireBacked(ClaimId claimId) internal view virtual {}

    /// @dev Requires that vault and game belong to this contract and have its parameters.
    function _requireOwn(Parameters memory p) internal view {
        require(_vault.market() == address(this), IMarketEvents.NotItsMarket(address(_vault), _vault.market()));
        address market = address(_game.market());
        require(market == address(this), IMarketEvents.NotItsMarket(address(_game), market));
        require(_vault.withdrawalDelay() == p.withdrawalDelay, IMarketEvents.OtherParameters(address(_vault)));
        require(_game.parametersHash() == keccak256(abi.encode(p)), IMarketEvents.OtherParameters(address(_game)));
    }
}
