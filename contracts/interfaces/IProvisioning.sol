// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {DeviceId} from "../types/Ids.sol";
import {IQuoteVerifier, PlatformStatus} from "./IQuoteVerifier.sol";

/// @notice The subject of a device's report. The values equal the claim `kind` in a report.
enum ReportKind {
    None,
    Identification,
    Exam
}

/// @notice Whether a worker may stake and claim: `Eligible`, or the first applicable reason against it, in this order.
/// Permanent reasons come before reasons that time or a new report can remove.
enum Reason {
    Eligible,
    NoDevice,
    KeyRetired,
    DeviceFrozen,
    FirmwareFrozen,
    ManufacturerFrozen,
    PlatformRevoked,
    EndorsementExpired,
    CollateralExpired,
    ReportExpired
}

/// @notice The subject of a manufacturer's statement: all its devices, the devices with a firmware, or one device.
enum StatementScope {
    All,
    Firmware,
    Device
}

/// @notice A point of the curve P-256.
struct PublicKey {
    bytes32 x;
    bytes32 y;
}

/// @notice A P-256 signature, with s in the lower half of the group order.
struct Signature {
    bytes32 r;
    bytes32 s;
}

/// @notice A device's report about a worker. It omits the nonce, which follows from the other fields.
/// @param key The device's public key.
/// @param kind The subject of the report.
/// @param debugStatus EAT's dbgstat: 1 (debugging is disabled) to 4 (fully and permanently).
/// @param seq The device's counter: higher than in all its earlier reports here; gaps are legal.
/// @param worker The worker whom the report serves.
/// @param firmware Hash of the device's firmware, as endorsed.
/// @param body The reported data: the Merkle root of an identification's leaves.
/// @param aux Zero in an identification.
/// @param gridBlock The block whose hash enters the nonce: a multiple of `gridBlocks`.
struct Report {
    PublicKey key;
    ReportKind kind;
    uint8 debugStatus;
    uint64 seq;
    address worker;
    bytes32 firmware;
    bytes32 body;
    bytes32 aux;
    uint64 gridBlock;
}

/// @notice A manufacturer's endorsement for its own device. It holds at every deployment.
/// @param manufacturer The manufacturer's public key.
/// @param model A name of the model.
/// @param firmware Hash of the device's firmware.
/// @param notAfter Unix time up to which the device counts.
/// @param signature The manufacturer's, over `sha256(abi.encode("refute endorsement 2", ueid, model, firmware,
/// notAfter))`.
struct Endorsement {
    PublicKey manufacturer;
    bytes32 model;
    bytes32 firmware;
    uint64 notAfter;
    Signature signature;
}

/// @notice A manufacturer's statement that some of its own devices shall not count, or shall count again.
/// @param scope The statement's scope.
/// @param subject The firmware or the device; zero for all devices.
/// @param frozen Whether the devices shall not count.
/// @param number The highest number per manufacturer, scope and subject wins; the first is 1.
struct Statement {
    StatementScope scope;
    bytes32 subject;
    bool frozen;
    uint64 number;
}

/// @notice A payload signed by a device, without the device's key and counter.
struct SignedPayload {
    bytes32 nonce;
    ReportKind kind;
    uint8 debugStatus;
    address worker;
    bytes32 firmware;
    bytes32 body;
    bytes32 aux;
    Signature signature;
}

/// @notice The stored facts about a device; all zero for an unknown device.
/// @param manufacturer The endorsing manufacturer: `keccak256(abi.encode(x, y))` of its key.
/// @param model As endorsed.
/// @param firmware As endorsed.
/// @param notAfter As endorsed, unix time; at most 2^32 - 1.
/// @param seq The counter of the device's last report; for a platform, its certificate.
/// @param gridBlock The block of the last report's nonce.
/// @param reportUntil Unix time up to which the last report holds.
/// @param retiredAt When the device's key was retired, unix time; 0 for an unretired key.
struct DeviceInfo {
    bytes32 manufacturer;
    bytes32 model;
    bytes32 firmware;
    uint64 notAfter;
    uint64 seq;
    uint64 gridBlock;
    uint64 reportUntil;
    uint64 retiredAt;
}

/// @title Who may stake and claim: an admission filter. It has no say in any outcome and touches no money.
/// @dev A report is a COSE_Sign1 over EAT claims (docs/protocol.md, "Attestation"); this contract encodes it again from
/// its fields. A device's id is `sha256(x || y)` of its key. One device backs one live worker: a lease, which ends with
/// the report, the endorsement or `release`. Nothing here is owned: manufacturers are fixed at deployment, and each
/// has a say in its own devices only.
interface IProvisioning {
    error NoP256Precompile();
    error NoBlockHashes();
    error NoManufacturers();
    error TooManyManufacturers(uint256 given, uint256 most);
    error ZeroManufacturer();
    error ManufacturerTwice(bytes32 manufacturer);
    error GridOutOfRange(uint256 given, uint256 most);
    error LifetimeOutOfRange(uint256 given, uint256 most);
    error NotTheWorker(address caller, address worker);
    error WrongKind(ReportKind kind);
    error WrongDebugStatus(uint8 given);
    error WrongAux(bytes32 given);
    error OffGrid(uint64 given, uint256 gridBlocks);
    error BlockOutOfReach(uint64 given, uint256 current);
    error BlockNotNewer(uint64 last, uint64 given);
    error SeqNotHigher(uint64 last, uint64 given);
    error NotEnrolled(DeviceId device);
    error ManufacturerNotTrusted(bytes32 manufacturer);
    error WrongFirmware(bytes32 endorsed, bytes32 given);
    error EndorsementIsOver(uint64 notAfter);
    error KeyIsRetired(DeviceId device, uint64 since);
    error DeviceBacksAnother(DeviceId device, address worker, uint64 until);
    error BadEndorsement(bytes32 manufacturer, DeviceId device);
    error BadSignature(DeviceId device);
    error BadStatement(bytes32 manufacturer);
    error WrongSubject(bytes32 given);
    error NumberNotHigher(uint64 last, uint64 given);
    error SamePayload(DeviceId device, uint64 seq);
    error NoLease(address worker);
    error WrongReportData(DeviceId device);
    error PlatformNotAccepted(PlatformStatus status);
    error CollateralOverdue(DeviceId device);

    event Enrolled(
        DeviceId indexed device,
        bytes32 indexed manufacturer,
        bytes32 model,
        bytes32 firmware,
        uint64 notAfter
    );
    event ReportAccepted(
        address indexed worker,
        DeviceId indexed device,
        ReportKind kind,
        uint8 debugStatus,
        uint64 seq,
        uint64 gridBlock,
        uint64 until,
        bytes32 body
    );
    event PlatformAttested(
        address indexed worker,
        DeviceId indexed device,
        bytes32 indexed workload,
        PlatformStatus status,
        bool isOverdue,
        uint64 until,
        bytes32 body
    );
    event LeaseEnded(address indexed worker, DeviceId indexed device);
    event StatementMade(
        bytes32 indexed manufacturer,
        StatementScope indexed scope,
        bytes32 indexed subject,
        bool frozen,
        uint64 number
    );
    event KeyRetired(DeviceId indexed device, uint64 seq);

    /// @notice Takes a manufacturer's endorsement and its device's report, for the caller: a device's first
    /// endorsement, or a new endorsement of a known device.
    /// @dev Reverts with `WrongFirmware`, `EndorsementIsOver`, `ManufacturerNotTrusted` or `BadEndorsement`, and as
    /// `report` does.
    /// @param endorsement The endorsement.
    /// @param r The report.
    /// @param signature The device's, over `reportDigest`.
    function enrol(Endorsement calldata endorsement, Report calldata r, Signature calldata signature) external;

    /// @notice Takes a known device's report for the caller. The device backs the caller from now on for
    /// `reportLifetime` seconds, but no longer than the endorsement holds. Another device of the caller becomes free.
    /// @dev Reverts with `NotTheWorker`, `WrongKind`, `WrongDebugStatus`, `WrongAux`, `OffGrid`, `BlockOutOfReach`,
    /// `BlockNotNewer`, `SeqNotHigher`, `NotEnrolled`, `WrongFirmware`, `EndorsementIsOver`, `KeyIsRetired`,
    /// `DeviceBacksAnother` or `BadSignature`. A frozen device's reports are accepted: a frozen device may thaw.
    /// @param r The report.
    /// @param signature The device's, over `reportDigest`.
    function report(Report calldata r, Signature calldata signature) external;

    /// @notice Takes a quote from a machine that attests itself, for example an Intel TDX trust domain, for the caller.
    /// The machine backs the caller from now on like a device. The device's id is `keccak256(abi.encode(verifier,
    /// platform))`. The quote's report data consist of `nonceOf` the caller, the device, `Identification` and the
    /// block, followed by the body of the report: the Merkle root of an identification's leaves.
    /// @dev The manufacturer's status for the machine counts up to `OutOfDate`. Reverts with `ManufacturerNotTrusted`,
    /// `WrongReportData`, `PlatformNotAccepted`, `CollateralOverdue`, `OffGrid`, `BlockOutOfReach`, `BlockNotNewer` or
    /// `DeviceBacksAnother`, and as the verifier does.
    /// @param evidence The quote and its supporting data, in the verifier's format.
    /// @param verifier The verifier for machines of this kind: its address is one of `manufacturers`.
    /// @param gridBlock The block whose hash enters the nonce.
    function attestPlatform(bytes calldata evidence, IQuoteVerifier verifier, uint64 gridBlock) external;

    /// @notice Ends the caller's lease at once. The device backs a worker again one day later, or when the lease would
    /// have ended if that is earlier: otherwise one device would back several workers of one panel in turns.
    /// @dev Reverts with `NoLease`.
    function release() external;

    /// @notice Takes a manufacturer's statement about its own devices, from anybody.
    /// @dev Reverts with `ManufacturerNotTrusted`, `WrongSubject`, `NumberNotHigher` or `BadStatement`.
    /// @param s The statement.
    /// @param manufacturer The manufacturer's public key.
    /// @param signature The manufacturer's, over `sha256(abi.encode("refute statement 1", scope, subject, frozen,
    /// number))`.
    function makeStatement(
        Statement calldata s,
        PublicKey calldata manufacturer,
        Signature calldata signature
    ) external;

    /// @notice Retires a device's key for good. The proof consists of two different payloads for this deployment that
    /// the device signed under one counter. Anybody may call; no money moves.
    /// @dev Reverts with `SamePayload`, `KeyIsRetired` or `BadSignature`.
    /// @param key The device's public key.
    /// @param seq The counter of both payloads.
    /// @param a One payload.
    /// @param b The other.
    function retireKey(PublicKey calldata key, uint64 seq, SignedPayload calldata a, SignedPayload calldata b) external;

    /// @notice Whether a worker may stake and claim now: whether `whyNotEligible` gives `Eligible`.
    /// @param worker The worker.
    /// @return Whether it may.
    function isLive(address worker) external view returns (bool);

    /// @notice Why a worker may not stake and claim now.
    /// @param worker The worker.
    /// @return reason `Eligible` if it may.
    /// @return time Unix time: until when, if it may; since when it may not, otherwise; 0 where that is not known.
    function whyNotEligible(address worker) external view returns (Reason reason, uint64 time);

    /// @notice Returns the device of a worker's last report, unless the worker gave the device up or another worker has
    /// it.
    /// @param worker The worker.
    /// @return The device's id, zero without a device.
    function deviceOf(address worker) external view returns (DeviceId);

    /// @notice The worker that a device backs now.
    /// @param device The device's id.
    /// @return The worker, zero if the device is free.
    function workerOf(DeviceId device) external view returns (address);

    /// @notice What is known of a device.
    /// @param device The device's id.
    /// @return It.
    function deviceInfo(DeviceId device) external view returns (DeviceInfo memory);

    /// @notice The last statement of a manufacturer about a subject; all zero if there is none.
    /// @param manufacturer The manufacturer's id.
    /// @param scope What it is about.
    /// @param subject The firmware or the device; zero for all devices.
    /// @return frozen Whether they do not count.
    /// @return number The statement's number.
    /// @return since When it was brought, unix time.
    function statementOf(
        bytes32 manufacturer,
        StatementScope scope,
        bytes32 subject
    ) external view returns (bool frozen, uint64 number, uint64 since);

    /// @notice Returns the nonce for a report sent in this block.
    /// @dev Reverts with `OffGrid` or `BlockOutOfReach`.
    /// @param worker The worker.
    /// @param device The device's id.
    /// @param kind The subject of the report.
    /// @param gridBlock The block whose hash enters the nonce.
    /// @return `keccak256(abi.encode(blockhash(gridBlock), chain id, this contract, worker, device, kind))`.
    function nonceOf(
        address worker,
        DeviceId device,
        ReportKind kind,
        uint64 gridBlock
    ) external view returns (bytes32);

    /// @notice What a device signs: `sha256` of COSE's Sig_structure.
    /// @dev Reverts as `nonceOf` does.
    /// @param r The report.
    /// @return The digest.
    function reportDigest(Report calldata r) external view returns (bytes32);

    /// @notice The distance between blocks whose hashes can enter nonces.
    /// @return The distance, in blocks.
    function gridBlocks() external view returns (uint256);

    /// @notice How long a report holds.
    /// @return Seconds.
    function reportLifetime() external view returns (uint256);

    /// @notice The manufacturers whose devices count, fixed at deployment.
    /// @return Their ids: `keccak256(abi.encode(x, y))` of their keys; the addresses of verifiers, as numbers.
    function manufacturers() external view returns (bytes32[] memory);
}
