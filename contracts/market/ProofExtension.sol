// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ClaimStatus, Delivery, JobStatus, Proof} from "../interfaces/IMarketEvents.sol";
import {IDisputeGame} from "../interfaces/IDisputeGame.sol";
import {IProvenJobs} from "../interfaces/IProvenJobs.sol";
import {IStakeVault} from "../interfaces/IStakeVault.sol";
import {PositionalMerkle} from "../merkle/PositionalMerkle.sol";
import {TensorTree} from "../merkle/TensorTree.sol";
import {Groth16} from "../program/Groth16.sol";
import {ProgramHeader} from "../program/ProgramHeader.sol";
import {PublicValues} from "../program/PublicValues.sol";
import {ClaimId, JobId} from "../types/Ids.sol";
import {Claim, Job, JobIds} from "../types/Job.sol";
import {Parameters} from "../types/Parameters.sol";
import {Terms} from "../types/Terms.sol";
import {Admission} from "./Admission.sol";
import {JobRecords} from "./JobRecords.sol";
import {TermedClaims} from "./TermedClaims.sol";

/// @title Claims that a proof ends. See IProvenJobs.
/// @dev The market runs this code by delegatecalls. MarketExtension deploys this contract.
/// SAFETY: the poster of a job chooses the key. Whoever knows a key's secrets can prove anything, so a proven claim
/// has a status of its own, and no proof takes anybody's collateral.
contract ProofExtension is IProvenJobs, TermedClaims {
    using ProgramHeader for bytes;
    using PublicValues for PublicValues.Packing;

    /// @param vault_ The market's vault.
    /// @param game_ The market's game.
    /// @param p The market's parameters.
    // solhint-disable-next-line no-empty-blocks
    constructor(IStakeVault vault_, IDisputeGame game_, Parameters memory p) JobRecords(vault_, game_, p) {}

    /// @inheritdoc IProvenJobs
    function finaliseByProof(Claim calldata claim_, Terms calldata terms, Proof calldata proof) external {
        JobId jobId = _termedJob(claim_.job, terms);
        ClaimId claimId = JobIds.claimId(jobId, claim_.worker, claim_.root, claim_.collateral);
        JobRecord memory record = _jobs[jobId];
        _requireClaim(claimId, _statusOf(record, claimId), ClaimStatus.Submitted);
        // SAFETY: after its window an undisputed claim is final for all readers; nobody takes that away by a proof.
        uint256 windowEnd = record.number;
        require(block.timestamp <= windowEnd, TimeIsUp(windowEnd));
        _requireUndisputed(claimId);
        _prove(jobId, claimId, claim_.job, claim_.worker, claim_.collateral, terms, proof);
    }

    /// @inheritdoc IProvenJobs
    function claimAndProve(
        Job calldata job,
        Terms calldata terms,
        bytes calldata nodes,
        Proof calldata proof
    ) external returns (ClaimId claimId) {
        JobId jobId = _jobId(job);
        if (_jobs[jobId].status == JobStatus.Open) _claimOnTerms(job, terms);
        claimId = _submitOnTerms(job, terms, nodes);
        _prove(jobId, claimId, job, msg.sender, terms.collateral, terms, proof);
    }

    /// @inheritdoc IProvenJobs
    function requireProven(
        Claim calldata claim_,
        Terms calldata terms,
        bytes32 keyHash,
        Delivery calldata delivery
    ) external view {
        _termedJob(claim_.job, terms);
        require(terms.keyHash == keyHash, WrongKey(keyHash, terms.keyHash));
        (, ClaimId claimId, ClaimStatus status) = _claim(claim_);
        _requireClaim(claimId, status, ClaimStatus.Proven);
        _checkOutput(claim_, 0, delivery);
    }

    /// @dev Ends an undisputed claim by a proof, and pays its worker.
    function _prove(
        JobId jobId,
        ClaimId claimId,
        Job calldata job,
        address worker,
        uint128 collateral,
        Terms calldata terms,
        Proof calldata proof
    ) private {
        uint256[] calldata key = proof.key;
        PublicValues.requireKey(terms.keyHash, key);
        bytes32 program = PublicValues.programOf(key);
        require(program == job.programRoot, KeyOfAnotherProgram(job.programRoot, program));
        Admission.checkProvable(proof.program.header, job.items, job.answers != 0);
        _requireProgram(proof.program, job.programRoot);
        bytes32 outputsRoot = _outputsRoot(proof);
        ClaimId proven = JobIds.claimId(jobId, worker, outputsRoot, collateral);
        require(proven == claimId, OutputsNotInClaim(claimId, outputsRoot));
        bytes32 inputsRoot = _inputsRoot(proof);
        require(inputsRoot == job.inputsRoot, InputsNotInJob(job.inputsRoot, inputsRoot));
        // SAFETY: nobody who sees a proof can use it, for another worker, job, market or chain.
        uint256 context = uint256(keccak256(abi.encode(block.chainid, address(this), jobId, worker))) >> 8;
        bool holds = Groth16.holds(key, proof.proof, _publicValues(context, proof));
        require(holds, NotProven(terms.keyHash, context));
        _write(_jobs[jobId], JobStatus.Proven, uint40(block.timestamp), _subjectOf(claimId));
        emit ClaimProven(jobId, claimId, terms.keyHash, proof.outputs);
        emit FeeReleased(jobId, claimId, worker, job.fee);
        _vault.unlock(worker, collateral);
        if (job.fee != 0) _vault.give(worker, job.fee);
    }

    /// @dev The root over all outputs' roots, after checking their lengths.
    function _outputsRoot(Proof calldata proof) private view returns (bytes32) {
        bytes calldata header = proof.program.header;
        bytes[] calldata outputs = proof.outputs;
        uint256 count = header.outputCount();
        require(outputs.length == count, WrongOutputCount(outputs.length, count));
        bytes32[] memory roots = new bytes32[](count);
        for (uint256 k = 0; k < count; ++k) {
            (, uint256 size, ) = header.output(k);
            bytes calldata data = outputs[k];
            require(data.length == size, WrongOutputLength(k, data.length, size));
            roots[k] = TensorTree.root(data);
        }
        return PositionalMerkle.leavesRoot(roots);
    }

    /// @dev The root over all inputs' roots, after checking their lengths; zero if there are none.
    function _inputsRoot(Proof calldata proof) private view returns (bytes32) {
        bytes calldata header = proof.program.header;
        bytes[] calldata inputs = proof.inputs;
        uint256 count = header.inputCount();
        require(inputs.length == count, WrongInputCount(inputs.length, count));
        if (count == 0) return 0;
        bytes32[] memory roots = new bytes32[](count);
        for (uint256 k = 0; k < count; ++k) {
            uint256 size = header.inputBytes(k);
            bytes calldata data = inputs[k];
            require(data.length == size, WrongInputLength(k, data.length, size));
            roots[k] = TensorTree.root(data);
        }
        return PositionalMerkle.leavesRoot(roots);
    }

    /// @dev All public values, from bytes whose lengths were checked.
    function _publicValues(uint256 context, Proof calldata proof) private pure returns (uint256[] memory) {
        bytes calldata header = proof.program.header;
        (bytes[] calldata inputs, bytes[] calldata outputs) = (proof.inputs, proof.outputs);
        uint256 bytes_ = 0;
        for (uint256 k = 0; k < inputs.length; ++k) bytes_ += inputs[k].length;
        for (uint256 k = 0; k < outputs.length; ++k) bytes_ += outputs[k].length;
        PublicValues.Packing memory packing = PublicValues.begin(context, bytes_);
        for (uint256 k = 0; k < inputs.length; ++k) packing.pack(inputs[k], header.inputElementBytes(k));
        for (uint256 k = 0; k < outputs.length; ++k) packing.pack(outputs[k], header.outputElementBytes(k));
        return packing.end();
    }
}
