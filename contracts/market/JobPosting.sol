// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IJobMarket} from "../interfaces/IJobMarket.sol";
import {JobStatus, JobRequest, InputPart} from "../interfaces/IMarketEvents.sol";
import {Clock} from "../game/Clock.sol";
import {GasSchedule} from "../game/GasSchedule.sol";
import {Inputs} from "./Inputs.sol";
import {ProgramHeader} from "../program/ProgramHeader.sol";
import {ProgramProofs} from "../program/ProgramProofs.sol";
import {Runs} from "../program/Runs.sol";
import {Job, JobIds} from "../types/Job.sol";
import {ProgramFacts} from "../types/Program.sol";
import {Terms} from "../types/Terms.sol";
import {JobRecords} from "./JobRecords.sol";

/// @title How a job comes to be open: its terms, and the bytes of its inputs.
abstract contract JobPosting is IJobMarket, JobRecords {
    using JobIds for Job;
    using ProgramHeader for bytes;
    using ProgramProofs for ProgramFacts;

    /// @dev The published parts of inputs, 256 per word.
    mapping(bytes32 jobId => mapping(uint256 input => mapping(uint256 word => uint256))) private _published;
    /// @dev Bit i: input i was complete at the post. Stored only if another input is incomplete. A served header has
    /// room for far less than 256 inputs.
    mapping(bytes32 jobId => uint256) private _posted;

    /* ---- Calls ---- */

    /// @inheritdoc IJobMarket
    function post(JobRequest calldata request) external returns (bytes32 jobId) {
        Job memory job = _terms(request);
        if (request.terms.length != 0) job.termsHash = _termsHash(request);
        jobId = job.newJobId(address(this));
        JobRecord storage record = _jobs[jobId];
        require(record.status == JobStatus.None, JobExists(jobId));
        uint256 missing = _checkInputs(jobId, request);
        if (missing == 0) _write(record, JobStatus.Open, uint40(block.number), 0);
        else _write(record, JobStatus.AwaitingInput, uint40(missing), 0);
        emit JobPosted(jobId, msg.sender, job.programRoot, job, request.program, request.inputRoots);
        if (request.terms.length != 0) emit TermsPosted(jobId, request.terms[0]);
        if (missing == 0) emit JobOpened(jobId);
        if (job.fee != 0) _vault.take(msg.sender, job.fee);
    }

    /// @inheritdoc IJobMarket
    function publishInput(Job calldata job, ProgramFacts calldata program, InputPart calldata part) external {
        bytes32 jobId = _jobId(job);
        JobRecord storage record = _jobs[jobId];
        _needJob(jobId, record.status, JobStatus.AwaitingInput);
        _needProgram(program, job.programRoot);
        Inputs.checkPart(program.header, job, part);
        require((_posted[jobId] >> part.input) & 1 == 0, PartAlreadyPublished(part.input, part.part));
        mapping(uint256 => uint256) storage published = _published[jobId][part.input];
        uint256 bit = 1 << (part.part & 0xff);
        require(published[part.part >> 8] & bit == 0, PartAlreadyPublished(part.input, part.part));
        published[part.part >> 8] |= bit;
        record.number -= 1;
        emit InputPublished(jobId, part.input, part.part, part.data);
        if (record.number == 0) {
            record.status = JobStatus.Open;
            record.number = uint40(block.number);
            emit JobOpened(jobId);
        }
    }

    /* ---- Helpers ---- */

    /// @dev Returns the job for a request, including the program's facts.
    function _terms(JobRequest calldata request) private view returns (Job memory job) {
        bytes calldata header = request.program.header;
        // SAFETY: GasSchedule.seam pays for the gas that a header adds to moves.
        require(header.length <= GasSchedule.MAX_HEADER, HeaderTooLong(header.length, GasSchedule.MAX_HEADER));
        bytes32 programRoot = request.program.root();
        uint256 items = request.items;
        require(items != 0 && items <= Runs.MAX_ITEMS, ItemsOutOfRange(items, Runs.MAX_ITEMS));
        uint256 work = Runs.work(items, header.work());
        require(work <= _maxWork, TooMuchWork(work, _maxWork));
        require(header.maxStepGas() <= _maxStepGas, StepProofTooLarge(header.maxStepGas(), _maxStepGas));
        require(header.maxStepBytes() <= _maxStepBytes, StepProofTooLong(header.maxStepBytes(), _maxStepBytes));
        // INVARIANT: the window holds the slowest honest re-execution.
        uint256 least = Clock.window(_baseWindow, work, _rate);
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
        uint256 outputs = header.outputCount();
        job = Job({
            requester: msg.sender,
            programRoot: programRoot,
            inputsRoot: Inputs.listRoot(request.inputRoots),
            work: uint64(work),
            checkpoints: uint32(header.checkpointCount()),
            items: request.items,
            firstItem: request.firstItem,
            answers: request.answer ? _answers(header, items, outputs) : 0,
            fee: request.fee,
            window: request.window,
            claimSeconds: request.claimSeconds,
            deadline: request.deadline,
            callbackGas: request.callbackGas,
            maxOutputBytes: request.maxOutputBytes,
            deliverables: _deliverables(header, outputs, request.maxOutputBytes),
            rootOnly: request.rootOnly,
            salt: request.salt,
            termsHash: 0
        });
    }

    /// @dev Returns the hash of the rarely used terms. Checks everything that can be checked now.
    function _termsHash(JobRequest calldata request) private view returns (bytes32) {
        uint256 count = request.terms.length;
        require(count == 1, TooManyTerms(count, 1));
        Terms calldata t = request.terms[0];
        // SAFETY: nobody has stake of this size. The largest value stays free to mark a claim with other backing.
        require(
            t.collateral >= _collateral && t.collateral < type(uint96).max,
            CollateralOutOfRange(t.collateral, _collateral)
        );
        if (t.openFrom != 0) {
            // INVARIANT: all seals are there before the first opens.
            require(t.openFrom > request.deadline, OpensTooSoon(t.openFrom, request.deadline));
            require(
                t.openFrom <= block.timestamp + LONGEST_JOB,
                DeadlineTooFar(t.openFrom, block.timestamp + LONGEST_JOB)
            );
        }
        return keccak256(abi.encode(t));
    }

    /// @dev Output roots of an answer: one for each of the program's `count` outputs. Checks that it can be disputed.
    function _answers(bytes calldata header, uint256 items, uint256 count) private pure returns (uint8) {
        require(count <= MAX_ANSWERS, TooManyAnswers(count, MAX_ANSWERS));
        if (items == 1 || !header.carries()) return uint8(count);
        for (uint256 i = 0; i < count; ++i) {
            (, , bool each) = header.output(i);
            // SAFETY: a dispute about an item in the middle would have to prove that the item and the last item belong
            // to the same run, and cover both lists' levels: more than bonds are sized for.
            require(!each, AnswerOfCarriedItems(i));
        }
        return uint8(count);
    }

    /// @dev Bit i: output i is the last item's, and has at most `most` bytes. Checks all `count` outputs of the header.
    function _deliverables(bytes calldata header, uint256 count, uint256 most) private pure returns (uint64 bits) {
        require(count <= MAX_OUTPUTS, TooManyOutputs(count, MAX_OUTPUTS));
        for (uint256 i = 0; i < count; ++i) {
            (, uint256 size, bool each) = header.output(i);
            if (size <= most && !each) bits |= uint64(1 << i);
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
        uint256 posted = 0;
        for (uint256 i = 0; i < count; ++i) {
            bytes32 root = request.inputRoots[i];
            uint256 tensors = Inputs.tensorCount(header, i, request.items);
            uint256 given = none ? 0 : request.inputs[i].length;
            if (Inputs.isZeros(header, i, root)) {
                // SAFETY: complete inputs cannot be published again. Otherwise the job would open before all bytes are
                // published.
                posted |= 1 << i;
                require(given == 0, WrongInputLength(i, given, 0));
            } else if (given == 0) {
                uint256 parts = tensors * Inputs.partCount(header.inputBytes(i));
                // INVARIANT: every part has a number of its own, and the job's record holds how many are missing: a
                // header has room for less than 256 inputs.
                require(parts <= Inputs.MAX_PARTS, TooManyParts(i, parts));
                missing += parts;
                // INVARIANT: unread fields contain zero, and a job therefore has one id.
                require(tensors != 0 || root == 0, WrongInputRoot(i, root, 0));
            } else {
                require(tensors != 0, WrongInputLength(i, given, 0));
                Inputs.checkWhole(header, i, tensors, request.inputs[i], root);
                posted |= 1 << i;
                emit InputPublished(jobId, i, 0, request.inputs[i]);
            }
        }
        if (request.rootOnly) return 0;
        // Complete inputs cannot be published again.
        if (missing != 0 && posted != 0) _posted[jobId] = posted;
    }
}
