// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {DisputeGame} from "./DisputeGame.sol";
import {StakeVault} from "./StakeVault.sol";
import {IDisputeGame} from "./interfaces/IDisputeGame.sol";
import {IJobMarket, JobStatus, ClaimStatus, JobRequest, InputPart, Delivery} from "./interfaces/IJobMarket.sol";
import {IProvisioning} from "./interfaces/IProvisioning.sol";
import {IStakeVault} from "./interfaces/IStakeVault.sol";
import {Callback} from "./lib/Callback.sol";
import {Descent} from "./lib/Descent.sol";
import {GasSchedule} from "./lib/GasSchedule.sol";
import {Inputs} from "./lib/Inputs.sol";
import {ParameterChecks} from "./lib/ParameterChecks.sol";
import {ProgramHeader} from "./lib/ProgramHeader.sol";
import {ProgramProofs} from "./lib/ProgramProofs.sol";
import {TensorTree} from "./lib/TensorTree.sol";
import {Job, Claim, ClaimKey, JobIds} from "./types/Job.sol";
import {Parameters} from "./types/Parameters.sol";
import {ProgramFacts} from "./types/Program.sol";
import {IStepVerifier} from "./verifier/IStepVerifier.sol";
import {PositionalMerkle} from "./verifier/PositionalMerkle.sol";

/// @title The job market. See IJobMarket.
contract JobMarket is IJobMarket {
    using ProgramHeader for bytes;
    using ProgramProofs for ProgramFacts;
    using JobIds for ClaimKey;
    using JobIds for Job;

    /// @dev What the contract keeps of a job: one word, of which its claim is a part.
    /// number: the parts of the input still missing (AwaitingInput), until when the worker may submit (Claimed), the end of the window (Submitted).
    /// subject: the worker's address (Claimed), the first 26 bytes of the claim's id (Submitted, Finalised, Complete); collisions of 208 bits are out of reach.
    struct JobRecord {
        JobStatus status;
        uint40 number;
        bytes26 subject;
    }

    /// @dev What was delivered of a claim, unless one call did it all.
    struct Deliveries {
        uint64 delivered;
        uint64 calledBack;
        bool paid;
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
    mapping(bytes32 claimId => Deliveries) private _deliveries;
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
        _jobs[jobId] = JobRecord(missing == 0 ? JobStatus.Open : JobStatus.AwaitingInput, uint40(missing), 0);
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
        record.number -= 1;
        emit InputPublished(jobId, part.input, part.part, part.data);
        if (record.number == 0) {
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
        _jobs[jobId] = JobRecord(JobStatus.Claimed, uint40(until), bytes26(bytes20(msg.sender)));
        emit JobClaimed(jobId, msg.sender, until);
        _vault.lock(msg.sender, _collateral);
    }

    /// @inheritdoc IJobMarket
    function submit(Job calldata job, bytes calldata nodes) external returns (bytes32 claimId) {
        bytes32 jobId = jobIdOf(job);
        JobRecord memory record = _jobs[jobId];
        _needJob(jobId, record.status, JobStatus.Claimed);
        address worker = address(bytes20(record.subject));
        require(msg.sender == worker, NotWorker(msg.sender, worker));
        require(block.timestamp <= record.number, TimeIsUp(record.number));
        bytes32 traceRoot = _traceRoot(job.checkpoints, nodes);
        claimId = JobIds.claimId(jobId, msg.sender, traceRoot);
        (, bool dead, , ) = _game.claimGames(claimId);
        // SAFETY: a refuted claim, against which no game can be opened, cannot come back under the same name.
        require(!dead, ClaimExists(claimId));
        uint256 windowEnd = block.timestamp + job.window;
        _jobs[jobId] = JobRecord(JobStatus.Submitted, uint40(windowEnd), bytes26(claimId));
        emit ClaimSubmitted(jobId, claimId, msg.sender, traceRoot, windowEnd, nodes);
    }

    /// @inheritdoc IJobMarket
    function finalise(Claim calldata claim_) external {
        (bytes32 jobId, bytes32 claimId, ClaimStatus status) = _claim(claim_);
        _needClaim(claimId, status, ClaimStatus.Submitted);
        _finalise(jobId, claimId, claim_);
        if (claim_.job.deliverables != 0) return;
        _jobs[jobId].status = JobStatus.Complete;
        _release(jobId, claimId, claim_);
    }

    /// @inheritdoc IJobMarket
    function deliver(Claim calldata claim_, Delivery calldata delivery) external {
        (bytes32 jobId, bytes32 claimId, ClaimStatus status) = _claim(claim_);
        uint256 output = delivery.output;
        uint64 wanted = claim_.job.deliverables;
        require(output < MAX_OUTPUTS && (wanted >> output) & 1 == 1, NotDeliverable(output));
        Deliveries memory done;
        if (status == ClaimStatus.Submitted) _finalise(jobId, claimId, claim_);
        else {
            _needClaim(claimId, status, ClaimStatus.Finalised);
            require(_jobs[jobId].status != JobStatus.Complete, AlreadyDelivered(claimId, output));
            done = _deliveries[claimId];
        }
        _checkOutput(claim_, delivery);
        uint64 bit = uint64(1 << output);
        bool first = done.delivered & bit == 0;
        bool call = claim_.job.callbackGas != 0 && done.calledBack & bit == 0;
        require(first || call, AlreadyDelivered(claimId, output));
        if (first) {
            done.delivered |= bit;
            emit OutputDelivered(jobId, claimId, output, delivery.data);
        }
        bool release = done.delivered == wanted && !done.paid;
        if (release) done.paid = true;
        // SAFETY: all is marked before the call, as if it succeeded, so that a consumer that calls back in finds nothing left to take.
        if (call) done.calledBack |= bit;
        if (done.delivered == wanted && (claim_.job.callbackGas == 0 || done.calledBack == wanted)) {
            _jobs[jobId].status = JobStatus.Complete;
        } else {
            _deliveries[claimId] = done;
        }
        if (release) _release(jobId, claimId, claim_);
        if (!call) return;
        if (Callback.onResult(claim_.job.requester, claim_.job.callbackGas, jobId, output, delivery.data)) {
            emit CallbackMade(jobId, output);
        } else {
            // SAFETY: the consumer may have had other outputs delivered meanwhile: only this call is taken back.
            bool complete = _jobs[jobId].status == JobStatus.Complete;
            done = complete ? Deliveries(wanted, wanted, true) : _deliveries[claimId];
            done.calledBack &= ~bit;
            _deliveries[claimId] = done;
            if (complete) _jobs[jobId].status = JobStatus.Finalised;
            emit CallbackFailed(jobId, output);
        }
    }

    /// @inheritdoc IJobMarket
    function accept(Claim calldata claim_) external {
        (bytes32 jobId, bytes32 claimId, ClaimStatus status) = _claim(claim_);
        _needClaim(claimId, status, ClaimStatus.Finalised);
        require(msg.sender == claim_.job.requester, NotRequester(msg.sender, claim_.job.requester));
        Deliveries storage done = _deliveries[claimId];
        require(_jobs[jobId].status != JobStatus.Complete && !done.paid, AlreadyPaid(claimId));
        done.paid = true;
        _release(jobId, claimId, claim_);
    }

    /// @inheritdoc IJobMarket
    function expire(Job calldata job) external {
        bytes32 jobId = jobIdOf(job);
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
        _refund(jobId, job, 0);
    }

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
    function refuted(bytes32 jobId, bytes32 claimId, address worker) external onlyGame returns (uint256 collateral) {
        collateral = _collateral;
        // INVARIANT: a claim dies once.
        _needClaim(claimId, _statusOf(_jobs[jobId], claimId), ClaimStatus.Submitted);
        _reopen(jobId, JobStatus.Open);
        emit ClaimRefuted(jobId, claimId, worker, collateral);
        _vault.slash(worker, collateral);
    }

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
    function claimOf(
        ClaimKey calldata key
    ) external view returns (ClaimStatus status, uint256 windowEnd, uint256 delivered, uint256 calledBack, bool paid) {
        bytes32 claimId = key.claimId();
        JobRecord memory record = _jobs[key.jobId];
        status = _statusOf(record, claimId);
        (, bool dead, , ) = _game.claimGames(claimId);
        if (dead) return (ClaimStatus.Refuted, 0, 0, 0, false);
        if (status == ClaimStatus.None) return (status, 0, 0, 0, false);
        Deliveries storage done = _deliveries[claimId];
        bool complete = record.status == JobStatus.Complete;
        return (status, record.number, done.delivered, done.calledBack, complete || done.paid);
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
        // SAFETY: what a header adds to the gas of moves is paid for (GasSchedule.seam).
        require(header.length <= GasSchedule.MOST_HEADER, HeaderTooLong(header.length, GasSchedule.MOST_HEADER));
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
            checkpoints: uint32(header.checkpointCount()),
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

    /// @dev The root over the nodes of a trace that a reveal at its root would show.
    function _traceRoot(uint256 checkpoints, bytes calldata nodes) private view returns (bytes32 root) {
        uint256 depth = PositionalMerkle.depth(checkpoints);
        root = Descent.checkChildren(0, checkpoints, depth, Descent.hopOf(depth, _arityBits), nodes);
        require(root != 0, ZeroTraceRoot());
    }

    /// @dev Ends a claim whose window is over and that nobody disputes.
    function _finalise(bytes32 jobId, bytes32 claimId, Claim calldata claim_) private {
        uint256 windowEnd = _jobs[jobId].number;
        require(block.timestamp > windowEnd, WindowOpen(claimId, windowEnd));
        (uint256 games, , , ) = _game.claimGames(claimId);
        // INVARIANT: no claim stands while anybody disputes it.
        require(games == 0, GamesOpen(claimId, games));
        _jobs[jobId].status = JobStatus.Finalised;
        emit ClaimFinalised(jobId, claimId);
        _vault.unlock(claim_.worker, _collateral);
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

    function _expireClaimed(bytes32 jobId, address worker, JobStatus next) private {
        uint256 penalty = (uint256(_collateral) * _penaltyBps) / 10_000;
        emit JobExpired(jobId, worker, penalty);
        _reopen(jobId, next);
        _vault.slash(worker, penalty);
        _vault.unlock(worker, _collateral - penalty);
        // SAFETY: a worker that is late gets nothing of its penalty back, and others no more than their gas (never above the penalty: ParameterChecks).
        uint256 reward = msg.sender == worker ? 0 : _expiryReward();
        if (reward != 0) _vault.give(msg.sender, reward);
        _vault.give(_sink, penalty - reward);
    }

    function _reopen(bytes32 jobId, JobStatus next) private {
        _jobs[jobId] = JobRecord(next, 0, 0);
        if (next == JobStatus.Open) emit JobOpened(jobId);
    }

    /// @param reward Of the fee, for the caller who closed the job.
    function _refund(bytes32 jobId, Job calldata job, uint256 reward) private {
        emit JobClosed(jobId, job.fee - reward);
        if (reward != 0) _vault.give(msg.sender, reward);
        if (job.fee != reward) _vault.give(job.requester, job.fee - reward);
    }

    /// @dev The price of freeing an abandoned job.
    function _expiryReward() private view returns (uint256) {
        return GasSchedule.EXPIRE * GasSchedule.price(block.basefee, _priceCap);
    }

    function _release(bytes32 jobId, bytes32 claimId, Claim calldata claim_) private {
        emit FeeReleased(jobId, claimId, claim_.worker, claim_.job.fee);
        if (claim_.job.fee != 0) _vault.give(claim_.worker, claim_.job.fee);
    }

    function _claim(Claim calldata claim_) private view returns (bytes32 jobId, bytes32 claimId, ClaimStatus status) {
        jobId = jobIdOf(claim_.job);
        claimId = JobIds.claimId(jobId, claim_.worker, claim_.traceRoot);
        status = _statusOf(_jobs[jobId], claimId);
    }

    /// @dev What a job's record says of a claim: of a refuted one, nothing.
    function _statusOf(JobRecord memory record, bytes32 claimId) private pure returns (ClaimStatus) {
        if (record.status < JobStatus.Submitted || record.status == JobStatus.Closed) return ClaimStatus.None;
        if (record.subject != bytes26(claimId)) return ClaimStatus.None;
        return record.status == JobStatus.Submitted ? ClaimStatus.Submitted : ClaimStatus.Finalised;
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
