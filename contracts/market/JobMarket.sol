// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {IJobMarket} from "../interfaces/IJobMarket.sol";
import {Deployment, Delivery, JobStatus, ClaimStatus} from "../interfaces/IMarketEvents.sol";
import {IMarketExtension} from "../interfaces/IMarketExtension.sol";
import {IDisputeGame} from "../interfaces/IDisputeGame.sol";
import {IStakeVault} from "../interfaces/IStakeVault.sol";
import {Descent} from "../game/Descent.sol";
import {Payouts} from "../game/Payouts.sol";
import {MarketExtension} from "./MarketExtension.sol";
import {JobPosting} from "./JobPosting.sol";
import {JobRecords} from "./JobRecords.sol";
import {Runs} from "../program/Runs.sol";
import {ResultDelivery} from "./ResultDelivery.sol";
import {Claim, ClaimKey, Job, JobIds} from "../types/Job.sol";
import {Parameters} from "../types/Parameters.sol";
import {PositionalMerkle} from "../merkle/PositionalMerkle.sol";

/// @title The job market. See IJobMarket.
/// @dev Posting and delivery are its base contracts; here is what lies between: claims, submissions, expiry, and the
/// game's part.
contract JobMarket is ResultDelivery, JobPosting {
    modifier onlyGame() {
        require(msg.sender == address(_game), NotGame(msg.sender));
        _;
    }

    MarketExtension private immutable _extension;

    /// @dev Vault and game were deployed before and name this address, so that the three know each other for good and
    /// nobody else has a say. Reverts with `NotItsMarket` or `OtherParameters`, and as `ParameterChecks.check`.
    /// @param vault_ The vault, deployed before with this address as its market.
    /// @param game_ The game, likewise.
    /// @param extension_ The code of rare calls, deployed before with the same vault, game and parameters.
    /// @param p Parameters of the deployment.
    constructor(
        IStakeVault vault_,
        IDisputeGame game_,
        MarketExtension extension_,
        Parameters memory p
    ) JobRecords(vault_, game_, p) {
        require(vault_.market() == address(this), NotItsMarket(address(vault_), vault_.market()));
        require(address(game_.market()) == address(this), NotItsMarket(address(game_), address(game_.market())));
        require(vault_.withdrawalDelay() == p.withdrawalDelay, OtherParameters(address(vault_)));
        require(game_.parametersHash() == keccak256(abi.encode(p)), OtherParameters(address(game_)));
        bytes32 extensionOf = keccak256(abi.encode(vault_, game_, p));
        require(extension_.extensionOf() == extensionOf, OtherParameters(address(extension_)));
        _extension = extension_;
    }

    /* ---- Claims and submissions ---- */

    /// @inheritdoc IJobMarket
    function claim(Job calldata job) external {
        bytes32 jobId = _jobId(job);
        require(job.termsHash == 0, HasTerms(jobId));
        _needJob(jobId, _jobs[jobId].status, JobStatus.Open);
        require(_hasTime(job), DeadlineTooSoon(job.deadline, block.timestamp + job.claimSeconds));
        require(_provisioning.isLive(msg.sender), NotLive(msg.sender));
        uint256 until = block.timestamp + job.claimSeconds;
        _jobs[jobId] = JobRecord(JobStatus.Claimed, uint40(until), bytes26(bytes20(msg.sender)));
        emit JobClaimed(jobId, msg.sender, until);
        _vault.lock(msg.sender, _collateral);
    }

    /// @inheritdoc IJobMarket
    function submit(Job calldata job, bytes calldata nodes) external returns (bytes32 claimId) {
        bytes32 jobId = _jobId(job);
        JobRecord memory record = _jobs[jobId];
        _needJob(jobId, record.status, JobStatus.Claimed);
        address worker = address(bytes20(record.subject));
        require(msg.sender == worker, NotWorker(msg.sender, worker));
        require(block.timestamp <= record.number, TimeIsUp(record.number));
        bytes32 root = _claimRoot(job, nodes);
        claimId = JobIds.claimId(jobId, msg.sender, root, _collateral);
        (, bool dead, , ) = _game.claimGames(claimId);
        // SAFETY: a refuted claim, against which no game can be opened, cannot come back under the same name.
        require(!dead, ClaimExists(claimId));
        uint256 windowEnd = block.timestamp + job.window;
        _jobs[jobId] = JobRecord(JobStatus.Submitted, uint40(windowEnd), bytes26(claimId));
        emit ClaimSubmitted(jobId, claimId, msg.sender, root, _collateral, windowEnd, nodes);
    }

    /* ---- Expiry and cancellation ---- */

    /// @inheritdoc IJobMarket
    function expire(Job calldata job) external {
        bytes32 jobId = _jobId(job);
        JobRecord storage record = _jobs[jobId];
        JobStatus status = record.status;
        if (status == JobStatus.Claimed) {
            require(block.timestamp > record.number, TimeNotUp(record.number));
            _expireClaimed(jobId, address(bytes20(record.subject)), _hasTime(job) ? JobStatus.Open : JobStatus.Closed);
            if (record.status == JobStatus.Closed) _refund(jobId, job, 0);
        } else {
            require(
                status == JobStatus.Open || status == JobStatus.AwaitingInput,
                WrongJobStatus(jobId, status, JobStatus.Open)
            );
            require(!_hasTime(job), TimeNotUp(job.deadline - job.claimSeconds));
            record.status = JobStatus.Closed;
            _refund(jobId, job, msg.sender == job.requester ? 0 : Math.min(_expiryReward(), job.fee));
        }
    }

    /* ---- The game's calls ---- */

    /// @inheritdoc IJobMarket
    function gameOpened(bytes32 jobId, bytes32 claimId, address challenger, uint256 bond) external onlyGame {
        JobRecord memory record = _jobs[jobId];
        _needClaim(claimId, _statusOf(record, claimId), ClaimStatus.Submitted);
        require(block.timestamp <= record.number, WindowClosed(claimId, record.number));
        _vault.take(challenger, bond);
    }

    /// @inheritdoc IJobMarket
    function pay(address account, uint256 amount) external onlyGame {
        _vault.give(account, amount);
    }

    /// @inheritdoc IJobMarket
    function refuted(ClaimKey calldata key, bytes32 claimId) external onlyGame returns (uint256 collateral) {
        collateral = key.collateral;
        // INVARIANT: a claim dies once.
        _needClaim(claimId, _statusOf(_jobs[key.jobId], claimId), ClaimStatus.Submitted);
        _reopen(key.jobId, JobStatus.Open);
        emit ClaimRefuted(key.jobId, claimId, key.worker, collateral);
        _vault.slash(key.worker, collateral);
    }

    /* ---- Calls of the extension: the call ends there, and what follows in a view only names its result ---- */

    /// @inheritdoc IMarketExtension
    function cancel(Job calldata) external {
        _extend();
    }

    /// @inheritdoc IMarketExtension
    function accept(Claim calldata) external {
        _extend();
    }

    /// @inheritdoc IMarketExtension
    function reclaim(Claim calldata) external {
        _extend();
    }

    /// @inheritdoc IMarketExtension
    function requireOutput(Claim calldata, uint256, Delivery calldata) external view {
        _extendedView();
    }

    /// @inheritdoc IMarketExtension
    function refundOf(Job calldata) external view returns (bool returned, uint256 amount) {
        _extendedView();
        return (returned, amount);
    }

    /// @inheritdoc IMarketExtension
    function deployment() external view returns (Deployment memory facts) {
        _extendedView();
        return facts;
    }

    /* ---- Views ---- */

    /// @inheritdoc IJobMarket
    function jobOf(
        bytes32 jobId
    ) external view returns (JobStatus status, address worker, uint256 until, uint256 missingParts) {
        JobRecord memory record = _jobs[jobId];
        status = record.status;
        if (status == JobStatus.Claimed) worker = address(bytes20(record.subject));
        if (status == JobStatus.AwaitingInput) missingParts = record.number;
        else until = record.number;
    }

    /// @inheritdoc IJobMarket
    function vault() external view returns (IStakeVault) {
        return _vault;
    }

    /// @inheritdoc IJobMarket
    function game() external view returns (IDisputeGame) {
        return _game;
    }

    /// @inheritdoc IJobMarket
    function jobIdOf(Job calldata job) external view returns (bytes32) {
        return _jobId(job);
    }

    /* ---- Helpers ---- */

    /// @dev The root over the nodes of a claim's list that a reveal at its root would show; of an answer, over all its
    /// outputs.
    function _claimRoot(Job calldata job, bytes calldata nodes) private view returns (bytes32 root) {
        uint256 width = Runs.claimWidth(job);
        uint256 depth = PositionalMerkle.depth(width);
        uint256 hop = job.answers == 0 ? Descent.hopOf(depth, _arityBits) : depth;
        root = Descent.checkChildren(0, width, depth, hop, nodes);
        require(root != 0, ZeroClaimRoot());
    }

    /// @dev Ends the claim of a worker that missed its time: takes the penalty, unlocks the rest of the collateral.
    function _expireClaimed(bytes32 jobId, address worker, JobStatus next) private {
        uint256 penalty = Payouts.penalty(_collateral, _penaltyBps);
        emit JobExpired(jobId, worker, penalty);
        _reopen(jobId, next);
        _vault.slash(worker, penalty);
        _vault.unlock(worker, _collateral - penalty);
        // SAFETY: a worker that is late gets nothing of its penalty back, and others no more than their gas (never
        // above the penalty: ParameterChecks).
        uint256 reward = msg.sender == worker ? 0 : _expiryReward();
        if (reward != 0) _vault.give(msg.sender, reward);
        _vault.give(_sink, penalty - reward);
    }

    /// @dev Runs this call's data by the extension's code, on this contract's storage, and ends the call with what that
    /// returns or reverts with.
    function _extend() private {
        address code = address(_extension);
        assembly ("memory-safe") {
            let data := mload(0x40)
            calldatacopy(data, 0, calldatasize())
            let ok := delegatecall(gas(), code, data, calldatasize(), 0, 0)
            returndatacopy(data, 0, returndatasize())
            if iszero(ok) {
                revert(data, returndatasize())
            }
            return(data, returndatasize())
        }
    }

    /// @dev The same for a view. SAFETY: the extension's functions of these names are views too.
    function _extendedView() private view {
        function() view extend;
        function() stateChanging = _extend;
        assembly ("memory-safe") {
            extend := stateChanging
        }
        extend();
    }
}
