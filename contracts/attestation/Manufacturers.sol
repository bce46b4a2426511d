// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {P256} from "@openzeppelin/contracts/utils/cryptography/P256.sol";
import {IProvisioning, PublicKey, Signature, Statement, StatementScope} from "../interfaces/IProvisioning.sol";

/// @title The manufacturers of a deployment, and each manufacturer's statements about its own devices.
abstract contract Manufacturers is IProvisioning {
    /// @dev The last statement about a subject. `since` is when it was brought, unix time.
    struct Standing {
        uint64 number;
        uint64 since;
        bool isFrozen;
    }

    uint256 private constant MAX_MANUFACTURERS = 32;

    bytes32[] private _manufacturers;
    mapping(bytes32 manufacturer => bool) private _isTrusted;
    mapping(bytes32 manufacturer => mapping(StatementScope scope => mapping(bytes32 subject => Standing)))
        private _standings;
    /// @dev How many subjects of each scope a manufacturer has frozen, 64 bits a scope. Usually none, and then nobody
    /// reads statements.
    mapping(bytes32 manufacturer => uint256) internal _frozenCounts;

    constructor(bytes32[] memory manufacturers_) {
        uint256 count = manufacturers_.length;
        require(count != 0, NoManufacturers());
        require(count <= MAX_MANUFACTURERS, TooManyManufacturers(count, MAX_MANUFACTURERS));
        for (uint256 i = 0; i < count; ++i) {
            bytes32 id = manufacturers_[i];
            require(id != 0, ZeroManufacturer());
            require(!_isTrusted[id], ManufacturerTwice(id));
            _isTrusted[id] = true;
        }
        _manufacturers = manufacturers_;
    }

    /// @inheritdoc IProvisioning
    // SAFETY: the key includes the manufacturer's name, so no manufacturer makes statements about another's devices. A
    // statement is not bound to a deployment: it holds in every deployment.
    function makeStatement(
        Statement calldata s,
        PublicKey calldata manufacturer,
        Signature calldata signature
    ) external {
        bytes32 id = _manufacturerId(manufacturer);
        require(_isTrusted[id], ManufacturerNotTrusted(id));
        require(s.scope != StatementScope.All || s.subject == 0, WrongSubject(s.subject));
        Standing storage standing = _standings[id][s.scope][s.subject];
        require(s.number > standing.number, NumberNotHigher(standing.number, s.number));
        bytes32 digest = sha256(abi.encode("refute statement 1", s.scope, s.subject, s.frozen, s.number));
        require(_isSigned(digest, signature, manufacturer), BadStatement(id));
        // INVARIANT: a subject counts while it is frozen, once: its statements are read only then.
        if (s.frozen && !standing.isFrozen) _frozenCounts[id] += _one(s.scope);
        else if (!s.frozen && standing.isFrozen) _frozenCounts[id] -= _one(s.scope);
        _standings[id][s.scope][s.subject] = Standing(s.number, uint64(block.timestamp), s.frozen);
        emit StatementMade(id, s.scope, s.subject, s.frozen, s.number);
    }

    /// @inheritdoc IProvisioning
    function statementOf(
        bytes32 manufacturer,
        StatementScope scope,
        bytes32 subject
    ) external view returns (bool frozen, uint64 number, uint64 since) {
        Standing storage s = _standings[manufacturer][scope][subject];
        return (s.isFrozen, s.number, s.since);
    }

    /// @inheritdoc IProvisioning
    function manufacturers() external view returns (bytes32[] memory) {
        return _manufacturers;
    }

    /// @dev Whether a manufacturer froze a subject, and since when.
    function _frozen(bytes32 id, StatementScope scope, bytes32 subject) internal view returns (bool, uint64) {
        Standing storage s = _standings[id][scope][subject];
        return (s.isFrozen, s.since);
    }

    /// @dev Whether any subject of a scope is frozen. @param counts Of `_frozenCounts`.
    function _hasFrozen(uint256 counts, StatementScope scope) internal pure returns (bool) {
        return uint64(counts / _one(scope)) != 0;
    }

    function _requireTrusted(bytes32 id) internal view {
        require(_isTrusted[id], ManufacturerNotTrusted(id));
    }

    /// @dev One subject of a scope, in `_frozenCounts`.
    function _one(StatementScope scope) private pure returns (uint256) {
        return 1 << (64 * uint256(scope));
    }

    function _manufacturerId(PublicKey calldata key) internal pure returns (bytes32) {
        return keccak256(abi.encode(key.x, key.y));
    }

    function _isSigned(
        bytes32 digest,
        Signature calldata signature,
        PublicKey calldata key
    ) internal view returns (bool) {
        return P256.verifyNative(digest, signature.r, signature.s, key.x, key.y);
    }
}
