// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IClasses} from "../../interfaces/IClasses.sol";
import {Enrolment, IExamClaims} from "../../interfaces/IExamClaims.sol";
import {IExams, ExamResult} from "../../interfaces/IExams.sol";
import {IMarketEvents} from "../../interfaces/IMarketEvents.sol";
import {IPledgedClaims, PledgeStatus} from "../../interfaces/IPledgedClaims.sol";
import {ProgramProofs} from "../../program/ProgramProofs.sol";
import {PASSES} from "../../attestation/Exams.sol";
import {ClaimId} from "../../types/Ids.sol";
import {ProgramFacts} from "../../types/Program.sol";
import {PledgedEntry} from "../../types/SignedClaim.sol";

/// @title Exam results as claims. See IExamClaims.
contract ExamClaims is IExamClaims {
    using ProgramProofs for ProgramFacts;

    /// @dev What a chunk has beyond the seed: zeros.
    uint256 private constant PADDING = 512 - 32;

    /// @inheritdoc IExamClaims
    IExams public immutable exams;
    /// @inheritdoc IExamClaims
    IPledgedClaims public immutable claims;

    mapping(address worker => Enrolment) private _enrolments;

    /// @dev Reverts with `NoCode`.
    /// @param exams_ The exams.
    /// @param claims_ The pledged claims, deployed after this contract and naming it.
    constructor(IExams exams_, IPledgedClaims claims_) {
        require(address(exams_).code.length != 0, NoCode(address(exams_)));
        exams = exams_;
        claims = claims_;
    }

    /// @inheritdoc IExamClaims
    function enrol(address worker) external {
        (PledgeStatus status, uint256 since, , ) = claims.pledgeOf(worker);
        require(status == PledgeStatus.Active, NotPledged(worker, status));
        require(_enrolments[worker].pledged != since, EnrolledBefore(worker, since));
        (uint32 last, ) = exams.lastExam();
        // INVARIANT: every counted exam took place while the pledge was locked. The next exam is excluded too: while
        // the last exam remains open, bit 0 of a worker's passed exams may stand for the exam before.
        _enrolments[worker] = Enrolment(uint64(since), last + 1);
        emit Enrolled(worker, since, last + 1);
    }

    /// @inheritdoc IExamClaims
    function challenge(ExamResult calldata s, ProgramFacts calldata program) external returns (ClaimId claimId) {
        require(exams.isResult(s), NotAResult(s.device, s.class, s.number));
        bytes32 expected = exams.classes()[s.class].programRoot;
        bytes32 root = program.root();
        require(root == expected, IMarketEvents.WrongProgram(expected, root));
        bytes32[] memory inputRoots = new bytes32[](1);
        inputRoots[0] = sha256(abi.encodePacked(s.nonce, new bytes(PADDING)));
        bytes[] memory inputs = new bytes[](1);
        inputs[0] = abi.encodePacked(s.nonce);
        // Only the trace's root is known, and therefore a game begins at the root.
        claimId = claims.enter(
            PledgedEntry({
                program: program,
                inputRoots: inputRoots,
                inputs: inputs,
                items: 1,
                firstItem: 0,
                answer: false,
                worker: s.worker,
                requester: address(this),
                root: s.traceRoot,
                issued: s.time,
                // INVARIANT: an exam result becomes one claim, whoever brings it.
                salt: keccak256(abi.encode(s.device, s.class, s.number))
            }),
            ""
        );
        emit ResultChallenged(claimId, s.worker, msg.sender, s.class, s.number);
    }

    /// @inheritdoc IClasses
    function classHeld(address worker, uint8 class) external view returns (bool) {
        Enrolment memory enrolment = _enrolments[worker];
        (PledgeStatus status, uint256 since, , ) = claims.pledgeOf(worker);
        if (status != PledgeStatus.Active || enrolment.pledged != since) return false;
        (uint32 last, ) = exams.lastExam();
        if (last <= enrolment.number) return false;
        uint256 counted = last - enrolment.number;
        uint256 bits = exams.passedOf(worker, class);
        if (counted < 256) bits &= (1 << counted) - 1;
        uint256 passes = 0;
        for (; bits != 0; bits &= bits - 1) ++passes;
        return passes >= PASSES;
    }

    /// @inheritdoc IExamClaims
    function enrolmentOf(address worker) external view returns (Enrolment memory) {
        return _enrolments[worker];
    }
}
