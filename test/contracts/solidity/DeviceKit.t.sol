// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {
    Endorsement,
    IProvisioning,
    PublicKey,
    Report,
    ReportKind,
    Signature,
    SignedPayload,
    Statement,
    StatementScope
} from "../../../contracts/interfaces/IProvisioning.sol";
import {Claims, ReportEncoding} from "../../../contracts/attestation/ReportEncoding.sol";
import {DeviceId} from "../../../contracts/types/Ids.sol";
import {Shipped} from "./Shipped.sol";
import {vm} from "./Vm.sol";

/// @notice A real registry, its devices and their manufacturers, and blocks whose hashes it knows.
abstract contract DeviceKit {
    uint256 internal constant DEVICES = 6;
    uint256 internal constant MAKERS = 2;
    uint256 internal constant LIFETIME = 1 days;
    bytes32 internal constant FIRMWARE = keccak256("firmware");
    /// @dev The order of the P-256 group.
    uint256 private constant ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551;

    IProvisioning public registry;
    uint256 internal _height;
    mapping(uint256 device => uint256) internal _keys;
    mapping(uint256 device => uint64) internal _seqs;
    mapping(bytes32 statement => uint64) private _numbers;
    uint256 private _lastKey;

    /// @dev Deploys the registry. `actors` get a device each, by their order.
    function _deployRegistry(address[5] memory actors_, uint256 now_) internal {
        _height = 1_000;
        _nextBlock();
        _nextBlock();
        bytes32[] memory ids = new bytes32[](MAKERS);
        for (uint256 i = 0; i < MAKERS; ++i) ids[i] = _makerId(i);
        bytes memory arguments = abi.encode(ids, 1, LIFETIME);
        registry = IProvisioning(Shipped.deploy("contracts/attestation/Provisioning.sol:Provisioning", arguments));
        for (uint256 device = 0; device < DEVICES; ++device) _newKey(device);
        for (uint256 i = 0; i < 5; ++i) _attest(actors_[i], i, 0, 0, true, now_);
    }

    /// @dev Has a manufacturer freeze all of its devices, their firmware or one device, or thaw them.
    function _state(uint256 maker, StatementScope scope, uint256 device, bool frozen) internal {
        Statement memory s;
        s.scope = scope;
        if (s.scope == StatementScope.Firmware) s.subject = FIRMWARE;
        if (s.scope == StatementScope.Device) s.subject = DeviceId.unwrap(_idOf(device));
        s.frozen = frozen;
        uint256 key = _makerKey(maker);
        s.number = ++_numbers[keccak256(abi.encode(key, s.scope, s.subject))];
        bytes32 digest = sha256(abi.encode("refute statement 1", s.scope, s.subject, s.frozen, s.number));
        registry.makeStatement(s, _publicKey(key), _sign(key, digest));
    }

    /// @dev Shows that a device signed twice under one counter; its owner buys another one.
    function _retire(uint256 device) internal {
        uint256 key = _keys[device];
        registry.retireKey(_publicKey(key), 1, _payload(device, 0), _payload(device, bytes32(uint256(1))));
        _newKey(device);
    }

    /// @dev A report of a device for a worker, with an endorsement of a manufacturer or without.
    function _attest(address worker, uint256 device, uint256 maker, uint8 ahead, bool enrols, uint256 now_) internal {
        _nextBlock();
        Report memory r;
        r.key = _publicKey(_keys[device]);
        r.kind = ReportKind.Identification;
        r.debugStatus = 1;
        r.seq = _seqs[device] + 1 + ahead;
        r.worker = worker;
        r.firmware = FIRMWARE;
        r.gridBlock = uint64(_height - 1);
        Signature memory signature = _sign(_keys[device], registry.reportDigest(r));
        if (enrols) {
            Endorsement memory e = _endorsement(device, maker, now_);
            vm.prank(worker, worker);
            registry.enrol(e, r, signature);
        } else {
            vm.prank(worker, worker);
            registry.report(r, signature);
        }
        _seqs[device] = r.seq;
    }

    function _endorsement(uint256 device, uint256 maker, uint256 now_) private view returns (Endorsement memory e) {
        uint256 key = _makerKey(maker);
        e.manufacturer = _publicKey(key);
        e.firmware = FIRMWARE;
        // Some are short.
        e.notAfter = uint64(now_ + (device == 0 ? LIFETIME / 2 : 1_000 * LIFETIME));
        bytes memory ueid = abi.encodePacked(bytes1(0x01), _idOf(device));
        e.signature = _sign(key, sha256(abi.encode("refute endorsement 2", ueid, e.model, e.firmware, e.notAfter)));
    }

    function _payload(uint256 device, bytes32 body) private view returns (SignedPayload memory p) {
        p.kind = ReportKind.Identification;
        p.debugStatus = 1;
        p.body = body;
        Claims memory c;
        c.device = _idOf(device);
        c.kind = p.kind;
        c.debugStatus = p.debugStatus;
        c.seq = 1;
        c.body = body;
        bytes32 domain = keccak256(abi.encode("DongleReport/1", block.chainid, address(registry)));
        p.signature = _sign(_keys[device], ReportEncoding.signedDigest(domain, ReportEncoding.payload(c)));
    }

    function _newKey(uint256 device) private {
        _keys[device] = 1_000 + ++_lastKey;
        _seqs[device] = 0;
    }

    /// @dev Another block, which knows the hashes of the two before it.
    function _nextBlock() internal {
        ++_height;
        vm.roll(_height);
        vm.setBlockhash(_height - 1, keccak256(abi.encode(_height - 1)));
    }

    function _idOf(uint256 device) internal view returns (DeviceId) {
        PublicKey memory key = _publicKey(_keys[device]);
        return DeviceId.wrap(sha256(abi.encodePacked(key.x, key.y)));
    }

    function _makerKey(uint256 maker) private pure returns (uint256) {
        return 1 + maker;
    }

    function _makerId(uint256 maker) private pure returns (bytes32) {
        PublicKey memory key = _publicKey(_makerKey(maker));
        return keccak256(abi.encode(key.x, key.y));
    }

    function _publicKey(uint256 key) internal pure returns (PublicKey memory) {
        (uint256 x, uint256 y) = vm.publicKeyP256(key);
        return PublicKey(bytes32(x), bytes32(y));
    }

    function _sign(uint256 key, bytes32 digest) internal pure returns (Signature memory) {
        (bytes32 r, bytes32 s) = vm.signP256(key, digest);
        return Signature(r, uint256(s) > ORDER / 2 ? bytes32(ORDER - uint256(s)) : s);
    }
}
