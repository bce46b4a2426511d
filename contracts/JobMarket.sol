// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {DisputeGame} from "./DisputeGame.sol";
import {StakeVault} from "./StakeVault.sol";
import {IDisputeGame} from "./interfaces/IDisputeGame.sol";
import {IJobMarket, JobStatus, ClaimStatus, JobRequest, InputPart, Delivery} from "./interfaces/IJobMarket.sol";
import {IProvisioning} from "./interfaces/IProvisioning.sol";
import {IStakeVault} from "./interfaces/IStakeVault.sol";
import {Callback} from "./lib/Callback.sol";
import {Inputs} from "./lib/Inputs.sol";
import {ParameterChecks} from "./lib/ParameterChecks.sol";
import {ProgramHeader} from "./lib/ProgramHeader.sol";
import {ProgramProofs} from "./lib/ProgramProofs.sol";
import {TensorTree} from "./lib/TensorTree.sol";
import {Job, Claim, JobIds} from "./types/Job.sol";
import {Parameters} from "./types/Parameters.sol";
import {ProgramFacts} from "./types/Program.sol";
import {IStepVerifier} from "./verifier/IStepVerifier.sol";
import {PositionalMerkle} from "./verifier/PositionalMerkle.sol";

/// @title The job market. See IJobMarket.
contract JobMarket is IJobMarket {
    using ProgramHeader for bytes;
    using ProgramProofs for ProgramFacts;
    using JobIds for Job;

    struct JobRecord {
        JobStatus status;
        address worker;
        uint40 until;
        uint40 missingParts;
    }

    struct ClaimRecord {
        ClaimStatus status;
        bool paid;
        uint40 windowEnd;
        uint64 delivered;
        uint64 calledBack;
    }

    /// @notice Most outputs of a program that can be served.
    uint256 public constant MAX_OUTPUTS = 64;
    /// @notice Largest output that can be delivered on chain, and largest part of an input, bytes.
    uint256 public constant MAX_OUTPUT_BYTES = Inputs.PART_BYTES;
    /// @notice Most gas a callback may ask for.
    uint256 public constant MAX_CALLBACK_GAS = 2_000_000;
    /// @notice Furthest deadline, seconds from the post.
    uint256 public constant LONGEST_JOB = 365 days;

    StakeVault private immutable _vault;
    DisputeGame private immutable _game;
    IProvisioning private immutable _provisioning;

    uint32 private immutable _baseWindow;
    uint32 private immutable _maxWindow;
    uint32 private immutable _baseClock;
    uint32 private immutable _withdrawalDelay;
    uint64 private immutable _rate;
    uint64 private immutable _maxWork;
    uint8 private immutable _arityBits;
    uint32 private immutable _maxStepGas;
    uint32 private immutable _bondGas;
    uint128 private immutable _priceCap;
    uint128 private immutable _bounty;
    uint128 private immutable _collateral;
    uint16 private immutable _penaltyBps;
    address private immutable _sink;

    mapping(bytes32 jobId => JobRecord) private _jobs;
    mapping(bytes32 claimId => ClaimRecord) private _claims;
    /// @dev Parts of inputs that are published, 256 to a word.
    mapping(bytes32 jobId => mapping(uint256 input => mapping(uint256 word => uint256))) private _published;

    modifier onlyGame() {
        require(msg.sender == address(_game), NotGame(msg.sender));
        _;
    }

    /// @dev Creates the vault and the game, so that the three know each other for good and nobody else has a say.
    constructor(IERC20 asset, IProvisioning provisioning, IStepVerifier verifier, Parameters memory p) {
        ParameterChecks.check(p);
        _baseWindow = p.baseWindow;
        _maxWindow = p.maxWindow;
        _baseClock = p.baseClock;
        _withdrawalDelay = p.withdrawalDelay;
        _rate = p.rate;
        _maxWork = p.maxWork;
        _arityBits = p.arityBits;
        _maxStepGas = p.maxStepGas;
        _bondGas = p.bondGas;
        _priceCap = p.priceCap;
        _bounty = p.bounty;
        _collateral = p.collateral;
        _penaltyBps = p.penaltyBps;
        _sink = p.sink;
        _provisioning = provisioning;
        _vault = new StakeVault(asset, provisioning, p.withdrawalDelay);
        _game = new DisputeGame(verifier, p);
    }

    /// @inheritdoc IJobMarket
    function post(JobRequest calldata request) external returns (bytes32 jobId) {
        Job memory job = _terms(request);
        jobId = job.jobId(address(this));
        require(_jobs[jobId].status == JobStatus.None, JobExists(jobId));
        uint256 missing = _checkInputs(jobId, request);
        _jobs[jobId] = JobRecord(
            missing == 0 ? JobStatus.Open : JobStatus.AwaitingInput,
            address(0),
            0,
            uint40(missing)
        );
        emit JobPosted(jobId, msg.sender, job.programRoot, job, request.program, request.inputRoots);
        if (missing == 0) emit JobOpened(jobId);
        if (job.fee != 0) _vault.take(msg.sender, job.fee);
    }

    /// @inheritdoc IJobMarket
    function publishInput(Job calldata job, ProgramFacts calldata program, InputPart calldata part) external {
        bytes32 jobId = jobIdOf(job);
        JobRecord storage record = _jobs[jobId];
        _needJob(jobId, record.status, JobStatus.AwaitingInput);
        _needProgram(program, job.programRoot);
        Inputs.checkPart(program.header, job.inputsRoot, part);
        mapping(uint256 => uint256) storage published = _published[jobId][part.input];
        uint256 bit = 1 << (part.part & 0xff);
        require(published[part.part >> 8] & bit == 0, PartAlreadyPublished(part.input, part.part));
        published[part.part >> 8] |= bit;
        record.missingParts -= 1;
        emit InputPublished(jobId, part.input, part.part, part.data);
        if (record.missingParts == 0) {
            record.status = JobStatus.Open;
            emit JobOpened(jobId);
        }
    }

    /// @inheritdoc IJobMarket
    function claim(Job calldata job) external {
        bytes32 jobId = jobIdOf(job);
        JobRecord storage record = _jobs[jobId];
        _needJob(jobId, record.status, JobStatus.Open);
        require(_hasTime(job), DeadlineTooSoon(job.deadline, block.timestamp + job.claimSeconds));
        require(_provisioning.isLive(msg.sender), NotLive(msg.sender));
        uint256 until = block.timestamp + job.claimSeconds;
        record.status = JobStatus.Claimed;
        record.worker = msg.sender;
        record.until = uint40(until);
        emit JobClaimed(jobId, msg.sender, until);
        _vault.lock(msg.sender, _collateral);
    }

    /// @inheritdoc IJobMarket
    function submit(Job calldata job, bytes32 traceRoot) external returns (bytes32 claimId) {
        bytes32 jobId = jobIdOf(job);
        JobRecord storage record = _jobs[jobId];
        _needJob(jobId, record.status, JobStatus.Claimed);
        require(msg.sender == record.worker, NotWorker(msg.sender, record.worker));
        require(block.timestamp <= record.until, TimeIsUp(record.until));
        require(traceRoot != 0, ZeroTraceRoot());
        claimId = JobIds.claimId(jobId, msg.sender, traceRoot);
        // SAFETY: a refuted claim cannot come back under the same name.
        require(_claims[claimId].status == ClaimStatus.None, ClaimExists(claimId));
        uint256 windowEnd = block.timestamp + job.window;
        record.status = JobStatus.Submitted;
        _claims[claimId] = ClaimRecord(ClaimStatus.Submitted, false, uint40(windowEnd), 0, 0);
        emit ClaimSubmitted(jobId, claimId, msg.sender, traceRoot, windowEnd);
    }

    /// @inheritdoc IJobMarket
    function finalise(Claim calldata claim_) external {
        (bytes32 jobId, bytes32 claimId, ClaimRecord storage record) = _claim(claim_, ClaimStatus.Submitted);
        require(block.timestamp > record.windowEnd, WindowOpen(claimId, record.windowEnd));
        (uint256 games, , , ) = _game.claimGames(claimId);
        // INVARIANT: no claim stands while anybody disputes it.
        require(games == 0, GamesOpen(claimId, games));
        record.status = ClaimStatus.Finalised;
        _jobs[jobId].status = JobStatus.Finalised;
        emit ClaimFinalised(jobId, claimId);
        _vault.unlock(claim_.worker, _collateral);
        if (claim_.job.deliverables == 0) _release(jobId, claimId, record, claim_);
    }

    /// @inheritdoc IJobMarket
    function deliver(Claim calldata claim_, Delivery calldata delivery) external {
        (bytes32 jobId, bytes32 claimId, ClaimRecord storage record) = _claim(claim_, ClaimStatus.Finalised);
        uint256 output = delivery.output;
        require(output < MAX_OUTPUTS && (claim_.job.deliverables >> output) & 1 == 1, NotDeliverable(output));
        _checkOutput(claim_, delivery);
        uint64 bit = uint64(1 << output);
        bool first = record.delivered & bit == 0;
        bool call = claim_.job.callbackGas != 0 && record.calledBack & bit == 0;
        require(first || call, AlreadyDelivered(claimId, output));
        if (first) {
            record.delivered |= bit;
            emit OutputDelivered(jobId, claimId, output, delivery.data);
            if (record.delivered == claim_.job.deliverables && !record.paid) _release(jobId, claimId, record, claim_);
        }
        if (call) {
            // SAFETY: marked before the call, so that a consumer that calls back in gets no second one.
            record.calledBack |= bit;
            if (Callback.onResult(claim_.job.requester, claim_.job.callbackGas, jobId, output, delivery.data)) {
                emit CallbackMade(jobId, output);
            } else {
                record.calledBack &= ~bit;
                emit CallbackFailed(jobId, output);
            }
        }
    }

    /// @inheritdoc IJobMarket
    function accept(Claim calldata claim_) external {
        (bytes32 jobId, bytes32 claimId, ClaimRecord storage record) = _claim(claim_, ClaimStatus.Finalised);
        require(msg.sender == claim_.job.requester, NotRequester(msg.sender, claim_.job.requester));
        require(!record.paid, AlreadyPaid(claimId));
        _release(jobId, claimId, record, claim_);
    }

    /// @inheritdoc IJobMarket
    function expire(Job calldata job) external {
        bytes32 jobId = jobIdOf(job);
        JobRecord storage record = _jobs[jobId];
        JobStatus status = record.status;
        if (status == JobStatus.Claimed) {
            require(block.timestamp > record.until, TimeNotUp(record.until));
            _expireClaimed(jobId, record, _hasTime(job) ? JobStatus.Open : JobStatus.Closed);
        } else {
            require(
                status == JobStatus.Open || status == JobStatus.AwaitingInput,
                WrongJobStatus(jobId, status, JobStatus.Open)
            );
            require(!_hasTime(job), TimeNotUp(job.deadline - job.claimSeconds));
            record.status = JobStatus.Closed;
        }
        if (record.status == JobStatus.Closed) _refund(jobId, job);
    }

    /// @inheritdoc IJobMarket
    function cancel(Job calldata job) external {
        bytes32 jobId = jobIdOf(job);
        JobRecord storage record = _jobs[jobId];
        require(msg.sender == job.requester, NotRequester(msg.sender, job.requester));
        require(
            record.status == JobStatus.Open || record.status == JobStatus.AwaitingInput,
            WrongJobStatus(jobId, record.status, JobStatus.Open)
        );
        record.status = JobStatus.Closed;
        _refund(jobId, job);
    }

    /// @inheritdoc IJobMarket
    function gameOpened(bytes32 claimId, address challenger, uint256 bond) external onlyGame {
        ClaimRecord storage record = _claims[claimId];
        _needClaim(claimId, record.status, ClaimStatus.Submitted);
        require(block.timestamp <= record.windowEnd, WindowClosed(claimId, record.windowEnd));
        _vault.take(challenger, bond);
    }

    /// @inheritdoc IJobMarket
    function pay(address account, uint256 amount) external onlyGame {
        _vault.give(account, amount);
    }

    /// @inheritdoc IJobMarket
    function refuted(bytes32 jobId, bytes32 claimId, address worker) external onlyGame returns (uint256 collateral) {
        collateral = _collateral;
        // INVARIANT: a claim dies once.
        _needClaim(claimId, _claims[claimId].status, ClaimStatus.Submitted);
        _claims[claimId].status = ClaimStatus.Refuted;
        _reopen(jobId, _jobs[jobId], JobStatus.Open);
        emit ClaimRefuted(jobId, claimId, worker, collateral);
        _vault.slash(worker, collateral);
    }

    /// @inheritdoc IJobMarket
    function jobOf(
        bytes32 jobId
    ) external view returns (JobStatus status, address worker, uint256 until, uint256 missingParts) {
        JobRecord storage record = _jobs[jobId];
        return (record.status, record.worker, record.until, record.missingParts);
    }

    /// @inheritdoc IJobMarket
    function claimOf(
        bytes32 claimId
    ) external view returns (ClaimStatus status, uint256 windowEnd, uint256 delivered, uint256 calledBack, bool paid) {
        ClaimRecord storage record = _claims[claimId];
        return (record.status, record.windowEnd, record.delivered, record.calledBack, record.paid);
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
    function parameters() external view returns (Parameters memory) {
        return
            Parameters({
                baseWindow: _baseWindow,
                maxWindow: _maxWindow,
                baseClock: _baseClock,
                withdrawalDelay: _withdrawalDelay,
                rate: _rate,
                maxWork: _maxWork,
                arityBits: _arityBits,
                maxStepGas: _maxStepGas,
                bondGas: _bondGas,
                priceCap: _priceCap,
                bounty: _bounty,
                collateral: _collateral,
                penaltyBps: _penaltyBps,
                sink: _sink
            });
    }

    /// @inheritdoc IJobMarket
    function jobIdOf(Job calldata job) public view returns (bytes32) {
        return JobIds.jobId(job, address(this));
    }

    /// @dev The job that a request asks for, with what the program says about it.
    function _terms(JobRequest calldata request) private view returns (Job memory job) {
        bytes calldata header = request.program.header;
        bytes32 programRoot = request.program.root();
        uint64 work = header.work();
        require(work <= _maxWork, TooMuchWork(work, _maxWork));
        require(header.maxStepGas() <= _maxStepGas, StepProofTooLarge(header.maxStepGas(), _maxStepGas));
        // INVARIANT: the window holds the slowest honest re-execution.
        uint256 least = _baseWindow + work / _rate;
        require(
            request.window >= least && request.window <= _maxWindow,
            WindowOutOfRange(request.window, least, _maxWindow)
        );
        require(request.claimSeconds != 0, ZeroClaimSeconds());
        uint256 earliest = block.timestamp + request.claimSeconds;
        require(request.deadline >= earliest, DeadlineTooSoon(request.deadline, earliest));
        uint256 latest = block.timestamp + LONGEST_JOB;
        require(request.deadline <= latest, DeadlineTooFar(request.deadline, latest));
        require(request.callbackGas <= MAX_CALLBACK_GAS, CallbackGasTooHigh(request.callbackGas, MAX_CALLBACK_GAS));
        require(
            request.maxOutputBytes <= MAX_OUTPUT_BYTES,
            OutputLimitTooHigh(request.maxOutputBytes, MAX_OUTPUT_BYTES)
        );
        job = Job({
            requester: msg.sender,
            programRoot: programRoot,
            inputsRoot: Inputs.listRoot(request.inputRoots),
            work: work,
            fee: request.fee,
            window: request.window,
            claimSeconds: request.claimSeconds,
            deadline: request.deadline,
            callbackGas: request.callbackGas,
            maxOutputBytes: request.maxOutputBytes,
            deliverables: _deliverables(header, request.maxOutputBytes),
            rootOnly: request.rootOnly,
            salt: request.salt
        });
    }

    /// @dev Bit i: output i is at most `most` bytes. Checks every output of the header.
    function _deliverables(bytes calldata header, uint256 most) private pure returns (uint64 bits) {
        uint256 count = header.outputCount();
        require(count <= MAX_OUTPUTS, TooManyOutputs(count, MAX_OUTPUTS));
        for (uint256 i = 0; i < count; ++i) {
            (, uint256 size) = header.output(i);
            if (size <= most) bits |= uint64(1 << i);
        }
    }

    /// @dev Checks and publishes the inputs given; returns the parts that are still missing.
    function _checkInputs(bytes32 jobId, JobRequest calldata request) private returns (uint256 missing) {
        bytes calldata header = request.program.header;
        uint256 count = header.inputCount();
        require(request.inputRoots.length == count, WrongInputCount(request.inputRoots.length, count));
        bool none = request.inputs.length == 0;
        require(none || request.inputs.length == count, WrongInputCount(request.inputs.length, count));
        require(none || !request.rootOnly, RootOnlyWithBytes());
        for (uint256 i = 0; i < count; ++i) {
            uint256 parts = Inputs.partCount(header.inputBytes(i));
            if (none || request.inputs[i].length == 0) {
                missing += parts;
            } else {
                Inputs.checkWhole(header, i, request.inputs[i], request.inputRoots[i]);
                emit InputPublished(jobId, i, 0, request.inputs[i]);
            }
        }
        if (request.rootOnly) return 0;
        if (missing == 0 || none) return missing;
        for (uint256 i = 0; i < count; ++i) {
            // What came with the post cannot be published again. Calldata holds far less than 256 parts.
            uint256 parts = Inputs.partCount(request.inputs[i].length);
            if (parts != 0) _published[jobId][i][0] = (1 << parts) - 1;
        }
    }

    /// @dev SAFETY: an output is proven at its own position, at the depth of the program's checkpoints.
    function _checkOutput(Claim calldata claim_, Delivery calldata delivery) private view {
        _needProgram(delivery.program, claim_.job.programRoot);
        bytes calldata header = delivery.program.header;
        (uint256 checkpoint, uint256 size) = header.output(delivery.output);
        require(delivery.data.length == size, WrongOutputLength(delivery.output, delivery.data.length, size));
        require(
            PositionalMerkle.leafUnder(
                claim_.traceRoot,
                header.checkpointCount(),
                TensorTree.root(delivery.data),
                checkpoint,
                delivery.siblings
            ),
            OutputNotInTrace(delivery.output)
        );
    }

    function _expireClaimed(bytes32 jobId, JobRecord storage record, JobStatus next) private {
        address worker = record.worker;
        uint256 penalty = (uint256(_collateral) * _penaltyBps) / 10_000;
        emit JobExpired(jobId, worker, penalty);
        _reopen(jobId, record, next);
        _vault.slash(worker, penalty);
        _vault.unlock(worker, _collateral - penalty);
        _vault.give(_sink, penalty);
    }

    function _reopen(bytes32 jobId, JobRecord storage record, JobStatus next) private {
        record.status = next;
        record.worker = address(0);
        record.until = 0;
        if (next == JobStatus.Open) emit JobOpened(jobId);
    }

    function _refund(bytes32 jobId, Job calldata job) private {
        emit JobClosed(jobId, job.fee);
        if (job.fee != 0) _vault.give(job.requester, job.fee);
    }

    function _release(bytes32 jobId, bytes32 claimId, ClaimRecord storage record, Claim calldata claim_) private {
        record.paid = true;
        emit FeeReleased(jobId, claimId, claim_.worker, claim_.job.fee);
        if (claim_.job.fee != 0) _vault.give(claim_.worker, claim_.job.fee);
    }

    function _claim(
        Claim calldata claim_,
        ClaimStatus needed
    ) private view returns (bytes32 jobId, bytes32 claimId, ClaimRecord storage record) {
        jobId = jobIdOf(claim_.job);
        claimId = JobIds.claimId(jobId, claim_.worker, claim_.traceRoot);
        record = _claims[claimId];
        _needClaim(claimId, record.status, needed);
    }

    /// @dev Whether a claim taken now would be due by the deadline.
    function _hasTime(Job calldata job) private view returns (bool) {
        return block.timestamp + job.claimSeconds <= job.deadline;
    }

    function _needProgram(ProgramFacts calldata program, bytes32 expected) private pure {
        bytes32 given = program.root();
        require(given == expected, WrongProgram(expected, given));
    }

    function _needJob(bytes32 jobId, JobStatus actual, JobStatus needed) private pure {
        require(actual == needed, WrongJobStatus(jobId, actual, needed));
    }

    function _needClaim(bytes32 claimId, ClaimStatus actual, ClaimStatus needed) private pure {
        require(actual == needed, WrongClaimStatus(claimId, actual, needed));
    }
}
