// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IQuoteVerifier} from "./IQuoteVerifier.sol";

enum ReportKind {
    Identification,
    Provisioning
}

/// @notice What a device reports about a worker's machine.
/// @param kind Identification (accelerators, driver, firmware) or provisioning (a benchmark, its result and time).
/// @param worker The worker whom the report serves.
/// @param nonce The nonce that the chain gave this worker for this kind.
/// @param counter The device's counter; higher than in all its earlier reports.
/// @param expiry Unix time up to which the report holds.
/// @param contentHash Hash of the report's content, which is published off chain.
struct Report {
    ReportKind kind;
    address worker;
    bytes32 nonce;
    uint64 counter;
    uint64 expiry;
    bytes32 contentHash;
}

/// @title Who may stake and claim: an admission filter. It has no say in any outcome and touches no money.
/// @dev The registrar can add and revoke manufacturers and revoke devices. That stops new stakes and claims, nothing
/// else.
interface IProvisioning {
    error NoCode(address account);
    error NotRegistrar(address caller);
    error ZeroManufacturer();
    error ManufacturerExists(bytes32 manufacturer);
    error ManufacturerNotTrusted(bytes32 manufacturer);
    error DeviceIsRevoked(bytes32 device);
    error DeviceBacksAnother(bytes32 device, address worker);
    error NotTheWorker(address caller, address worker);
    error WrongNonce(bytes32 expected, bytes32 given);
    error NonceTooOld(uint256 issuedAt, uint256 lifetime);
    error CounterNotHigher(uint64 last, uint64 given);
    error ReportExpired(uint64 expiry);
    error ReportTooLong(uint64 expiry, uint256 latest);
    error ZeroLifetime();

    event ManufacturerAdded(bytes32 indexed manufacturer);
    event ManufacturerRevoked(bytes32 indexed manufacturer);
    event DeviceRevoked(bytes32 indexed device);
    event NonceIssued(address indexed worker, ReportKind indexed kind, bytes32 nonce);
    event ReportAccepted(
        address indexed worker,
        bytes32 indexed device,
        bytes32 indexed manufacturer,
        ReportKind kind,
        uint64 counter,
        uint64 expiry,
        bytes32 contentHash
    );

    /// @notice Gives the caller a fresh nonce for its next report of a kind; an earlier one is void.
    /// @param kind The kind of report.
    /// @return nonce The nonce.
    function requestNonce(ReportKind kind) external returns (bytes32 nonce);

    /// @notice Records a report about the caller; the device's quote vouches for it.
    /// @dev Reverts with `NotTheWorker`, `WrongNonce`, `NonceTooOld`, `ReportExpired`, `ReportTooLong`,
    /// `ManufacturerNotTrusted`, `DeviceIsRevoked`, `DeviceBacksAnother` or `CounterNotHigher`, and as the quote
    /// verifier does.
    /// @param report The report.
    /// @param quote The device's quote over `reportDigest(report)`, in the quote verifier's format.
    function submitReport(Report calldata report, bytes calldata quote) external;

    /// @notice Trusts a manufacturer (registrar only). A revoked one stays revoked.
    /// @dev Reverts with `NotRegistrar`, `ZeroManufacturer` or `ManufacturerExists`.
    /// @param manufacturer Id of the manufacturer's key.
    function addManufacturer(bytes32 manufacturer) external;

    /// @notice Revokes a manufacturer for good (registrar only): its devices back no new stake and no new claim.
    /// @dev Reverts with `NotRegistrar`.
    /// @param manufacturer Id of the manufacturer's key.
    function revokeManufacturer(bytes32 manufacturer) external;

    /// @notice Revokes a device for good (registrar only).
    /// @dev Reverts with `NotRegistrar`.
    /// @param device Id of the device's key.
    function revokeDevice(bytes32 device) external;

    /// @notice Whether a worker has both reports unexpired, from one device under one manufacturer, neither revoked.
    /// @param worker The worker.
    /// @return Whether it may stake and claim.
    function isLive(address worker) external view returns (bool);

    /// @notice The digest that a device quotes: sha256(abi.encode("refute report 1", chain id, this contract, report)).
    /// @param report The report.
    /// @return The digest.
    function reportDigest(Report calldata report) external view returns (bytes32);

    /// @notice The device that backs a worker.
    /// @param worker The worker.
    /// @return Id of the device's key, zero if there is none.
    function deviceOf(address worker) external view returns (bytes32);

    /// @notice The worker that a device backs.
    /// @param device Id of the device's key.
    /// @return The worker, zero if there is none.
    function workerOf(bytes32 device) external view returns (address);

    /// @notice When a worker's reports expire (unix time); 0 if there is none.
    /// @param worker The worker.
    /// @return identification Expiry of its identification.
    /// @return provisioning Expiry of its provisioning report.
    function expiries(address worker) external view returns (uint64 identification, uint64 provisioning);

    /// @notice Who may add manufacturers, and revoke them and devices.
    /// @return Its address.
    function registrar() external view returns (address);

    /// @notice The contract that verifies quotes.
    /// @return Its address.
    function quoteVerifier() external view returns (IQuoteVerifier);
}
