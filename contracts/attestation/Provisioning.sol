// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Hashes} from "@openzeppelin/contracts/utils/cryptography/Hashes.sol";
import {
    DeviceInfo,
    Endorsement,
    IProvisioning,
    PublicKey,
    Reason,
    Report,
    ReportKind,
    Signature,
    SignedPayload,
    StatementScope
} from "../interfaces/IProvisioning.sol";
import {IQuoteVerifier, PlatformStatus, QuoteFacts} from "../interfaces/IQuoteVerifier.sol";
import {DeviceId} from "../types/Ids.sol";
import {ChainProbes} from "./ChainProbes.sol";
import {Manufacturers} from "./Manufacturers.sol";
import {Products} from "./Products.sol";
import {Claims, ReportEncoding} from "./ReportEncoding.sol";

/// @title Attestations of workers. See IProvisioning.
contract Provisioning is Products {
    /// @dev Whom a device backs. Its worker has it as `_deviceOf`.
    struct Holder {
        address worker;
        uint32 product;
        uint64 retiredAt;
    }

    /// @dev The fields that a report changes. `until` and `notAfter` are unix times. For a platform, `seq` holds its
    /// certificate, and `notAfter` is when the manufacturer's statement about the platform expires; times past 2106 are
    /// stored as the last second of 32 bits. `tag` marks the holder (`_tagOf`), so that a renewal reads no second word;
    /// zero while the device backs nobody.
    struct Attestation {
        uint64 seq;
        uint32 gridBlock;
        uint32 until;
        uint32 notAfter;
        uint96 tag;
    }

    struct Device {
        Holder holder;
        Attestation attestation;
    }

    /// @dev How far back the chain knows the hashes of blocks.
    uint256 private constant KNOWN_BLOCKS = 256;
    /// @dev The widest grid. From each grid block on, a report has another `MAX_GRID` blocks for signing and inclusion.
    uint256 private constant MAX_GRID = KNOWN_BLOCKS / 2;
    uint256 private constant MAX_LIFETIME = 365 days;
    /// @dev Seconds from a worker's release of its device until the device backs another worker.
    uint256 private constant RELEASE_SECONDS = 1 days;
    /// @dev The model of all platforms: the verifier, as their manufacturer, says more.
    bytes32 private constant PLATFORM = "platform";
    uint8 private constant LEAST_DEBUG_STATUS = 1;
    uint8 private constant MOST_DEBUG_STATUS = 4;

    /// @inheritdoc IProvisioning
    uint256 public immutable gridBlocks;
    /// @inheritdoc IProvisioning
    uint256 public immutable reportLifetime;

    mapping(DeviceId device => Device) private _devices;
    mapping(address worker => DeviceId device) private _deviceOf;

    /// @dev Reverts with `NoP256Precompile`, `NoBlockHashes`, `NoManufacturers`, `TooManyManufacturers`,
    /// `ZeroManufacturer`, `ManufacturerTwice`, `GridOutOfRange` or `LifetimeOutOfRange`.
    constructor(
        bytes32[] memory manufacturers_,
        uint256 gridBlocks_,
        uint256 reportLifetime_
    ) Manufacturers(manufacturers_) {
        ChainProbes.requireP256();
        ChainProbes.requireBlockHashes();
        require(gridBlocks_ != 0 && gridBlocks_ <= MAX_GRID, GridOutOfRange(gridBlocks_, MAX_GRID));
        require(
            reportLifetime_ != 0 && reportLifetime_ <= MAX_LIFETIME,
            LifetimeOutOfRange(reportLifetime_, MAX_LIFETIME)
        );
        gridBlocks = gridBlocks_;
        reportLifetime = reportLifetime_;
    }

    /// @inheritdoc IProvisioning
    function enrol(Endorsement calldata endorsement, Report calldata r, Signature calldata signature) external {
        require(endorsement.firmware == r.firmware, WrongFirmware(endorsement.firmware, r.firmware));
        DeviceId device = ReportEncoding.deviceId(r.key);
        bytes32 manufacturer = _manufacturerId(endorsement.manufacturer);
        uint32 product = _numberOf(manufacturer, endorsement.model, endorsement.firmware);
        bytes32 digest = sha256(
            abi.encode(
                "refute endorsement 2",
                abi.encodePacked(bytes1(0x01), device),
                endorsement.model,
                endorsement.firmware,
                endorsement.notAfter
            )
        );
        require(
            _isSigned(digest, endorsement.signature, endorsement.manufacturer),
            BadEndorsement(manufacturer, device)
        );
        emit Enrolled(device, manufacturer, endorsement.model, endorsement.firmware, endorsement.notAfter);
        _accept(device, product, endorsement.notAfter, r, signature);
    }

    /// @inheritdoc IProvisioning
    function report(Report calldata r, Signature calldata signature) external {
        DeviceId device = ReportEncoding.deviceId(r.key);
        uint32 product = _devices[device].holder.product;
        require(product != 0, NotEnrolled(device));
        bytes32 endorsed = _product(product).firmware;
        require(r.firmware == endorsed, WrongFirmware(endorsed, r.firmware));
        _accept(device, product, _devices[device].attestation.notAfter, r, signature);
    }

    /// @inheritdoc IProvisioning
    // SAFETY: the manufacturers include a verifier by its address, and no key's id equals an address. The verifier
    // reports the quote's facts. This function binds the quote to the caller and to a recent block. The quote itself
    // contains every reported value.
    function attestPlatform(bytes calldata evidence, IQuoteVerifier verifier, uint64 gridBlock) external {
        bytes32 manufacturer = bytes32(uint256(uint160(address(verifier))));
        QuoteFacts memory facts = verifier.verify(evidence);
        // Only the verifier enrols devices under this id, and therefore belongs to the manufacturers.
        DeviceId device = DeviceId.wrap(Hashes.efficientKeccak256(manufacturer, facts.platform));
        Device storage d = _devices[device];
        Attestation memory last = d.attestation;
        // INVARIANT: a device with a worker's tag backs this worker. The lease is then renewed, as in `_lease`.
        if (last.tag != _tagOf(msg.sender)) {
            Holder memory holder = d.holder;
            uint32 product = holder.product;
            if (product == 0) product = _numberOf(manufacturer, PLATFORM, 0);
            require(!facts.isOverdue, CollateralOverdue(device));
            _lease(device, holder, product, last);
        }
        bytes32 nonce = nonceOf(msg.sender, device, ReportKind.Identification, gridBlock);
        require(facts.reportHead == nonce, WrongReportData(device));
        require(facts.status < PlatformStatus.OutOfDate, PlatformNotAccepted(facts.status));
        require(gridBlock > last.gridBlock, BlockNotNewer(last.gridBlock, gridBlock));
        uint64 until = uint64(block.timestamp + reportLifetime);
        _write(d.attestation, facts.certificate, gridBlock, until, facts.until);
        emit PlatformAttested(
            msg.sender,
            device,
            facts.workload,
            facts.status,
            facts.isOverdue,
            until < facts.until ? until : facts.until,
            facts.reportTail
        );
    }

    /// @inheritdoc IProvisioning
    function release() external {
        DeviceId device = _deviceOf[msg.sender];
        require(_devices[device].holder.worker == msg.sender, NoLease(msg.sender));
        _deviceOf[msg.sender] = DeviceId.wrap(0);
        _endLease(msg.sender, device);
    }

    /// @inheritdoc IProvisioning
    // SAFETY: only equivocation retires a key. A device that signs each counter once never signs two payloads under one
    // counter, whatever happens to the report. Anyone who restores an old copy of a device's memory risks only the key.
    function retireKey(
        PublicKey calldata key,
        uint64 seq,
        SignedPayload calldata a,
        SignedPayload calldata b
    ) external {
        DeviceId device = ReportEncoding.deviceId(key);
        Holder storage holder = _devices[device].holder;
        require(holder.retiredAt == 0, KeyIsRetired(device, holder.retiredAt));
        bytes32 first = _signedDigest(device, seq, a);
        bytes32 second = _signedDigest(device, seq, b);
        require(first != second, SamePayload(device, seq));
        require(_isSigned(first, a.signature, key) && _isSigned(second, b.signature, key), BadSignature(device));
        holder.retiredAt = uint64(block.timestamp);
        emit KeyRetired(device, seq);
    }

    /// @inheritdoc IProvisioning
    function isLive(address worker) external view returns (bool) {
        (Reason reason, ) = whyNotEligible(worker);
        return reason == Reason.Eligible;
    }

    /// @inheritdoc IProvisioning
    function deviceOf(address worker) external view returns (DeviceId) {
        DeviceId device = _deviceOf[worker];
        return _isHolder(worker, device) ? device : DeviceId.wrap(0);
    }

    /// @inheritdoc IProvisioning
    function workerOf(DeviceId device) external view returns (address) {
        Device storage d = _devices[device];
        return block.timestamp <= _leaseEnd(d.attestation) ? d.holder.worker : address(0);
    }

    /// @inheritdoc IProvisioning
    function deviceInfo(DeviceId device) external view returns (DeviceInfo memory) {
        Device storage d = _devices[device];
        Product storage p = _product(d.holder.product);
        Attestation storage a = d.attestation;
        return
            DeviceInfo(
                p.manufacturer,
                p.model,
                p.firmware,
                a.notAfter,
                a.seq,
                a.gridBlock,
                a.until,
                d.holder.retiredAt
            );
    }

    /// @inheritdoc IProvisioning
    function reportDigest(Report calldata r) external view returns (bytes32) {
        return _reportDigest(ReportEncoding.deviceId(r.key), r);
    }

    /// @inheritdoc IProvisioning
    function whyNotEligible(address worker) public view returns (Reason, uint64) {
        DeviceId id = _deviceOf[worker];
        if (!_isHolder(worker, id)) return (Reason.NoDevice, 0);
        Holder storage holder = _devices[id].holder;
        if (holder.retiredAt != 0) return (Reason.KeyRetired, holder.retiredAt);
        Product storage product = _product(holder.product);
        Attestation memory attestation = _devices[id].attestation;
        bytes32 manufacturer = product.manufacturer;
        if (uint256(manufacturer) <= type(uint160).max) return _whyNotPlatform(manufacturer, attestation);
        uint256 counts = _frozenCounts[manufacturer];
        if (counts != 0) {
            (Reason reason, uint64 since) = _whyFrozen(counts, manufacturer, id, product);
            if (reason != Reason.Eligible) return (reason, since);
        }
        if (block.timestamp > attestation.notAfter) return (Reason.EndorsementExpired, attestation.notAfter);
        if (block.timestamp > attestation.until) return (Reason.ReportExpired, attestation.until);
        return (Reason.Eligible, _leaseEnd(attestation));
    }

    /// @inheritdoc IProvisioning
    function nonceOf(address worker, DeviceId device, ReportKind kind, uint64 gridBlock) public view returns (bytes32) {
        require(gridBlock % gridBlocks == 0, OffGrid(gridBlock, gridBlocks));
        require(
            gridBlock < block.number && block.number <= uint256(gridBlock) + KNOWN_BLOCKS,
            BlockOutOfReach(gridBlock, block.number)
        );
        return ReportEncoding.nonce(blockhash(gridBlock), address(this), worker, device, kind);
    }

    /// @dev What a manufacturer's statements say against a device. Reads no statements of a scope without a frozen
    /// subject.
    /// @param counts The manufacturer's `_frozenCounts`.
    function _whyFrozen(
        uint256 counts,
        bytes32 manufacturer,
        DeviceId id,
        Product storage product
    ) private view returns (Reason, uint64 since) {
        bool isFrozen;
        if (_hasFrozen(counts, StatementScope.Device)) {
            (isFrozen, since) = _frozen(manufacturer, StatementScope.Device, DeviceId.unwrap(id));
            if (isFrozen) return (Reason.DeviceFrozen, since);
        }
        if (_hasFrozen(counts, StatementScope.Firmware)) {
            (isFrozen, since) = _frozen(manufacturer, StatementScope.Firmware, product.firmware);
            if (isFrozen) return (Reason.FirmwareFrozen, since);
        }
        if (_hasFrozen(counts, StatementScope.All)) {
            (isFrozen, since) = _frozen(manufacturer, StatementScope.All, 0);
            if (isFrozen) return (Reason.ManufacturerFrozen, since);
        }
        return (Reason.Eligible, 0);
    }

    /// @dev The rest of `whyNotEligible`, for a platform.
    function _whyNotPlatform(bytes32 verifier, Attestation memory attestation) private view returns (Reason, uint64) {
        uint64 since = IQuoteVerifier(address(uint160(uint256(verifier)))).revokedSince(attestation.seq);
        if (since != 0) return (Reason.PlatformRevoked, since);
        if (block.timestamp > attestation.notAfter) return (Reason.CollateralExpired, attestation.notAfter);
        if (block.timestamp > attestation.until) return (Reason.ReportExpired, attestation.until);
        return (Reason.Eligible, _leaseEnd(attestation));
    }

    /// @dev Checks a device's report by which the caller renews the device.
    function _accept(
        DeviceId device,
        uint32 product,
        uint64 notAfter,
        Report calldata r,
        Signature calldata signature
    ) private {
        // SAFETY: only the worker chooses its device; else any endorsed device could displace its own.
        require(msg.sender == r.worker, NotTheWorker(msg.sender, r.worker));
        require(r.kind == ReportKind.Identification, WrongKind(r.kind));
        require(
            r.debugStatus >= LEAST_DEBUG_STATUS && r.debugStatus <= MOST_DEBUG_STATUS,
            WrongDebugStatus(r.debugStatus)
        );
        require(r.aux == 0, WrongAux(r.aux));
        require(block.timestamp <= notAfter, EndorsementIsOver(notAfter));
        Device storage d = _devices[device];
        Attestation memory last = d.attestation;
        require(r.seq > last.seq, SeqNotHigher(last.seq, r.seq));
        require(r.gridBlock > last.gridBlock, BlockNotNewer(last.gridBlock, r.gridBlock));
        _lease(device, d.holder, product, last);
        require(_isSigned(_reportDigest(device, r), signature, r.key), BadSignature(device));
        uint64 until = uint64(block.timestamp + reportLifetime);
        _write(d.attestation, r.seq, r.gridBlock, until, notAfter);
        emit ReportAccepted(
            r.worker,
            device,
            r.kind,
            r.debugStatus,
            r.seq,
            r.gridBlock,
            until < notAfter ? until : notAfter,
            r.body
        );
    }

    /// @dev Has a device back the caller.
    /// @param holder Whom it backs.
    /// @param last The device's last report, by which another lease may still hold.
    function _lease(DeviceId device, Holder memory holder, uint32 product, Attestation memory last) private {
        require(holder.retiredAt == 0, KeyIsRetired(device, holder.retiredAt));
        if (holder.worker == msg.sender) {
            if (holder.product != product) _devices[device].holder.product = product;
            return;
        }
        uint64 end = _leaseEnd(last);
        require(block.timestamp > end, DeviceBacksAnother(device, holder.worker, end));
        if (holder.worker != address(0)) emit LeaseEnded(holder.worker, device);
        DeviceId old = _deviceOf[msg.sender];
        if (_isHolder(msg.sender, old)) _endLease(msg.sender, old);
        _devices[device].holder = Holder(msg.sender, product, 0);
        _deviceOf[msg.sender] = device;
    }

    /// @dev Writes an attestation for the caller at once. Assigned as a struct, its word would be read and written for
    /// several fields. SAFETY: `gridBlock` is a block before this one (`nonceOf`): 32 bits last 34 years at 4 blocks a
    /// second. From 2106 on every report ends in the past.
    function _write(
        Attestation storage attestation,
        uint64 seq,
        uint64 gridBlock,
        uint64 until,
        uint256 notAfter
    ) private {
        // From the lowest bit up, as the compiler packs.
        uint256 word = seq | (uint256(uint32(gridBlock)) << 64) | (uint256(uint32(until)) << 96);
        word |= (notAfter < type(uint32).max ? notAfter : type(uint32).max) << 128;
        word |= uint256(_tagOf(msg.sender)) << 160;
        assembly ("memory-safe") {
            sstore(attestation.slot, word)
        }
    }

    /// @dev SAFETY: the device backs nobody else for `RELEASE_SECONDS`. Otherwise one device would make any number of
    /// workers eligible in turns, and only jobs of one group see that these workers share a device.
    function _endLease(address worker, DeviceId device) private {
        Device storage d = _devices[device];
        delete d.holder.worker;
        // INVARIANT: only the holder's tag stands here. Otherwise the next report of the old holder makes no new lease.
        delete d.attestation.tag;
        uint32 free = uint32(block.timestamp + RELEASE_SECONDS);
        if (d.attestation.until > free) d.attestation.until = free;
        emit LeaseEnded(worker, device);
    }

    /// @dev A worker's entry remains after another worker takes its device.
    function _isHolder(address worker, DeviceId device) private view returns (bool) {
        return DeviceId.unwrap(device) != 0 && _devices[device].holder.worker == worker;
    }

    /// @dev The part of a worker's address that an attestation has room for.
    // SAFETY: an address with the tag of another worker, or with tag zero, takes some 2^96 tries. Two workers of one
    // owner can be made alike (2^48 tries). Either then renews the holder's lease, and only the holder is eligible.
    function _tagOf(address worker) private pure returns (uint96) {
        return uint96(uint160(worker));
    }

    function _leaseEnd(Attestation memory attestation) private pure returns (uint64) {
        return attestation.until < attestation.notAfter ? attestation.until : attestation.notAfter;
    }

    function _reportDigest(DeviceId device, Report calldata r) private view returns (bytes32) {
        return
            _digest(
                Claims({
                    nonce: nonceOf(r.worker, device, r.kind, r.gridBlock),
                    device: device,
                    firmware: r.firmware,
                    body: r.body,
                    aux: r.aux,
                    worker: r.worker,
                    seq: r.seq,
                    debugStatus: r.debugStatus,
                    kind: r.kind
                })
            );
    }

    function _signedDigest(DeviceId device, uint64 seq, SignedPayload calldata p) private view returns (bytes32) {
        return
            _digest(
                Claims({
                    nonce: p.nonce,
                    device: device,
                    firmware: p.firmware,
                    body: p.body,
                    aux: p.aux,
                    worker: p.worker,
                    seq: seq,
                    debugStatus: p.debugStatus,
                    kind: p.kind
                })
            );
    }

    function _digest(Claims memory claims) private view returns (bytes32) {
        return ReportEncoding.signedDigest(ReportEncoding.domain(address(this)), ReportEncoding.payload(claims));
    }
}
