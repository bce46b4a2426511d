// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IProvisioning, Report, ReportKind} from "../interfaces/IProvisioning.sol";
import {IQuoteVerifier} from "../interfaces/IQuoteVerifier.sol";

/// @title Attestations of workers. See IProvisioning.
contract Provisioning is IProvisioning {
    enum Trust {
        Unknown,
        Trusted,
        Revoked
    }

    struct Device {
        address worker;
        uint64 counter;
        bool revoked;
        bytes32 manufacturer;
    }

    struct Worker {
        bytes32 device;
        uint64 identifiedUntil;
        uint64 provisionedUntil;
    }

    struct Nonce {
        bytes32 value;
        uint64 issuedAt;
    }

    /// @inheritdoc IProvisioning
    IQuoteVerifier public immutable quoteVerifier;
    /// @inheritdoc IProvisioning
    address public immutable registrar;
    /// @notice Seconds in which a nonce must be used.
    uint256 public immutable nonceLifetime;
    /// @notice Longest time that a report may hold, seconds.
    uint256 public immutable reportLifetime;

    mapping(bytes32 manufacturer => Trust) private _manufacturers;
    mapping(bytes32 device => Device) private _devices;
    mapping(address worker => Worker) private _workers;
    mapping(address worker => mapping(ReportKind kind => Nonce)) private _nonces;

    modifier onlyRegistrar() {
        require(msg.sender == registrar, NotRegistrar(msg.sender));
        _;
    }

    constructor(
        IQuoteVerifier quoteVerifier_,
        address registrar_,
        bytes32[] memory manufacturers,
        uint256 nonceLifetime_,
        uint256 reportLifetime_
    ) {
        require(address(quoteVerifier_).code.length != 0, NoCode(address(quoteVerifier_)));
        require(nonceLifetime_ != 0 && reportLifetime_ != 0, ZeroLifetime());
        quoteVerifier = quoteVerifier_;
        registrar = registrar_;
        nonceLifetime = nonceLifetime_;
        reportLifetime = reportLifetime_;
        for (uint256 i = 0; i < manufacturers.length; ++i) _addManufacturer(manufacturers[i]);
    }

    /// @inheritdoc IProvisioning
    function requestNonce(ReportKind kind) external returns (bytes32 nonce) {
        // The previous block's hash cannot be known when a report is made in advance; prevrandao adds this block's own
        // randomness.
        nonce = keccak256(abi.encode(blockhash(block.number - 1), block.prevrandao, block.timestamp, msg.sender, kind));
        _nonces[msg.sender][kind] = Nonce(nonce, uint64(block.timestamp));
        emit NonceIssued(msg.sender, kind, nonce);
    }

    /// @inheritdoc IProvisioning
    function submitReport(Report calldata report, bytes calldata quote) external {
        // SAFETY: only the worker chooses its device; else any endorsed device could use up its nonce and displace its
        // own.
        require(msg.sender == report.worker, NotTheWorker(msg.sender, report.worker));
        _useNonce(report);
        require(report.expiry > block.timestamp, ReportExpired(report.expiry));
        uint256 latest = block.timestamp + reportLifetime;
        require(report.expiry <= latest, ReportTooLong(report.expiry, latest));
        (bytes32 manufacturer, bytes32 device) = quoteVerifier.verify(reportDigest(report), quote);
        require(_manufacturers[manufacturer] == Trust.Trusted, ManufacturerNotTrusted(manufacturer));
        bool isSameManufacturer = _devices[device].manufacturer == manufacturer;
        _bind(device, manufacturer, report);
        Worker storage w = _workers[report.worker];
        if (w.device != device || !isSameManufacturer) {
            // SAFETY: reports of two devices do not add up to one attestation, nor do those of one device under two
            // manufacturers: `isLive` asks for the trust in the latest one only.
            w.device = device;
            w.identifiedUntil = 0;
            w.provisionedUntil = 0;
        }
        if (report.kind == ReportKind.Identification) w.identifiedUntil = report.expiry;
        else w.provisionedUntil = report.expiry;
        emit ReportAccepted(
            report.worker,
            device,
            manufacturer,
            report.kind,
            report.counter,
            report.expiry,
            report.contentHash
        );
    }

    /// @inheritdoc IProvisioning
    function addManufacturer(bytes32 manufacturer) external onlyRegistrar {
        _addManufacturer(manufacturer);
    }

    /// @inheritdoc IProvisioning
    function revokeManufacturer(bytes32 manufacturer) external onlyRegistrar {
        _manufacturers[manufacturer] = Trust.Revoked;
        emit ManufacturerRevoked(manufacturer);
    }

    /// @inheritdoc IProvisioning
    function revokeDevice(bytes32 device) external onlyRegistrar {
        _devices[device].revoked = true;
        emit DeviceRevoked(device);
    }

    /// @inheritdoc IProvisioning
    function isLive(address worker) external view returns (bool) {
        Worker storage w = _workers[worker];
        if (w.identifiedUntil < block.timestamp || w.provisionedUntil < block.timestamp) return false;
        Device storage d = _devices[w.device];
        return !d.revoked && _manufacturers[d.manufacturer] == Trust.Trusted;
    }

    /// @inheritdoc IProvisioning
    function deviceOf(address worker) external view returns (bytes32) {
        return _workers[worker].device;
    }

    /// @inheritdoc IProvisioning
    function workerOf(bytes32 device) external view returns (address) {
        return _devices[device].worker;
    }

    /// @inheritdoc IProvisioning
    function expiries(address worker) external view returns (uint64 identification, uint64 provisioning) {
        Worker storage w = _workers[worker];
        return (w.identifiedUntil, w.provisionedUntil);
    }

    /// @inheritdoc IProvisioning
    function reportDigest(Report calldata report) public view returns (bytes32) {
        return sha256(abi.encode("refute report 1", block.chainid, address(this), report));
    }

    function _addManufacturer(bytes32 manufacturer) private {
        require(manufacturer != 0, ZeroManufacturer());
        // SAFETY: revocation is for good.
        require(_manufacturers[manufacturer] == Trust.Unknown, ManufacturerExists(manufacturer));
        _manufacturers[manufacturer] = Trust.Trusted;
        emit ManufacturerAdded(manufacturer);
    }

    /// @dev A nonce serves one report: a report cannot be replayed, nor made before the chain gave the nonce.
    function _useNonce(Report calldata report) private {
        Nonce storage n = _nonces[report.worker][report.kind];
        require(n.value != 0 && n.value == report.nonce, WrongNonce(n.value, report.nonce));
        require(block.timestamp <= n.issuedAt + nonceLifetime, NonceTooOld(n.issuedAt, nonceLifetime));
        delete _nonces[report.worker][report.kind];
    }

    /// @dev Binds a device to its first worker for good: one device backs one stake.
    function _bind(bytes32 device, bytes32 manufacturer, Report calldata report) private {
        Device storage d = _devices[device];
        require(!d.revoked, DeviceIsRevoked(device));
        require(d.worker == address(0) || d.worker == report.worker, DeviceBacksAnother(device, d.worker));
        require(report.counter > d.counter, CounterNotHigher(d.counter, report.counter));
        d.worker = report.worker;
        d.counter = report.counter;
        d.manufacturer = manufacturer;
    }
}
