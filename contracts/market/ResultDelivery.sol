// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IJobMarket, JobStatus, ClaimStatus, Delivery} from "../interfaces/IJobMarket.sol";
import {Callback} from "./Callback.sol";
import {ProgramHeader} from "../program/ProgramHeader.sol";
import {Runs} from "../program/Runs.sol";
import {TensorTree} from "../merkle/TensorTree.sol";
import {Claim, ClaimKey, JobIds} from "../types/Job.sol";
import {JobRecords} from "./JobRecords.sol";

/// @title How an undisputed claim ends: it is final, its outputs are delivered, its fee is released.
abstract contract ResultDelivery is JobRecords {
    using JobIds for ClaimKey;
    using ProgramHeader for bytes;

    /// @dev What was delivered of a claim, unless one call did it all.
    /// @param delivered Bit i: output i was delivered.
    /// @param calledBack Bit i: the requester took output i.
    /// @param paid The fee is released.
    struct Deliveries {
        uint64 delivered;
        uint64 calledBack;
        bool paid;
    }

    mapping(bytes32 claimId => Deliveries) private _deliveries;

    /* ---- Calls ---- */

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
        // Outputs past the 64th have no bit.
        require((wanted >> output) & 1 == 1, NotDeliverable(output));
        Deliveries memory done;
        if (status == ClaimStatus.Submitted) _finalise(jobId, claimId, claim_);
        else {
            _needClaim(claimId, status, ClaimStatus.Finalised);
            require(_jobs[jobId].status != JobStatus.Complete, AlreadyDelivered(claimId, output));
            done = _deliveries[claimId];
        }
        _checkOutput(claim_, claim_.job.items - 1, delivery);
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
        // SAFETY: all is marked before the call, as if it succeeded, so that a consumer that calls back in finds
        // nothing left to take.
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
            // SAFETY: a call that failed has undone all that it did, so that what was marked before it is still all
            // there is: only the call is taken back.
            done.calledBack &= ~bit;
            _deliveries[claimId] = done;
            _jobs[jobId].status = JobStatus.Finalised;
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
    function reclaim(Claim calldata claim_) external {
        (bytes32 jobId, bytes32 claimId, ClaimStatus status) = _claim(claim_);
        // SAFETY: where nothing is to be delivered the fee is the worker's as soon as the claim is final.
        require(claim_.job.deliverables != 0, NothingToDeliver(jobId));
        _needClaim(claimId, status, ClaimStatus.Finalised);
        JobRecord storage record = _jobs[jobId];
        Deliveries storage done = _deliveries[claimId];
        require(record.status != JobStatus.Complete && !done.paid, AlreadyPaid(claimId));
        uint256 until = record.number + DELIVERY_SECONDS;
        require(block.timestamp > until, TimeNotUp(until));
        done.paid = true;
        record.number = RETURNED;
        emit FeeReturned(jobId, claimId, claim_.job.requester, claim_.job.fee);
        if (claim_.job.fee != 0) _vault.give(claim_.job.requester, claim_.job.fee);
    }

    /* ---- Views ---- */

    /// @inheritdoc IJobMarket
    function requireOutput(Claim calldata claim_, uint256 item, Delivery calldata delivery) external view {
        (, bytes32 claimId, ClaimStatus status) = _claim(claim_);
        _needClaim(claimId, status, ClaimStatus.Finalised);
        require(item < claim_.job.items, ItemsOutOfRange(item, claim_.job.items));
        _checkOutput(claim_, item, delivery);
    }

    /// @inheritdoc IJobMarket
    function claimOf(
        ClaimKey calldata key
    ) external view returns (ClaimStatus status, uint256 time, uint256 delivered, uint256 calledBack, bool paid) {
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

    /* ---- Helpers ---- */

    /// @dev Ends a claim whose window is over and that nobody disputes.
    function _finalise(bytes32 jobId, bytes32 claimId, Claim calldata claim_) private {
        JobRecord memory record = _jobs[jobId];
        uint256 windowEnd = record.number;
        require(block.timestamp > windowEnd, WindowOpen(claimId, windowEnd));
        (uint256 games, , , ) = _game.claimGames(claimId);
        // INVARIANT: no claim stands while anybody disputes it.
        require(games == 0, GamesOpen(claimId, games));
        _jobs[jobId] = JobRecord(JobStatus.Finalised, uint40(block.timestamp), record.subject);
        emit ClaimFinalised(jobId, claimId);
        _vault.unlock(claim_.worker, _collateral);
    }

    /// @dev SAFETY: an output is proven at its own position: at the depth of the program's checkpoints and of the run,
    /// or of the answer.
    function _checkOutput(Claim calldata claim_, uint256 item, Delivery calldata delivery) private view {
        _needProgram(delivery.program, claim_.job.programRoot);
        (uint256 checkpoint, uint256 size, bool each) = delivery.program.header.output(delivery.output);
        // The other outputs are the last item's alone.
        require(each || item == claim_.job.items - 1, NotAnOutputOfItem(delivery.output, item));
        require(delivery.data.length == size, WrongOutputLength(delivery.output, delivery.data.length, size));
        bytes32 root = TensorTree.root(delivery.data);
        bytes32[] calldata siblings = delivery.siblings;
        bool proven =
            claim_.job.answers == 0
                ? Runs.hasCheckpoint(claim_.job, claim_.root, item, checkpoint, root, siblings)
                : Runs.hasAnswer(claim_.job, claim_.root, each, item, delivery.output, root, siblings);
        require(proven, OutputNotInClaim(delivery.output));
    }

    /// @dev Pays the fee to the worker.
    function _release(bytes32 jobId, bytes32 claimId, Claim calldata claim_) private {
        emit FeeReleased(jobId, claimId, claim_.worker, claim_.job.fee);
        if (claim_.job.fee != 0) _vault.give(claim_.worker, claim_.job.fee);
    }
}
