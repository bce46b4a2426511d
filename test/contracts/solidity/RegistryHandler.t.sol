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
import {ClaimStatus} from "../../../contracts/interfaces/IMarketEvents.sol";
import {Claims, ReportEncoding} from "../../../contracts/provisioning/ReportEncoding.sol";
import {ProtocolHandler} from "./ProtocolHandler.t.sol";
import {Shipped} from "./Shipped.sol";
import {vm} from "./Vm.sol";

/// @notice The protocol with the real registry, and everything that can be called on it, at random.
contract RegistryHandler is ProtocolHandler {
    uint256 private constant DEVICES = 6;
    uint256 private constant MAKERS = 2;
    uint256 private constant LIFETIME = 1 days;
    /// @dev No game has as many moves.
    uint256 private constant MOST_MOVES = 16;
    bytes32 private constant FIRMWARE = keccak256("firmware");
    /// @dev The order of the P-256 group.
    uint256 private constant ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551;

    IProvisioning public registry;
    /// @notice Lies in their windows that could not be refuted: there may be none.
    uint256 public immortal;
    /// @notice Lies that were refuted.
    uint256 public refutedLies;
    uint256 private _height;
    mapping(uint256 device => uint256) private _keys;
    mapping(uint256 device => uint64) private _seqs;
    mapping(bytes32 statement => uint64) private _numbers;
    uint256 private _lastKey;

    /// @notice A report of some device for some worker, with an endorsement of some manufacturer or without.
    function attestWorker(uint8 who, uint8 device, uint8 maker, uint8 ahead, bool enrols) external {
        _attest(actors[who % 5], device % DEVICES, maker % MAKERS, ahead, enrols);
    }

    /// @notice A statement about all devices, their firmware, or one device.
    function makeStatement(uint8 maker, uint8 scope, uint8 device, bool frozen) external {
        Statement memory s;
        s.scope = StatementScope(scope % 3);
        if (s.scope == StatementScope.Firmware) s.subject = FIRMWARE;
        if (s.scope == StatementScope.Device) s.subject = _idOf(device % DEVICES);
        s.frozen = frozen;
        uint256 key = _makerKey(maker % MAKERS);
        s.number = ++_numbers[keccak256(abi.encode(key, s.scope, s.subject))];
        bytes32 digest = sha256(abi.encode("refute statement 1", s.scope, s.subject, s.frozen, s.number));
        registry.makeStatement(s, _publicKey(key), _sign(key, digest));
    }

    function releaseWorker(uint8 who) external {
        _prankAs(actors[who % 5]);
        registry.release();
    }

    /// @notice Shows that a device signed twice under one counter; its owner buys another one.
    function retireKey(uint8 which) external {
        uint256 device = which % DEVICES;
        uint256 key = _keys[device];
        registry.retireKey(_publicKey(key), 1, _payload(device, 0), _payload(device, bytes32(uint256(1))));
        _newKey(device);
    }

    /// @notice Time in which reports end.
    function waitADay() external {
        this.move(7_199, 10);
        _now += LIFETIME;
        vm.warp(_now);
    }

    /// @notice Refutes what can be refuted.
    function refuteLies() external {
        for (uint256 c = 0; c < _claims.length; ++c) {
            if (!_isStandingLie(c)) continue;
            try this.refute(c) {
                ++refutedLies;
            } catch {
                ++immortal;
            }
        }
    }

    /// @notice Plays a game to the end of a lie.
    function refute(uint256 c) external {
        _openBy(_swarm[0], c, true);
        uint256 g = _games.length - 1;
        for (uint256 moves = 0; _isStandingLie(c); ++moves) {
            require(moves < MOST_MOVES, "the game does not end");
            this.playGame(uint8(g), 3);
        }
    }

    /// @notice Whether each device backs one worker at most.
    function leasesAreExclusive() external view returns (bool) {
        for (uint256 device = 0; device < DEVICES; ++device) {
            uint256 live;
            for (uint256 i = 0; i < 5; ++i)
                if (registry.deviceOf(actors[i]) == _idOf(device) && registry.isLive(actors[i])) ++live;
            if (live > 1) return false;
        }
        return true;
    }

    function _isStandingLie(uint256 c) private view returns (bool) {
        if (!_lie[_claimId(_claims[c])] || _now >= _windowEnd[c]) return false;
        (ClaimStatus status, , , , ) = market.claimOf(_key(_claims[c]));
        return status == ClaimStatus.Submitted;
    }

    /// @dev Called while the world is built: every actor gets a device of its own.
    function _registry() internal override returns (IProvisioning) {
        _height = 1_000;
        _nextBlock();
        _nextBlock();
        bytes32[] memory ids = new bytes32[](MAKERS);
        for (uint256 i = 0; i < MAKERS; ++i) ids[i] = _makerId(i);
        bytes memory arguments = abi.encode(ids, 1, LIFETIME);
        registry = IProvisioning(Shipped.deploy("contracts/provisioning/Provisioning.sol:Provisioning", arguments));
        for (uint256 device = 0; device < DEVICES; ++device) _newKey(device);
        for (uint160 i = 0; i < 5; ++i) _attest(address(0x1000 + i), i, 0, 0, true);
        return registry;
    }

    function _swarmSize() internal pure override returns (uint160) {
        return 1;
    }

    function _attest(address worker, uint256 device, uint256 maker, uint8 ahead, bool enrols) private {
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
            Endorsement memory e = _endorsement(device, maker);
            _prankAs(worker);
            registry.enrol(e, r, signature);
        } else {
            _prankAs(worker);
            registry.report(r, signature);
        }
        _seqs[device] = r.seq;
    }

    function _endorsement(uint256 device, uint256 maker) private view returns (Endorsement memory e) {
        uint256 key = _makerKey(maker);
        e.manufacturer = _publicKey(key);
        e.firmware = FIRMWARE;
        // Some are short.
        e.notAfter = uint64(_now + (device == 0 ? LIFETIME / 2 : 1_000 * LIFETIME));
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
    function _nextBlock() private {
        ++_height;
        vm.roll(_height);
        vm.setBlockhash(_height - 1, keccak256(abi.encode(_height - 1)));
    }

    function _idOf(uint256 device) private view returns (bytes32) {
        PublicKey memory key = _publicKey(_keys[device]);
        return sha256(abi.encodePacked(key.x, key.y));
    }

    function _makerKey(uint256 maker) private pure returns (uint256) {
        return 1 + maker;
    }

    function _makerId(uint256 maker) private pure returns (bytes32) {
        PublicKey memory key = _publicKey(_makerKey(maker));
        return keccak256(abi.encode(key.x, key.y));
    }

    function _publicKey(uint256 key) private pure returns (PublicKey memory) {
        (uint256 x, uint256 y) = vm.publicKeyP256(key);
        return PublicKey(bytes32(x), bytes32(y));
    }

    function _sign(uint256 key, bytes32 digest) private pure returns (Signature memory) {
        (bytes32 r, bytes32 s) = vm.signP256(key, digest);
        return Signature(r, uint256(s) > ORDER / 2 ? bytes32(ORDER - uint256(s)) : s);
    }
}
