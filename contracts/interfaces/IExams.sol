// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {DeviceId} from "../types/Ids.sol";
import {IProvisioning, PublicKey, Signature} from "./IProvisioning.sol";

/// @notice A class: a program of the zoo, and the time limit for its trace.
/// @param programRoot The program. Its only input is the seed: int64[4], 32 bytes.
/// @param blocks T: a report counts up to `blocks` blocks after the exam's block.
struct ExamClass {
    bytes32 programRoot;
    uint16 blocks;
}

/// @notice A device's report that the sender sat an exam. The sender is the device's worker.
/// @param key The device's public key.
/// @param firmware Hash of the device's firmware. Signed, but not checked here.
/// @param traceRoot The root of the trace of the class's program on the exam's seed.
/// @param gridBlock The exam's block.
/// @param seq The device's counter: higher than in all earlier exams of the class; gaps are legal.
/// @param class The number of the class.
/// @param debugStatus EAT's dbgstat: 1 to 4.
struct ExamReport {
    PublicKey key;
    bytes32 firmware;
    bytes32 traceRoot;
    uint64 gridBlock;
    uint64 seq;
    uint8 class;
    uint8 debugStatus;
}

/// @notice An exam that a worker sat, with its claim about a program's execution.
/// @param worker The worker who sat the exam.
/// @param device The device that signed the report.
/// @param class The number of the class.
/// @param number The exam's number.
/// @param time When the report was accepted, unix time.
/// @param nonce The seed: the bytes of the program's only input.
/// @param traceRoot The trace root that the worker reported.
struct ExamResult {
    address worker;
    DeviceId device;
    uint8 class;
    uint32 number;
    uint64 time;
    bytes32 nonce;
    bytes32 traceRoot;
}

/// @title Exams: the first grid block with a hash below a threshold, at a distance from the last exam, is an exam, for
/// all classes and workers at once. A worker holds a class after 12 timely reports in the last 16 exams.
/// @dev The chain is the clock. A report has Provisioning's format (docs/protocol.md, "Exams"): body contains the
/// trace's root, aux the program's. The contract has no owner and moves no money. It does not check roots: a wrong root
/// can be refuted as a claim.
interface IExams {
    error NoCode(address target);
    error NoClasses();
    error TooManyClasses(uint256 given, uint256 most);
    error ZeroProgram(uint256 class);
    error BlocksOutOfRange(uint256 class, uint256 given, uint256 most);
    error OddsOutOfRange(uint256 given, uint256 most);
    error SpacingOutOfRange(uint256 given, uint256 least, uint256 most);
    error NoSuchClass(uint256 given, uint256 count);
    error NoExam(uint64 gridBlock);
    error ExamOver(uint64 gridBlock, uint256 lastBlock);
    error SatBefore(uint8 class, uint32 number);
    error NotItsDevice(address worker, DeviceId device);
    error ExamSeqNotHigher(uint64 last, uint64 given);
    error ZeroTraceRoot();

    event ExamNumbered(uint32 indexed number, uint64 gridBlock);
    event ExamSat(
        address indexed worker,
        DeviceId indexed device,
        uint8 indexed class,
        uint32 number,
        uint64 seq,
        bytes32 nonce,
        bytes32 traceRoot,
        uint16 passed
    );

    /// @notice Takes a device's report that the sender sat an exam in time. The first report of an exam numbers it.
    /// @dev Reverts with `NoSuchClass`, `NoExam`, `ExamOver`, `SatBefore`, `NotItsDevice`, `ExamSeqNotHigher`,
    /// `ZeroTraceRoot`, and `WrongDebugStatus` or `BadSignature` of Provisioning.
    /// @param r The report.
    /// @param signature The device's, over `examDigest`.
    function sit(ExamReport calldata r, Signature calldata signature) external;

    /// @notice Numbers an exam that nobody has reported yet, and thereby makes a missed exam visible. Anybody may call.
    /// @dev Reverts with `NoExam`, or `ExamOver` 256 blocks after the exam's block.
    /// @param gridBlock The exam's block.
    /// @return The exam's number.
    function numberExam(uint64 gridBlock) external returns (uint32);

    /// @notice Returns whether a worker holds a class: its device sat at least 12 of the last 16 exams for the class,
    /// in time.
    /// @dev An open exam counts only once the worker has sat the exam, or once the exam ends. The result does not imply
    /// `isLive`.
    /// @param worker The worker.
    /// @param class The number of the class.
    /// @return Whether the worker holds the class.
    function classHeld(address worker, uint8 class) external view returns (bool);

    /// @notice The classes that a worker holds.
    /// @param worker The worker.
    /// @return Bit i: class i.
    function classesOf(address worker) external view returns (uint256);

    /// @notice Returns which of the last 16 exams a worker sat in time.
    /// @param worker The worker.
    /// @param class The number of the class.
    /// @return Bit i: the i-th exam before the last one.
    function passedOf(address worker, uint8 class) external view returns (uint16);

    /// @notice Whether a worker sat an exam with a root. Those of its last 16 exams are known.
    /// @param s The exam result.
    /// @return Whether it did.
    function isResult(ExamResult calldata s) external view returns (bool);

    /// @notice Returns whether a block is an exam's block. Candidates are blocks on the grid, from the deployment on,
    /// with a known hash below the threshold. The last exam with a number is an exam, and the first candidate that is
    /// far enough from the last exam.
    /// @dev The chain knows the hashes of 256 blocks. An exam therefore stays an exam for 256 blocks, whoever calls
    /// what. A candidate that nobody numbers in this time is forgotten, and the next candidate becomes the first.
    /// @param gridBlock The block.
    /// @return Whether the block is an exam's.
    function isExam(uint64 gridBlock) external view returns (bool);

    /// @notice The last exam that has a number; zeros if there was none.
    /// @return number Its number; the first has 1.
    /// @return gridBlock Its block.
    function lastExam() external view returns (uint32 number, uint64 gridBlock);

    /// @notice The highest counter among a device's exams in this contract.
    /// @param device The device's id.
    /// @return The counter.
    function seqOf(DeviceId device) external view returns (uint64);

    /// @notice What a device signs for an exam: `sha256` of COSE's Sig_structure.
    /// @dev Reverts with `NoSuchClass`.
    /// @param worker The worker.
    /// @param r The report.
    /// @return The digest.
    function examDigest(address worker, ExamReport calldata r) external view returns (bytes32);

    /// @notice The zoo, fixed at deployment.
    /// @return The classes, by number.
    function classes() external view returns (ExamClass[] memory);

    /// @notice The registry of devices.
    /// @return It.
    function provisioning() external view returns (IProvisioning);

    /// @notice The odds of an exam: one in this many grid blocks is an exam.
    /// @return The number.
    function examOdds() external view returns (uint256);

    /// @notice The least distance of two exams.
    /// @return Blocks.
    function examSpacing() external view returns (uint256);
}
