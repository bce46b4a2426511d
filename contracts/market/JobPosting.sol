// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IJobMarket} from "../interfaces/IJobMarket.sol";
import {JobStatus, JobRequest, InputPart, ProofObstacle} from "../interfaces/IMarketEvents.sol";
import {Clock} from "../game/Clock.sol";
import {Admission} from "./Admission.sol";
import {Inputs} from "./Inputs.sol";
import {ProgramHeader} from "../program/ProgramHeader.sol";
import {JobId} from "../types/Ids.sol";
import {Job, JobIds} from "../types/Job.sol";
import {ProgramFacts} from "../types/Program.sol";
import {Terms} from "../types/Terms.sol";
import {JobRecords} from "./JobRecords.sol";

/// @title How a job comes to be open: its terms, and the bytes of its inputs.
abstract contract JobPosting is IJobMarket, JobRecords {
    using JobIds for Job;
    using ProgramHeader for bytes;

    /// @dev The published parts of inputs, 256 per word.
    mapping(JobId jobId => mapping(uint256 input => mapping(uint256 word => uint256))) private _published;
    /// @dev Bit i: input i was complete at the post. Stored only if another input is incomplete. A served header has
    /// room for far less than 256 inputs.
    mapping(JobId jobId => uint256) private _posted;

    /* ---- Calls ---- */

    /// @inheritdoc IJobMarket
    function post(JobRequest calldata request) external returns (JobId jobId) {
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
        JobId jobId = _jobId(job);
        JobRecord storage record = _jobs[jobId];
        _requireJob(jobId, record.status, JobStatus.AwaitingInput);
        _requireProgram(program, job.programRoot);
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
        (bytes32 programRoot, uint256 work) = Admission.checkProgram(
            request.program,
            request.items,
            _maxWork,
            _maxStepGas,
            _maxStepBytes
        );
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
        (uint8 answers, uint64 deliverables) = Admission.checkOutputs(
            header,
            request.items,
            request.answer,
            request.maxOutputBytes
        );
        job = Job({
            requester: msg.sender,
            programRoot: programRoot,
            inputsRoot: Inputs.listRoot(request.inputRoots),
            work: uint64(work),
            checkpoints: uint32(header.checkpointCount()),
            items: request.items,
            firstItem: request.firstItem,
            answers: answers,
            fee: request.fee,
            window: request.window,
            claimSeconds: request.claimSeconds,
            deadline: request.deadline,
            callbackGas: request.callbackGas,
            maxOutputBytes: request.maxOutputBytes,
            deliverables: deliverables,
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
        if (t.keyHash != 0) {
            Admission.checkProvable(request.program.header, request.items, request.answer);
            require(t.openFrom == 0, NotProvable(ProofObstacle.SealedSubmission));
            require(request.callbackGas == 0, NotProvable(ProofObstacle.HasCallback));
        }
        return keccak256(abi.encode(t));
    }

    /// @dev Checks and publishes the inputs given; returns the parts that are still missing.
    function _checkInputs(JobId jobId, JobRequest calldata request) private returns (uint256 missing) {
        bytes calldata header = request.program.header;
        (uint256 count, bool none) = Admission.checkInputCount(header, request.inputRoots, request.inputs);
        require(none || !request.rootOnly, RootOnlyWithBytes());
        uint256 posted = 0;
        for (uint256 i = 0; i < count; ++i) {
            uint256 tensors = Inputs.tensorCount(header, i, request.items);
            bytes calldata data = none ? header[:0] : request.inputs[i];
            if (!Admission.takeInput(jobId, header, i, tensors, request.inputRoots[i], data)) {
                uint256 parts = tensors * Inputs.partCount(header.inputBytes(i));
                // INVARIANT: every part has a number of its own, and the job's record holds how many are missing: a
                // header has room for less than 256 inputs.
                require(parts <= Inputs.MAX_PARTS, TooManyParts(i, parts));
                missing += parts;
            } else if (tensors != 0) {
                // SAFETY: complete inputs cannot be published again. Otherwise the job would open before all bytes are
                // published.
                posted |= 1 << i;
            }
        }
        if (request.rootOnly) return 0;
        if (missing != 0 && posted != 0) _posted[jobId] = posted;
    }
}
