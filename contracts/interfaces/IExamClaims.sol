// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ProgramFacts} from "../types/Program.sol";
import {IClasses} from "./IClasses.sol";
import {IExams, Sitting} from "./IExams.sol";
import {IPledgedClaims, PledgeStatus} from "./IPledgedClaims.sol";

/// @notice From when on a worker's sittings count.
/// @param pledged Since when the pledge is locked that backs them, unix time; 0: never enrolled.
/// @param number The first exam that counts has a number above this one.
struct Enrolment {
    uint64 pledged;
    uint32 number;
}

/// @title What workers report of exams, as claims that their pledges back: a wrong root is refuted by anyone, a right
/// one never is.
/// @dev One of the contracts that may put claims on chain (`IPledgedClaims`). Nobody owns it, and it holds no money.
/// Jobs may ask it for a class (`IClasses`): it is held with a pledge behind it. 12 of the last 16 exams were passed
/// after the worker enrolled, its pledge has been locked since, and no claim of it was refuted. That says nothing of
/// `isLive`. A pledge that is asked back backs nothing new: such a worker holds no class.
interface IExamClaims is IClasses {
    error NoCode(address target);
    error NotASitting(bytes32 device, uint8 class, uint32 number);
    error NotPledged(address worker, PledgeStatus status);
    error EnrolledBefore(address worker, uint256 pledged);

    event Enrolled(address indexed worker, uint256 pledged, uint32 number);
    event SittingChallenged(
        bytes32 indexed claimId,
        address indexed worker,
        address indexed challenger,
        uint8 class,
        uint32 number
    );

    /// @notice Notes that a worker's pledge backs what it sits from now on. From anybody, once a pledge.
    /// @dev Reverts with `NotPledged` or `EnrolledBefore`.
    /// @param worker Whose pledge it is.
    function enrol(address worker) external;

    /// @notice Puts what a worker reported of an exam on chain as a claim, with its seed: from then on it is disputed
    /// and made final like any other. From anybody, once a sitting.
    /// @dev Reverts with `NotASitting`, the market's `WrongProgram`, and as `IPledgedClaims.enter`.
    /// @param s The sitting, one of the worker's last 16 of the class.
    /// @param program The header and roots of the class's program.
    /// @return claimId The claim's id.
    function challenge(Sitting calldata s, ProgramFacts calldata program) external returns (bytes32 claimId);

    /// @notice From when on a worker's sittings count.
    /// @param worker The worker.
    /// @return Its last enrolment; zeros without one. It counts while the pledge is the one that it names.
    function enrolmentOf(address worker) external view returns (Enrolment memory);

    /// @notice The exams.
    /// @return Their address.
    function exams() external view returns (IExams);

    /// @notice Where the claims are.
    /// @return Its address.
    function claims() external view returns (IPledgedClaims);
}
