// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IJobMarket, JobStatus, JobRequest, InputPart} from "../interfaces/IJobMarket.sol";
import {Clock} from "../game/Clock.sol";
import {GasSchedule} from "../game/GasSchedule.sol";
import {Inputs} from "./Inputs.sol";
import {ProgramHeader} from "../program/ProgramHeader.sol";
import {ProgramProofs} from "../program/ProgramProofs.sol";
import {Job, JobIds} from "../types/Job.sol";
import {ProgramFacts} from "../types/Program.sol";
import {JobRecords} from "./JobRecords.sol";

/// @title How a job comes to be open: its terms, and the bytes of its inputs.
abstract contract JobPosting is JobRecords {
    using JobIds for Job;
    using ProgramHeader for bytes;
    using ProgramProofs for ProgramFacts;

    /// @dev Parts of inputs that are published, 256 to a word.
    mapping(bytes32 jobId => mapping(uint256 input => mapping(uint256 word => uint256))) private _published;

    /* ---- Calls ---- */

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

    /* ---- Helpers ---- */

    /// @dev The job that a request asks for, with what the program says about it.
    function _terms(JobRequest calldata request) private view returns (Job memory job) {
        bytes calldata header = request.program.header;
        // SAFETY: what a header adds to the gas of moves is paid for (GasSchedule.seam).
        require(header.length <= GasSchedule.MAX_HEADER, HeaderTooLong(header.length, GasSchedule.MAX_HEADER));
        bytes32 programRoot = request.program.root();
        uint64 work = header.work();
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

    /// @dev Bit i: output i has at most `most` bytes. Checks every output of the header.
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
}
