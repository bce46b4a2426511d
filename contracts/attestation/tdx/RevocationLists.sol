// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Certificates} from "./Certificates.sol";
import {Der} from "./Der.sol";
import {P256Signatures} from "./P256Signatures.sol";

/// @dev A revocation list as it was read; nothing of it is verified.
/// @param entries Where the entries start; where they stop, if there is none.
struct RevocationList {
    bytes32 digest;
    bytes32 r;
    bytes32 s;
    bytes32 issuer;
    uint64 thisUpdate;
    uint64 nextUpdate;
    uint256 entries;
    uint256 entriesEnd;
}

/// @title Certificate revocation lists (RFC 5280): whole ones, signed with P-256.
library RevocationLists {
    uint256 private constant MAX_EXTENSIONS = 8;

    /// @notice Reads a list that takes up all the data. Does not look at the list's entries.
    /// @dev Reverts with `MalformedDer`, `BadDate` or `UnknownCriticalExtension`: partial lists and delta lists have
    /// critical extensions.
    function parse(bytes calldata data) internal pure returns (RevocationList memory list) {
        (uint256 pos, uint256 end) = Der.read(data, 0, data.length, Der.SEQUENCE);
        require(end == data.length, Der.MalformedDer(0));
        (uint256 tbs, uint256 tbsEnd) = Der.read(data, pos, end, Der.SEQUENCE);
        list.digest = sha256(data[pos:tbsEnd]);
        pos = Certificates.readAlgorithm(data, tbsEnd, end);
        (list.r, list.s, pos) = P256Signatures.read(data, pos, end);
        require(pos == end, Der.MalformedDer(pos));
        _parseTbs(data, tbs, tbsEnd, list);
    }

    /// @notice Returns whether a list contains a serial number. Walks the entries and requires each to be whole.
    function contains(
        bytes calldata data,
        RevocationList memory list,
        uint256 serial
    ) internal pure returns (bool found) {
        (uint256 pos, uint256 end) = (list.entries, list.entriesEnd);
        while (pos < end) {
            (uint256 start, uint256 stop) = Der.read(data, pos, end, Der.SEQUENCE);
            (uint256 revoked, ) = Der.readUint(data, start, stop);
            if (revoked == serial) found = true;
            pos = stop;
        }
    }

    function _parseTbs(bytes calldata data, uint256 pos, uint256 end, RevocationList memory list) private pure {
        pos = _parseHead(data, pos, end, list);
        (list.entries, list.entriesEnd) = (pos, pos);
        if (Der.peek(data, pos, end) == Der.SEQUENCE) {
            (list.entries, list.entriesEnd) = Der.read(data, pos, end, Der.SEQUENCE);
            pos = list.entriesEnd;
        }
        if (pos == end) return;
        (uint256 start, uint256 stop) = Der.read(data, pos, end, 0xa0);
        require(stop == end, Der.MalformedDer(pos));
        (pos, end) = Der.read(data, start, stop, Der.SEQUENCE);
        require(end == stop, Der.MalformedDer(start));
        for (uint256 count = 0; pos < end; ++count) {
            require(count < MAX_EXTENSIONS, Der.MalformedDer(pos));
            (start, stop) = Der.read(data, pos, end, Der.SEQUENCE);
            _requireNotCritical(data, start, stop);
            pos = stop;
        }
    }

    /// @dev Version 2, algorithm, issuer and dates.
    function _parseHead(
        bytes calldata data,
        uint256 pos,
        uint256 end,
        RevocationList memory list
    ) private pure returns (uint256 stop) {
        uint256 version;
        (version, pos) = Der.readUint(data, pos, end);
        require(version == 1, Der.MalformedDer(pos));
        pos = Certificates.readAlgorithm(data, pos, end);
        (, stop) = Der.read(data, pos, end, Der.SEQUENCE);
        list.issuer = keccak256(data[pos:stop]);
        (list.thisUpdate, pos) = Der.readTime(data, stop, end);
        (list.nextUpdate, stop) = Der.readTime(data, pos, end);
    }

    function _requireNotCritical(bytes calldata data, uint256 pos, uint256 end) private pure {
        uint256 oid;
        (oid, pos) = Der.readOid(data, pos, end);
        (bool isCritical, ) = Certificates.readFlag(data, pos, end);
        require(!isCritical, Certificates.UnknownCriticalExtension(oid));
    }
}
