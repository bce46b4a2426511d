// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IJobMarket} from "../interfaces/IJobMarket.sol";
import {JobRequest, JobStatus} from "../interfaces/IMarketEvents.sol";
import {IResultConsumer} from "../interfaces/IResultConsumer.sol";
import {IStakeVault} from "../interfaces/IStakeVault.sol";
import {JobId} from "../types/Ids.sol";
import {Job} from "../types/Job.sol";
import {Fees} from "./Fees.sol";

/// @title The base of a dapp that asks the market on behalf of others and takes the answers.
/// @notice The asker brings the fee, and gets back any returned part: `refund`.
/// @dev A dapp calls `_ask` and implements `_onResult`. The dapp must pin the program itself: an answer of any other
/// program means nothing. This contract pins the market, and thereby the collateral that backs an answer.
///
/// The dapp acts as requester in all jobs: returned fees are credited to the dapp, and only the dapp can cancel.
/// INVARIANT: the dapp's credit in the vault covers at least the refunds owed for its closed questions. A dapp must not
/// spend this credit otherwise.
abstract contract ResultConsumer is IResultConsumer {
    error NotMarket(address caller);
    error NotAsked(JobId jobId);
    error NotAsker(JobId jobId, address caller, address asker);
    error FeeNotReturned(JobId jobId, JobStatus status);
    error WindowBelowMinimum(uint32 given, uint32 least);

    event Asked(JobId indexed jobId, address indexed asker);
    event Refunded(JobId indexed jobId, address indexed asker, uint256 amount);

    /// @notice The only market whose results are taken.
    IJobMarket public immutable market;
    /// @notice The market's vault, holding this contract's credit.
    IStakeVault public immutable vault;
    /// @notice The stake asset, in which fees are paid.
    IERC20 public immutable asset;
    /// @notice Shortest window of a question, seconds: how long a watcher may dispute an answer.
    uint32 public immutable minWindow;

    /// @notice Who asked a question and gets its fee back; zero if nobody did or the fee was refunded.
    mapping(JobId jobId => address) public askerOf;

    /// @param market_ The market to ask.
    /// @param minWindow_ Shortest window of a question, seconds.
    constructor(IJobMarket market_, uint32 minWindow_) {
        market = market_;
        vault = market_.vault();
        asset = vault.asset();
        minWindow = minWindow_;
    }

    /// @inheritdoc IResultConsumer
    /// @dev Reverts with `NotMarket` or `NotAsked`, and as `_onResult` does.
    function onResult(JobId jobId, uint256 output, bytes calldata data) external {
        require(msg.sender == address(market), NotMarket(msg.sender));
        require(askerOf[jobId] != address(0), NotAsked(jobId));
        _onResult(jobId, output, data);
    }

    /// @notice Sends the returned part of a question's fee to its asker, who calls. This call cancels a question
    /// without a worker, and first takes a question away from a late worker. The market's `reclaim` returns the fee of
    /// a final claim that nobody delivers; anybody may call `reclaim` before.
    /// @dev Reverts with `NotAsker` (also the second time), with `FeeNotReturned` while a claim is not final or if its
    /// worker has the fee, with the market's `TimeNotUp` while a worker computes, and as the asset does.
    /// @param job The whole job, as in the market's event `JobPosted`.
    /// @return amount Smallest units of the asset: the fee, less the market's payments to others for closing the job.
    function refund(Job calldata job) external returns (uint256 amount) {
        JobId jobId = market.jobIdOf(job);
        address asker = askerOf[jobId];
        require(msg.sender == asker, NotAsker(jobId, msg.sender, asker));
        // SAFETY: forgotten before the asset can call back in: each fee goes out once.
        delete askerOf[jobId];
        JobStatus status = _statusOf(jobId);
        if (status == JobStatus.Claimed) {
            market.expire(job);
            status = _statusOf(jobId);
        }
        if (status == JobStatus.Open || status == JobStatus.AwaitingInput) market.cancel(job);
        bool returned;
        (returned, amount) = market.refundOf(job);
        require(returned, FeeNotReturned(jobId, status));
        emit Refunded(jobId, asker, amount);
        if (amount != 0) vault.withdraw(amount, asker);
    }

    /// @dev Takes one output of this contract's question. Only the market calls this function, until one call per
    /// output succeeds.
    /// @param jobId The question's job.
    /// @param output Number of the output.
    /// @param data The output tensor: little-endian, row-major.
    function _onResult(JobId jobId, uint256 output, bytes calldata data) internal virtual;

    /// @dev Posts a job with the caller's fee. The caller must have approved the fee to this contract. Reverts with
    /// `WindowBelowMinimum` or `FeeNotArrived`, and as the asset and the market's `post` do.
    /// @param request The request. A hash of salt and caller replaces the salt.
    /// @return jobId The question's job.
    function _ask(JobRequest memory request) internal returns (JobId jobId) {
        require(request.window >= minWindow, WindowBelowMinimum(request.window, minWindow));
        Fees.collect(vault, asset, msg.sender, request.fee);
        // SAFETY: nobody can post a question with another asker's terms first, which would make that asker's fail.
        request.salt = keccak256(abi.encode(msg.sender, request.salt));
        jobId = market.post(request);
        askerOf[jobId] = msg.sender;
        emit Asked(jobId, msg.sender);
    }

    function _statusOf(JobId jobId) private view returns (JobStatus status) {
        (status, , , ) = market.jobOf(jobId);
    }
}
