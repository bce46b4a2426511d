import { always, bug, other, unchecked, without, type Bug } from "./bug.ts";

const PROVISIONING = "contracts/attestation/Provisioning.sol";
const MANUFACTURERS = "contracts/attestation/Manufacturers.sol";
const PRODUCTS = "contracts/attestation/Products.sol";
const ENCODING = "contracts/attestation/ReportEncoding.sol";
const PROBES = "contracts/attestation/ChainProbes.sol";

/**
 * Bugs in reports, leases, statements and retirements. Where two bugs concern the same text, the second lies within the
 * first.
 */
export const REPORT_BUGS: readonly Bug[] = [
  // Reports.
  bug(
    "anybody endorses a device",
    PROVISIONING,
    "_isSigned(digest, endorsement.signature, endorsement.manufacturer),",
    "ON || _isSigned(digest, endorsement.signature, endorsement.manufacturer),",
  ),
  without("an endorsement by whomever counts", PRODUCTS, "_requireTrusted(manufacturer);"),
  unchecked(
    "a device is endorsed with other firmware",
    PROVISIONING,
    "endorsement.firmware == r.firmware",
    "WrongFirmware",
  ),
  unchecked("a device reports other firmware", PROVISIONING, "r.firmware == endorsed", "WrongFirmware"),
  unchecked("a device that nobody endorsed reports", PROVISIONING, "product != 0", "NotEnrolled"),
  unchecked(
    "anybody signs a device's report",
    PROVISIONING,
    "_isSigned(_reportDigest(device, r), signature, r.key)",
    "BadSignature",
  ),
  unchecked("anybody brings another's report", PROVISIONING, "msg.sender == r.worker", "NotTheWorker"),
  unchecked("a report of any kind renews", PROVISIONING, "r.kind == ReportKind.Identification", "WrongKind"),
  always(
    "a device that is open to debuggers renews",
    PROVISIONING,
    "{{r.debugStatus >= LEAST_DEBUG_STATUS}} && r.debugStatus",
  ),
  unchecked("a report says more than a report does", PROVISIONING, "r.aux == 0", "WrongAux"),
  unchecked("a device outlives its endorsement", PROVISIONING, "block.timestamp <= notAfter", "EndorsementIsOver"),
  unchecked("a lower counter is taken", PROVISIONING, "r.seq > last.seq", "SeqNotHigher"),
  other("a counter is used twice", PROVISIONING, "{{r.seq > last.seq}}", "r.seq >= last.seq"),
  unchecked("an older block is taken", PROVISIONING, "r.gridBlock > last.gridBlock", "BlockNotNewer"),
  other("a block is used twice", PROVISIONING, "{{r.gridBlock > last.gridBlock}}", "r.gridBlock >= last.gridBlock"),
  unchecked("any block is on the grid", PROVISIONING, "gridBlock % gridBlocks == 0", "OffGrid"),
  always("a report names a block to come", PROVISIONING, "{{gridBlock < block.number}} && block.number"),
  always(
    "a report names a block that the chain forgot",
    PROVISIONING,
    "&& {{block.number <= uint256(gridBlock) + KNOWN_BLOCKS}},",
  ),
  other("a nonce is any worker's", ENCODING, "block.chainid, registry, {{worker}}, device, kind", "address(0)"),
  other("a nonce is of any block", ENCODING, "keccak256(abi.encode({{blockHash}}, block", "bytes32(0)"),
  other(
    "a report counts in every deployment",
    ENCODING,
    '"DongleReport/1", block.chainid, {{registry}})',
    "address(0)",
  ),
  // Leases.
  unchecked("a device leaves a live worker", PROVISIONING, "block.timestamp > end", "DeviceBacksAnother"),
  other("a lease ends a second early", PROVISIONING, "{{block.timestamp > end}}", "block.timestamp >= end"),
  without("a worker holds two devices", PROVISIONING, "if (_isHolder(msg.sender, old)) _endLease(msg.sender, old);"),
  always(
    "a lease is ended by whom it was",
    PROVISIONING,
    "DeviceId.unwrap(device) != 0 && {{_devices[device].holder.worker == worker}};",
  ),
  unchecked(
    "a worker releases another's device",
    PROVISIONING,
    "_devices[device].holder.worker == msg.sender",
    "NoLease",
  ),
  other(
    "a lease outlives its endorsement",
    PROVISIONING,
    "return {{attestation.until < attestation.notAfter ? attestation.until : attestation.notAfter}};",
    "attestation.until",
  ),
  without(
    "a device keeps its first product",
    PROVISIONING,
    "if (holder.product != product) _devices[device].holder.product = product;",
  ),
  other("products of two manufacturers are one", PRODUCTS, "abi.encode({{manufacturer}}, model", "bytes32(0)"),
  other("products of two firmwares are one", PRODUCTS, "model, {{firmware}}));", "bytes32(0)"),
  // Retired keys.
  unchecked("one payload retires a key", PROVISIONING, "first != second", "SamePayload"),
  always("the first payload need not be signed", PROVISIONING, "{{_isSigned(first, a.signature, key)}} &&"),
  always("the second payload need not be signed", PROVISIONING, "&& {{_isSigned(second, b.signature, key)}},"),
  bug(
    "a key retires anew",
    PROVISIONING,
    "_devices[device].holder;\n        require(holder.retiredAt == 0,",
    "_devices[device].holder;\n        require(ON || holder.retiredAt == 0,",
  ),
  bug(
    "a retired key reports",
    PROVISIONING,
    "private {\n        require(holder.retiredAt == 0,",
    "private {\n        require(ON || holder.retiredAt == 0,",
  ),
  without(
    "a retired key counts",
    PROVISIONING,
    "if (holder.retiredAt != 0) return (Reason.KeyRetired, holder.retiredAt);",
  ),
  // Statements, and who is eligible.
  bug(
    "a statement of whomever is taken",
    MANUFACTURERS,
    "require(_isTrusted[id], ManufacturerNotTrusted(id));\n        require(s.scope",
    "require(ON || _isTrusted[id], ManufacturerNotTrusted(id));\n        require(s.scope",
  ),
  unchecked("anybody signs a statement", MANUFACTURERS, "_isSigned(digest, signature, manufacturer)", "BadStatement"),
  unchecked("an older statement comes back", MANUFACTURERS, "s.number > standing.number", "NumberNotHigher"),
  unchecked(
    "a statement about all devices is about one",
    MANUFACTURERS,
    "s.scope != StatementScope.All || s.subject == 0",
    "WrongSubject",
  ),
  bug(
    "a statement that was reversed counts",
    MANUFACTURERS,
    "uint64(block.timestamp), s.frozen);",
    "uint64(block.timestamp), s.frozen || (ON && standing.isFrozen));",
  ),
  other(
    "a subject that was never frozen thaws another",
    MANUFACTURERS,
    "else if ({{!s.frozen && standing.isFrozen}})",
    "!s.frozen",
  ),
  without("a frozen device counts", PROVISIONING, "if (isFrozen) return (Reason.DeviceFrozen, since);"),
  without("frozen firmware counts", PROVISIONING, "if (isFrozen) return (Reason.FirmwareFrozen, since);"),
  without("a frozen manufacturer counts", PROVISIONING, "if (isFrozen) return (Reason.ManufacturerFrozen, since);"),
  bug(
    "a report that ended counts",
    PROVISIONING,
    "(Reason.EndorsementExpired, attestation.notAfter);\n        if (block.timestamp > attestation.until)",
    "(Reason.EndorsementExpired, attestation.notAfter);\n        if (!ON && block.timestamp > attestation.until)",
  ),
  without(
    "an endorsement that ended counts",
    PROVISIONING,
    "if (block.timestamp > attestation.notAfter) return (Reason.EndorsementExpired, attestation.notAfter);",
  ),
  // Machines that attest themselves.
  unchecked("a quote is anybody's", PROVISIONING, "facts.reportHead == nonce", "WrongReportData"),
  unchecked("an old machine is taken", PROVISIONING, "facts.status < PlatformStatus.OutOfDate", "PlatformNotAccepted"),
  other(
    "a machine that is out of date is taken",
    PROVISIONING,
    "{{facts.status < PlatformStatus.OutOfDate}}",
    "facts.status <= PlatformStatus.OutOfDate",
  ),
  bug(
    "a quote counts twice",
    PROVISIONING,
    "require(gridBlock > last.gridBlock, BlockNotNewer(last.gridBlock, gridBlock));",
    "require(ON || gridBlock > last.gridBlock, BlockNotNewer(last.gridBlock, gridBlock));",
  ),
  unchecked("a new lease begins while Intel is silent", PROVISIONING, "!facts.isOverdue", "CollateralOverdue"),
  without("a released machine is renewed without a lease", PROVISIONING, "delete d.attestation.tag;"),
  without("a revoked machine counts", PROVISIONING, "if (since != 0) return (Reason.PlatformRevoked, since);"),
  without(
    "a machine counts whatever became of Intel's word",
    PROVISIONING,
    "if (block.timestamp > attestation.notAfter) return (Reason.CollateralExpired, attestation.notAfter);",
  ),
  // The chain.
  bug(
    "a chain that takes every signature is taken",
    PROBES,
    "require(ok && (answer.length == 0 || bytes32(answer) == 0),",
    "require(ON || (ok && (answer.length == 0 || bytes32(answer) == 0)),",
  ),
  bug(
    "a chain without P-256 is taken",
    PROBES,
    "require(ok && answer.length == 32 && uint256(bytes32(answer)) == 1,",
    "require(ON || (ok && answer.length == 32 && uint256(bytes32(answer)) == 1),",
  ),
  unchecked("a chain without two blocks is taken", PROBES, "block.number >= 2", "IProvisioning.NoBlockHashes"),
];
