// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ClaimId, DeviceId} from "../types/Ids.sol";
import {ProgramFacts} from "../types/Program.sol";
import {IClasses} from "./IClasses.sol";
import {IExams, ExamResult} from "./IExams.sol";
import {IPledgedClaims, PledgeStatus} from "./IPledgedClaims.sol";

/// @notice The start from which a worker's exam results count.
/// @param pledged The time since when the pledge behind the results is locked, unix time; 0: never enrolled.
/// @param number The first exam that counts has a higher number.
struct Enrolment {
    uint64 pledged;
    uint32 number;
}

/// @title Workers' exam reports, as claims backed by the workers' pledges: anyone can refute a wrong root, and nobody
/// can refute a right root.
/// @dev One of the contracts that may put claims on chain (`IPledgedClaims`). Without an owner and without money. Jobs
/// may ask this contract for a class (`IClasses`), which a worker holds with a pledge behind the class. The conditions:
/// the worker passed 12 of the last 16 exams after enrolment, its pledge has been locked since, and none of its claims
/// was refuted. A class does not imply `isLive`. A pledge under withdrawal backs nothing new: its worker holds no
/// class.
interface IExamClaims is IClasses {
    error NoCode(address target);
    error NotAResult(DeviceId device, uint8 class, uint32 number);
    error NotPledged(address worker, PledgeStatus status);
    error EnrolledBefore(address worker, uint256 pledged);

    event Enrolled(address indexed worker, uint256 pledged, uint32 number);
    event ResultChallenged(
        ClaimId indexed claimId,
        address indexed worker,
        address indexed challenger,
        uint8 class,
        uint32 number
    );

    /// @notice Records that a worker's pledge backs all exam results from now on. Anybody may call, once per pledge.
    /// @dev Reverts with `NotPledged` or `EnrolledBefore`.
    /// @param worker The owner of the pledge.
    function enrol(address worker) external;

    /// @notice Puts a worker's exam report on chain as a claim, with its seed. From then on the claim can be disputed
    /// and finalised like any other. Anybody may call, once per exam result.
    /// @dev Reverts with `NotAResult`, the market's `WrongProgram`, and as `IPledgedClaims.enter`.
    /// @param s The exam result, one of the worker's last 16 of the class.
    /// @param program The header and roots of the class's program.
    /// @return claimId The claim's id.
    function challenge(ExamResult calldata s, ProgramFacts calldata program) external returns (ClaimId claimId);

    /// @notice The start from which a worker's exam results count.
    /// @param worker The worker.
    /// @return The worker's last enrolment; zeros without enrolment. Valid only while the worker has the named pledge.
    function enrolmentOf(address worker) external view returns (Enrolment memory);

    /// @notice The exams.
    /// @return Their address.
    function exams() external view returns (IExams);

    /// @notice Where the claims are.
    /// @return Its address.
    function claims() external view returns (IPledgedClaims);
}
