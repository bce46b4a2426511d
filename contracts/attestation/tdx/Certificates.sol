// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Der} from "./Der.sol";
import {P256Signatures} from "./P256Signatures.sol";
import {Words} from "./Words.sol";

/// @dev A certificate after parsing, with nothing verified.
/// @param digest SHA-256 of the signed part.
/// @param issuer Hash of the issuer's name, as DER.
/// @param subject Hash of the subject's name, as DER.
/// @param commonName Hash of the subject's common name.
/// @param keyUsage The bits of the key usage: 0x80 signatures, 0x04 certificates, 0x02 revocation lists.
/// @param sgxStart Start of the content of Intel's extension; 0 without this extension.
// solhint-disable-next-line gas-struct-packing
struct Certificate {
    bytes32 digest;
    bytes32 r;
    bytes32 s;
    uint256 serial;
    bytes32 issuer;
    bytes32 subject;
    bytes32 commonName;
    uint64 notBefore;
    uint64 notAfter;
    bytes32 x;
    bytes32 y;
    bool isAuthority;
    uint8 keyUsage;
    uint256 sgxStart;
    uint256 sgxStop;
}

/// @title X.509 certificates (RFC 5280) with keys and signatures of P-256.
library Certificates {
    /// @dev `SEQUENCE {OBJECT IDENTIFIER ecdsa-with-SHA256}`.
    uint256 private constant ALGORITHM = 0x300a_0608_2a8648ce3d040302;
    uint256 private constant ALGORITHM_BYTES = 12;
    /// @dev `[0] {INTEGER 2}`, version 3.
    uint256 private constant VERSION = 0xa003_020102;
    uint256 private constant VERSION_BYTES = 5;
    uint256 private constant COMMON_NAME = 0x550403;
    uint256 private constant KEY_USAGE = 0x551d0f;
    uint256 private constant BASIC_CONSTRAINTS = 0x551d13;
    uint256 private constant SGX_EXTENSION = 0x2a864886f84d010d01;
    /// @dev Two extensions, critical both: for signatures and non-repudiation, and no authority.
    uint256 private constant END_ENTITY = 0x300e_0603551d0f_0101ff_0404_030206c0_300c_0603551d13_0101ff_0402_3000;
    uint256 private constant END_ENTITY_BYTES = 30;
    uint8 private constant END_ENTITY_USAGE = 0xc0;
    uint256 private constant MAX_EXTENSIONS = 16;
    uint256 private constant MAX_NAME_PARTS = 10;
    /// @dev `SEQUENCE {SEQUENCE {ecPublicKey, prime256v1}, BIT STRING of 66 bytes: no bits left over, uncompressed}`.
    uint256 private constant KEY_HEADER = 0x3059301306072a8648ce3d020106082a8648ce3d030107034200_04;
    uint256 private constant KEY_HEADER_BYTES = 27;
    uint256 private constant KEY_BYTES = KEY_HEADER_BYTES + 64;
    /// @dev The name that Intel gives all platforms: CN=Intel SGX PCK Certificate, O=Intel Corporation, L=Santa Clara,
    /// ST=CA, C=US.
    bytes32 private constant PLATFORM_SUBJECT = keccak256(
        hex"3070"
        hex"3122302006035504030c19496e74656c205347582050434b204365727469666963617465"
        hex"311a3018060355040a0c11496e74656c20436f72706f726174696f6e"
        hex"3114301206035504070c0b53616e746120436c617261"
        hex"310b300906035504080c024341"
        hex"310b3009060355040613025553"
    );
    bytes32 private constant PLATFORM_NAME = keccak256("Intel SGX PCK Certificate");

    error UnknownCriticalExtension(uint256 oid);
    error ExtensionTwice(uint256 oid);

    /// @notice Reads a certificate that takes up all the data.
    /// @dev Reverts with `MalformedDer`, `BadDate`, `UnknownCriticalExtension` or `ExtensionTwice`.
    function parse(bytes calldata data) internal pure returns (Certificate memory c) {
        (uint256 pos, uint256 end) = Der.read(data, 0, data.length, Der.SEQUENCE);
        require(end == data.length, Der.MalformedDer(0));
        (uint256 tbs, uint256 tbsEnd) = Der.read(data, pos, end, Der.SEQUENCE);
        c.digest = sha256(data[pos:tbsEnd]);
        pos = readAlgorithm(data, tbsEnd, end);
        (c.r, c.s, pos) = P256Signatures.read(data, pos, end);
        require(pos == end, Der.MalformedDer(pos));
        _parseTbs(data, tbs, tbsEnd, c);
    }

    /// @notice Reads the algorithm identifier for ECDSA with SHA-256, which has no parameters.
    /// @return stop End of the identifier.
    function readAlgorithm(bytes calldata data, uint256 pos, uint256 end) internal pure returns (uint256 stop) {
        stop = pos + ALGORITHM_BYTES;
        require(Words.number(data, pos, ALGORITHM_BYTES) == ALGORITHM && stop <= end, Der.MalformedDer(pos));
    }

    function _parseTbs(bytes calldata data, uint256 pos, uint256 end, Certificate memory c) private pure {
        pos = _parseIssuer(data, pos, end, c);
        pos = _parseValidity(data, pos, end, c);
        pos = _parseSubject(data, pos, end, c);
        pos = _parseKey(data, pos, end, c);
        (uint256 start, uint256 stop) = Der.read(data, pos, end, 0xa3);
        require(stop == end, Der.MalformedDer(pos));
        (pos, end) = Der.read(data, start, stop, Der.SEQUENCE);
        require(end == stop, Der.MalformedDer(start));
        for (uint256 count = 0; pos < end; ++count) {
            require(count < MAX_EXTENSIONS, Der.MalformedDer(pos));
            // Certificates other than authorities' contain the same two extensions in this order: the code reads both
            // at once.
            if (
                Words.number(data, pos, END_ENTITY_BYTES) == END_ENTITY &&
                pos + END_ENTITY_BYTES <= end &&
                c.keyUsage == 0 &&
                !c.isAuthority
            ) {
                c.keyUsage = END_ENTITY_USAGE;
                pos += END_ENTITY_BYTES;
                continue;
            }
            (start, stop) = Der.read(data, pos, end, Der.SEQUENCE);
            _parseExtension(data, start, stop, c);
            pos = stop;
        }
    }

    /// @dev Version 3, serial number, algorithm and issuer.
    function _parseIssuer(
        bytes calldata data,
        uint256 pos,
        uint256 end,
        Certificate memory c
    ) private pure returns (uint256 stop) {
        // If the read passes the end, the serial number ends past it too.
        require(Words.number(data, pos, VERSION_BYTES) == VERSION, Der.MalformedDer(pos));
        (c.serial, pos) = Der.readUint(data, pos + VERSION_BYTES, end);
        pos = readAlgorithm(data, pos, end);
        (, stop) = Der.read(data, pos, end, Der.SEQUENCE);
        c.issuer = keccak256(data[pos:stop]);
    }

    function _parseValidity(
        bytes calldata data,
        uint256 pos,
        uint256 end,
        Certificate memory c
    ) private pure returns (uint256 stop) {
        (pos, stop) = Der.read(data, pos, end, Der.SEQUENCE);
        (c.notBefore, pos) = Der.readTime(data, pos, stop);
        (c.notAfter, pos) = Der.readTime(data, pos, stop);
        require(pos == stop, Der.MalformedDer(pos));
    }

    function _parseSubject(
        bytes calldata data,
        uint256 pos,
        uint256 end,
        Certificate memory c
    ) private pure returns (uint256 stop) {
        uint256 start;
        (start, stop) = Der.read(data, pos, end, Der.SEQUENCE);
        c.subject = keccak256(data[pos:stop]);
        c.commonName = c.subject == PLATFORM_SUBJECT ? PLATFORM_NAME : _commonName(data, start, stop);
    }

    function _parseKey(
        bytes calldata data,
        uint256 pos,
        uint256 end,
        Certificate memory c
    ) private pure returns (uint256 stop) {
        stop = pos + KEY_BYTES;
        require(stop < end && Der.short(data, pos, pos + KEY_HEADER_BYTES) == KEY_HEADER, Der.MalformedDer(pos));
        c.x = bytes32(Der.short(data, stop - 64, stop - 32));
        c.y = bytes32(Der.short(data, stop - 32, stop));
    }

    function _parseExtension(bytes calldata data, uint256 pos, uint256 end, Certificate memory c) private pure {
        uint256 oid;
        (oid, pos) = Der.readOid(data, pos, end);
        bool isCritical;
        (isCritical, pos) = readFlag(data, pos, end);
        uint256 start;
        uint256 stop;
        (start, stop) = Der.read(data, pos, end, Der.OCTET_STRING);
        require(stop == end, Der.MalformedDer(pos));
        if (oid == KEY_USAGE) {
            require(c.keyUsage == 0, ExtensionTwice(oid));
            c.keyUsage = _keyUsage(data, start, stop);
        } else if (oid == BASIC_CONSTRAINTS) {
            require(!c.isAuthority, ExtensionTwice(oid));
            c.isAuthority = _isAuthority(data, start, stop);
        } else if (oid == SGX_EXTENSION) {
            require(c.sgxStart == 0, ExtensionTwice(oid));
            (c.sgxStart, c.sgxStop) = (start, stop);
        } else {
            require(!isCritical, UnknownCriticalExtension(oid));
        }
    }

    function _isAuthority(bytes calldata data, uint256 start, uint256 stop) private pure returns (bool flag) {
        uint256 last;
        (start, last) = Der.read(data, start, stop, Der.SEQUENCE);
        require(last == stop, Der.MalformedDer(start));
        (flag, start) = readFlag(data, start, stop);
        if (start < stop) (, start) = Der.readUint(data, start, stop);
        require(start == stop, Der.MalformedDer(start));
    }

    /// @notice Reads an optional BOOLEAN, which must be left out when false.
    /// @return flag The BOOLEAN's value.
    /// @return stop End of the BOOLEAN, or `pos` if the BOOLEAN is absent.
    function readFlag(bytes calldata data, uint256 pos, uint256 end) internal pure returns (bool flag, uint256 stop) {
        if (Der.peek(data, pos, end) != Der.BOOLEAN) return (false, pos);
        uint256 start;
        (start, stop) = Der.read(data, pos, end, Der.BOOLEAN);
        require(stop - start == 1 && data[start] == 0xff, Der.MalformedDer(pos));
        flag = true;
    }

    /// @dev Reads a BIT STRING with at most one byte. No later bits matter here, and Intel sets none.
    function _keyUsage(bytes calldata data, uint256 start, uint256 stop) private pure returns (uint8) {
        (uint256 first, uint256 last) = Der.read(data, start, stop, Der.BIT_STRING);
        require(last == stop && last - first == 2 && uint8(data[first]) < 8, Der.MalformedDer(start));
        return uint8(data[first + 1]);
    }

    /// @dev Hash of the only common name among a name's parts; 0 if there is none.
    function _commonName(bytes calldata data, uint256 pos, uint256 end) private pure returns (bytes32 name) {
        for (uint256 count = 0; pos < end; ++count) {
            require(count < MAX_NAME_PARTS, Der.MalformedDer(pos));
            (uint256 start, uint256 stop) = Der.read(data, pos, end, Der.SET);
            (uint256 oid, bytes32 value) = _namePart(data, start, stop);
            if (oid == COMMON_NAME) {
                require(name == 0, Der.MalformedDer(pos));
                name = value;
            }
            pos = stop;
        }
    }

    function _namePart(
        bytes calldata data,
        uint256 pos,
        uint256 end
    ) private pure returns (uint256 oid, bytes32 value) {
        uint256 stop;
        (pos, stop) = Der.read(data, pos, end, Der.SEQUENCE);
        require(stop == end, Der.MalformedDer(pos));
        (oid, pos) = Der.readOid(data, pos, end);
        (pos, stop) = Der.read(data, pos, end, Der.peek(data, pos, end));
        require(stop == end, Der.MalformedDer(pos));
        value = keccak256(data[pos:stop]);
    }
}
