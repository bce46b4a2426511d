// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {IMarketEvents, JobRequest, JobStatus} from "../interfaces/IMarketEvents.sol";
import {IResultConsumer} from "../interfaces/IResultConsumer.sol";
import {IStakeVault} from "../interfaces/IStakeVault.sol";
import {JobId} from "../types/Ids.sol";
import {Job, JobIds} from "../types/Job.sol";

/// @title A market for unit tests of consumers: the test gives the answers.
/// @notice Stands in for the market, its vault and the stake asset, as far as `ResultConsumer` uses them. Anybody may
/// mint and answer here: never give a consumer on a real chain this market.
/// @dev Program, inputs and terms are not checked. The worker of a delivered question is not paid.
contract MockMarket is ERC20("Mock stake asset", "MOCK") {
    using JobIds for Job;

    /// @dev The question asks for no callback: the market would deliver, and the consumer would never learn of it.
    error NoCallback(JobId jobId);
    /// @dev The market would not deliver such an output on chain.
    error AboveMaxOutputBytes(JobId jobId, uint256 given, uint256 limit);
    /// @dev The consumer failed without a reason: most often because `callbackGas` does not suffice.
    error CallbackFailed(JobId jobId, uint256 callbackGas);

    /// @dev Gas that is left for this contract beside the callback.
    uint256 private constant RESERVE = 40_000;

    mapping(address account => uint256) private _creditOf;
    mapping(JobId jobId => JobStatus) private _statusOf;
    mapping(JobId jobId => Job) private _jobWithId;

    /// @notice Makes stake asset out of nothing.
    function mint(address account, uint256 amount) external {
        _mint(account, amount);
    }

    /// @notice Answers a question of one output, by calling the consumer as the market would: with exactly the
    /// question's `callbackGas`. May be called again, as the market calls again after a failure.
    /// @dev Reverts as the consumer does, where the market would only note the failure. Reverts with `WrongJobStatus`,
    /// `NoCallback`, `AboveMaxOutputBytes`, `TooLittleGas` and `CallbackFailed`.
    /// @param jobId The question's job.
    /// @param data The output tensor: little-endian, row-major.
    function deliver(JobId jobId, bytes calldata data) external {
        deliverOutput(jobId, 0, data);
    }

    /// @notice The same for one of several outputs.
    /// @param jobId The question's job.
    /// @param output Number of the output.
    /// @param data The output tensor: little-endian, row-major.
    function deliverOutput(JobId jobId, uint256 output, bytes calldata data) public {
        Job memory job = _jobWithId[jobId];
        JobStatus status = _statusOf[jobId];
        if (status != JobStatus.Finalised) _requireOpen(jobId);
        require(job.callbackGas != 0, NoCallback(jobId));
        require(data.length <= job.maxOutputBytes, AboveMaxOutputBytes(jobId, data.length, job.maxOutputBytes));
        _statusOf[jobId] = JobStatus.Finalised;
        uint256 available = gasleft();
        uint256 needed = ((uint256(job.callbackGas) + RESERVE) * 64) / 63;
        require(available >= needed, IMarketEvents.TooLittleGas(available, needed));
        // solhint-disable-next-line no-empty-blocks
        try IResultConsumer(job.requester).onResult{gas: job.callbackGas}(jobId, output, data) {} catch (
            bytes memory reason
        ) {
            require(reason.length != 0, CallbackFailed(jobId, job.callbackGas));
            assembly ("memory-safe") {
                revert(add(reason, 0x20), mload(reason))
            }
        }
    }

    /// @notice A question's job, for `refund` of the consumer.
    function jobWithId(JobId jobId) external view returns (Job memory) {
        return _jobWithId[jobId];
    }

    /// @notice As in `IJobMarket`.
    function post(JobRequest calldata request) external returns (JobId jobId) {
        Job memory job;
        job.requester = msg.sender;
        job.programRoot = sha256(
            abi.encodePacked(
                bytes1(0),
                request.program.header,
                request.program.stepsRoot,
                request.program.checkpointsRoot
            )
        );
        job.inputsRoot = keccak256(abi.encode(request.inputRoots));
        (job.items, job.firstItem) = (request.items, request.firstItem);
        (job.fee, job.window, job.claimSeconds) = (request.fee, request.window, request.claimSeconds);
        (job.deadline, job.callbackGas) = (request.deadline, request.callbackGas);
        (job.maxOutputBytes, job.rootOnly, job.salt) = (request.maxOutputBytes, request.rootOnly, request.salt);
        jobId = job.newJobId(address(this));
        require(_statusOf[jobId] == JobStatus.None, IMarketEvents.JobExists(jobId));
        _spend(request.fee);
        _statusOf[jobId] = JobStatus.Open;
        _jobWithId[jobId] = job;
    }

    /// @notice As in `IMarketExtension`: the whole fee comes back.
    function cancel(Job calldata job) external {
        JobId jobId = job.jobId(address(this));
        require(msg.sender == job.requester, IMarketEvents.NotRequester(msg.sender, job.requester));
        _requireOpen(jobId);
        _statusOf[jobId] = JobStatus.Closed;
        _creditOf[job.requester] += job.fee;
    }

    /// @notice As in `IMarketExtension`.
    function refundOf(Job calldata job) external view returns (bool returned, uint256 amount) {
        returned = _statusOf[job.jobId(address(this))] == JobStatus.Closed;
        amount = returned ? job.fee : 0;
    }

    /// @notice As in `IJobMarket`: only the status.
    function jobOf(JobId jobId) external view returns (JobStatus, address, uint256, uint256) {
        return (_statusOf[jobId], address(0), 0, 0);
    }

    /// @notice As in `IJobMarket`.
    function jobIdOf(Job calldata job) external view returns (JobId) {
        return job.jobId(address(this));
    }

    /// @notice As in `IJobMarket`: this contract is the vault, too.
    function vault() external view returns (address) {
        return address(this);
    }

    /// @notice As in `IStakeVault`: this contract is the stake asset, too.
    function asset() external view returns (address) {
        return address(this);
    }

    /// @notice As in `IStakeVault`.
    function deposit(address account, uint256 amount) external {
        require(amount != 0, IStakeVault.ZeroAmount());
        _spendAllowance(msg.sender, address(this), amount);
        _transfer(msg.sender, address(this), amount);
        _creditOf[account] += amount;
    }

    /// @notice As in `IStakeVault`.
    function withdraw(uint256 amount, address to) external {
        require(amount != 0, IStakeVault.ZeroAmount());
        _spend(amount);
        _transfer(address(this), to, amount);
    }

    /// @notice As in `IStakeVault`: only the credit.
    function accountOf(address account) external view returns (uint256, uint256, uint256, uint256, uint256) {
        return (_creditOf[account], 0, 0, 0, 0);
    }

    function _spend(uint256 amount) private {
        uint256 credit = _creditOf[msg.sender];
        require(credit >= amount, IStakeVault.InsufficientCredit(msg.sender, credit, amount));
        _creditOf[msg.sender] = credit - amount;
    }

    function _requireOpen(JobId jobId) private view {
        JobStatus status = _statusOf[jobId];
        require(status == JobStatus.Open, IMarketEvents.WrongJobStatus(jobId, status, JobStatus.Open));
    }
}
