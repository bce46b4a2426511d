// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {P256} from "@openzeppelin/contracts/utils/cryptography/P256.sol";
import {ExamClass, ExamReport, IExams, ExamResult} from "../interfaces/IExams.sol";
import {IProvisioning, ReportKind, Signature} from "../interfaces/IProvisioning.sol";
import {DeviceId} from "../types/Ids.sol";
import {Claims, ReportEncoding} from "./ReportEncoding.sol";

/// @dev The last exams that count for a class. A worker with `PASSES` passed exams among them holds the class.
uint256 constant KNOWN_EXAMS = 16;
uint256 constant PASSES = 12;

/// @title Exams of workers. See IExams.
contract Exams is IExams {
    /// @dev A device's exams of a class. `worker` holds the first 18 bytes of the worker's address: anyone who finds
    /// two addresses with the same 18 bytes owns both. `number` identifies the last exam that the device sat. Bit i of
    /// `passed` stands for the i-th exam before the last one.
    struct Attendance {
        bytes18 worker;
        uint32 number;
        uint16 passed;
        uint64 seq;
    }

    /// @dev A device's exams for a class: the attendance, and the hash of each recent `ExamResult`.
    struct Record {
        Attendance attendance;
        bytes32[KNOWN_EXAMS] results;
    }

    struct Exam {
        uint32 number;
        uint64 gridBlock;
    }

    /// @dev How far back the chain knows the hashes of blocks.
    uint256 private constant KNOWN_BLOCKS = 256;
    uint256 private constant MAX_CLASSES = 16;
    uint256 private constant MAX_ODDS = 1 << 16;
    uint256 private constant MAX_SPACING = 1 << 20;
    uint8 private constant LEAST_DEBUG_STATUS = 1;
    uint8 private constant MOST_DEBUG_STATUS = 4;

    /// @inheritdoc IExams
    IProvisioning public immutable provisioning;
    /// @inheritdoc IExams
    uint256 public immutable examOdds;
    /// @inheritdoc IExams
    uint256 public immutable examSpacing;
    uint256 private immutable _gridBlocks;
    uint256 private immutable _count;
    /// @dev The block of the deployment: exams begin with this block.
    uint256 private immutable _firstBlock;
    /// @dev One less than the blocks of each class, eight bits from the lowest up: a report need not load them.
    uint256 private immutable _blocks;

    mapping(uint256 class => bytes32) private _programs;
    Exam private _last;
    mapping(DeviceId device => mapping(uint8 class => Record)) private _records;

    /// @dev Reverts with `NoCode`, `NoClasses`, `TooManyClasses`, `ZeroProgram`, `BlocksOutOfRange`, `OddsOutOfRange`
    /// or `SpacingOutOfRange`.
    /// @param provisioning_ Contract that knows each device's worker and defines the grid.
    /// @param zoo The classes.
    /// @param odds One in `odds` grid blocks is an exam.
    /// @param spacing The minimum distance between two exams, blocks.
    constructor(IProvisioning provisioning_, ExamClass[] memory zoo, uint256 odds, uint256 spacing) {
        require(address(provisioning_).code.length != 0, NoCode(address(provisioning_)));
        uint256 count = zoo.length;
        require(count != 0, NoClasses());
        require(count <= MAX_CLASSES, TooManyClasses(count, MAX_CLASSES));
        uint256 packed = 0;
        for (uint256 i = 0; i < count; ++i) {
            uint256 blocks = zoo[i].blocks;
            require(zoo[i].programRoot != 0, ZeroProgram(i));
            require(blocks != 0 && blocks <= KNOWN_BLOCKS, BlocksOutOfRange(i, blocks, KNOWN_BLOCKS));
            _programs[i] = zoo[i].programRoot;
            packed |= (blocks - 1) << (8 * i);
        }
        require(odds != 0 && odds <= MAX_ODDS, OddsOutOfRange(odds, MAX_ODDS));
        // INVARIANT: only one exam can be open at a time, and storing the exam's number suffices.
        require(
            spacing >= KNOWN_BLOCKS && spacing <= MAX_SPACING,
            SpacingOutOfRange(spacing, KNOWN_BLOCKS, MAX_SPACING)
        );
        provisioning = provisioning_;
        examOdds = odds;
        examSpacing = spacing;
        _gridBlocks = provisioning_.gridBlocks();
        (_count, _blocks, _firstBlock) = (count, packed, block.number);
    }

    /// @inheritdoc IExams
    function sit(ExamReport calldata r, Signature calldata signature) external {
        ExamClass memory class = _class(r.class);
        uint32 number = _numbered(r.gridBlock, class.blocks);
        require(r.traceRoot != 0, ZeroTraceRoot());
        require(
            r.debugStatus >= LEAST_DEBUG_STATUS && r.debugStatus <= MOST_DEBUG_STATUS,
            IProvisioning.WrongDebugStatus(r.debugStatus)
        );
        DeviceId device = ReportEncoding.deviceId(r.key);
        // SAFETY: only the device's worker writes the device's record. Otherwise one machine could pass exams for
        // another.
        require(provisioning.deviceOf(msg.sender) == device, NotItsDevice(msg.sender, device));
        Record storage record = _records[device][r.class];
        Attendance memory next = _next(record.attendance, r, number);
        bytes32 nonce = _nonce(msg.sender, device, r.gridBlock);
        bytes32 digest = _digest(msg.sender, device, nonce, class.programRoot, r);
        require(
            P256.verifyNative(digest, signature.r, signature.s, r.key.x, r.key.y),
            IProvisioning.BadSignature(device)
        );
        record.attendance = next;
        record.results[number % KNOWN_EXAMS] = _resultHash(
            ExamResult(msg.sender, device, r.class, number, uint64(block.timestamp), nonce, r.traceRoot)
        );
        emit ExamSat(msg.sender, device, r.class, number, r.seq, nonce, r.traceRoot, next.passed);
    }

    /// @inheritdoc IExams
    function numberExam(uint64 gridBlock) external returns (uint32) {
        return _numbered(gridBlock, KNOWN_BLOCKS);
    }

    /// @inheritdoc IExams
    function classesOf(address worker) external view returns (uint256 held) {
        for (uint8 i = 0; i < _count; ++i) if (classHeld(worker, i)) held |= 1 << i;
    }

    /// @inheritdoc IExams
    function isResult(ExamResult calldata s) external view returns (bool) {
        return _records[s.device][s.class].results[s.number % KNOWN_EXAMS] == _resultHash(s);
    }

    /// @inheritdoc IExams
    function lastExam() external view returns (uint32 number, uint64 gridBlock) {
        return (_last.number, _last.gridBlock);
    }

    /// @inheritdoc IExams
    function seqOf(DeviceId device) external view returns (uint64 seq) {
        for (uint8 i = 0; i < _count; ++i) {
            uint64 last = _records[device][i].attendance.seq;
            if (last > seq) seq = last;
        }
    }

    /// @inheritdoc IExams
    function examDigest(address worker, ExamReport calldata r) external view returns (bytes32) {
        DeviceId device = ReportEncoding.deviceId(r.key);
        return _digest(worker, device, _nonce(worker, device, r.gridBlock), _class(r.class).programRoot, r);
    }

    /// @inheritdoc IExams
    function classes() external view returns (ExamClass[] memory all) {
        all = new ExamClass[](_count);
        for (uint8 i = 0; i < _count; ++i) all[i] = _class(i);
    }

    /// @inheritdoc IExams
    function classHeld(address worker, uint8 class) public view returns (bool) {
        uint256 bits = passedOf(worker, class);
        uint256 passes = 0;
        for (; bits != 0; bits &= bits - 1) ++passes;
        return passes >= PASSES;
    }

    /// @inheritdoc IExams
    function passedOf(address worker, uint8 class) public view returns (uint16) {
        uint256 blocks = _blocksOf(class);
        Attendance memory attendance = _records[provisioning.deviceOf(worker)][class].attendance;
        if (attendance.worker != bytes18(bytes20(worker))) return 0;
        uint256 missed = _last.number - attendance.number;
        // The last exam is open still: it is no miss yet.
        if (missed != 0 && block.number <= _last.gridBlock + blocks) --missed;
        return uint16(uint256(attendance.passed) << missed);
    }

    /// @inheritdoc IExams
    function isExam(uint64 gridBlock) public view returns (bool) {
        return _isExam(gridBlock, _last);
    }

    /// @dev Whether a block is the last exam with a number, or the next exam: the first candidate far enough from the
    /// last exam, of those with known hashes.
    // INVARIANT: an exam stays an exam while the chain knows its hash. Candidates before the exam are unknown already,
    // and numbering a later candidate is refused. Therefore no call makes an honest report void.
    function _isExam(uint64 gridBlock, Exam memory last) private view returns (bool) {
        if (gridBlock % _gridBlocks != 0 || !_isCandidate(gridBlock)) return false;
        uint256 first = _firstBlock;
        if (last.number != 0) {
            if (gridBlock == last.gridBlock) return true;
            first = last.gridBlock + examSpacing;
        }
        if (gridBlock < first) return false;
        unchecked {
            // At most `KNOWN_BLOCKS` steps: the hash of `gridBlock` is known, and the steps begin no earlier than the
            // earliest known hash.
            if (first + KNOWN_BLOCKS < block.number) first = block.number - KNOWN_BLOCKS;
            first += _gridBlocks - 1;
            for (first -= first % _gridBlocks; first < gridBlock; first += _gridBlocks)
                if (_isCandidate(first)) return false;
        }
        return true;
    }

    /// @dev Whether a block's hash is known, and low enough for an exam.
    function _isCandidate(uint256 gridBlock) private view returns (bool) {
        // For an unknown block, `blockhash` returns zero.
        uint256 hash = uint256(blockhash(gridBlock));
        return hash != 0 && hash <= type(uint256).max / examOdds;
    }

    /// @dev Returns the number of an exam that stays open for `blocks` blocks. The first caller assigns the number.
    function _numbered(uint64 gridBlock, uint256 blocks) private returns (uint32 number) {
        Exam memory last = _last;
        require(_isExam(gridBlock, last), NoExam(gridBlock));
        require(block.number <= gridBlock + blocks, ExamOver(gridBlock, gridBlock + blocks));
        if (gridBlock == last.gridBlock && last.number != 0) return last.number;
        number = last.number + 1;
        _last = Exam(number, gridBlock);
        emit ExamNumbered(number, gridBlock);
    }

    /// @dev Returns a device's attendance after the sender sits an exam with this device.
    function _next(
        Attendance memory last,
        ExamReport calldata r,
        uint32 number
    ) private view returns (Attendance memory) {
        require(r.seq > last.seq, ExamSeqNotHigher(last.seq, r.seq));
        bytes18 worker = bytes18(bytes20(msg.sender));
        // It begins anew with another worker.
        if (last.worker != worker) return Attendance(worker, number, 1, r.seq);
        // INVARIANT: each exam counts once.
        require(number > last.number, SatBefore(r.class, number));
        return Attendance(worker, number, uint16((uint256(last.passed) << (number - last.number)) | 1), r.seq);
    }

    function _class(uint8 class) private view returns (ExamClass memory) {
        uint256 blocks = _blocksOf(class);
        return ExamClass(_programs[class], uint16(blocks));
    }

    /// @dev Returns the number of blocks in which a report of a class counts.
    function _blocksOf(uint8 class) private view returns (uint256) {
        require(class < _count, NoSuchClass(class, _count));
        return uint256(uint8(_blocks >> (8 * class))) + 1;
    }

    function _nonce(address worker, DeviceId device, uint64 gridBlock) private view returns (bytes32) {
        return ReportEncoding.nonce(blockhash(gridBlock), address(provisioning), worker, device, ReportKind.Exam);
    }

    function _digest(
        address worker,
        DeviceId device,
        bytes32 nonce,
        bytes32 programRoot,
        ExamReport calldata r
    ) private view returns (bytes32) {
        bytes memory payload = ReportEncoding.payload(
            Claims({
                nonce: nonce,
                device: device,
                firmware: r.firmware,
                body: r.traceRoot,
                aux: programRoot,
                worker: worker,
                seq: r.seq,
                debugStatus: r.debugStatus,
                kind: ReportKind.Exam
            })
        );
        return ReportEncoding.signedDigest(ReportEncoding.domain(address(provisioning)), payload);
    }

    function _resultHash(ExamResult memory s) private pure returns (bytes32) {
        return keccak256(abi.encode(s));
    }
}
