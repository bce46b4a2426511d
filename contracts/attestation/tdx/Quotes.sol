// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Words} from "./Words.sol";

/// @dev The quoting enclave's report and the data vouching for the report, within a whole quote.
/// @param report Start of the enclave's report, 384 bytes.
/// @param authentication Start of the enclave's own data, covered by the report.
/// @param authenticationEnd End of the enclave's own data.
struct Certification {
    uint256 report;
    uint256 authentication;
    uint256 authenticationEnd;
}

/// @title Intel's quotes of trust domains: version 4, and version 5 with both reports of TDX 1.0 and 1.5.
library Quotes {
    uint256 internal constant TD10_BYTES = 584;
    uint256 internal constant TD15_BYTES = 648;
    uint256 internal constant ENCLAVE_REPORT_BYTES = 384;
    uint256 private constant HEADER_BYTES = 48;
    uint256 private constant TD10_TYPE = 2;
    uint256 private constant TD15_TYPE = 3;
    uint256 private constant P256_KEY_TYPE = 2;
    /// @dev The first eight bytes of a quote, without the version's low byte.
    uint256 private constant P256_AND_TDX = 0x0000_0200_81000000;
    uint256 private constant VERSION_BITS = 0xff << 56;
    bytes16 private constant INTEL_ENCLAVE = hex"939a7233f79c4ca9940a0db3957f0607";
    uint256 private constant ENCLAVE_CERTIFICATION = 6;
    uint256 private constant CHAIN_CERTIFICATION = 5;

    // Offsets from the end of what is signed.
    uint256 private constant LENGTH_AT = 0;
    uint256 private constant SIGNATURE_AT = 4;
    uint256 private constant KEY_AT = 68;
    uint256 private constant KIND_AT = 132;
    uint256 private constant KIND_LENGTH_AT = 134;
    uint256 private constant REPORT_AT = 138;
    uint256 private constant REPORT_SIGNATURE_AT = REPORT_AT + ENCLAVE_REPORT_BYTES;
    uint256 private constant AUTHENTICATION_LENGTH_AT = REPORT_SIGNATURE_AT + 64;
    uint256 private constant AUTHENTICATION_AT = AUTHENTICATION_LENGTH_AT + 2;

    error QuoteTooShort(uint256 given, uint256 needed);
    error UnknownQuoteVersion(uint256 version);
    error UnknownKeyType(uint256 keyType);
    error NotTdx(uint256 teeType);
    error UnknownEnclaveVendor(bytes16 vendor);
    error UnknownBody(uint256 bodyType, uint256 size);
    error UnknownCertification(uint256 kind);
    error WrongLength(uint256 given, uint256 expected);

    /// @notice Reads the header of a quote that includes at least the signature. All numbers are little-endian.
    /// @dev Reverts with `QuoteTooShort`, `UnknownQuoteVersion`, `UnknownKeyType`, `NotTdx`, `UnknownEnclaveVendor` or
    /// `UnknownBody`.
    /// @return body Start of the trust domain's report.
    /// @return end End of the report and of the part signed by the attestation key.
    function frame(bytes calldata quote) internal pure returns (uint256 body, uint256 end) {
        _requireBytes(quote, HEADER_BYTES + 6);
        uint256 head = Words.load(quote, 0);
        bytes16 vendor = bytes16(bytes32(head << 96));
        unchecked {
            // Version 4 or 5, key and type, at once.
            uint256 version = (head >> 248) - 4;
            if (version > 1 || uint64(head >> 192) & ~VERSION_BITS != P256_AND_TDX) _refuseHeader(quote);
            require(vendor == INTEL_ENCLAVE, UnknownEnclaveVendor(vendor));
            if (version == 0) {
                body = HEADER_BYTES;
                end = HEADER_BYTES + TD10_BYTES;
            } else {
                (uint256 kind, uint256 size) = (u16(quote, 48), u32(quote, 50));
                require(
                    (kind == TD10_TYPE && size == TD10_BYTES) || (kind == TD15_TYPE && size == TD15_BYTES),
                    UnknownBody(kind, size)
                );
                body = HEADER_BYTES + 6;
                end = body + size;
            }
            _requireBytes(quote, end + KEY_AT);
        }
    }

    /// @notice Reads the rest of a whole quote, from the end of the signed part up to the certificates. The
    /// certificates may be cut off. All lengths must be consistent.
    /// @dev Reverts with `QuoteTooShort`, `UnknownCertification` or `WrongLength`.
    function certification(bytes calldata quote, uint256 end) internal pure returns (Certification memory c) {
        _requireBytes(quote, end + AUTHENTICATION_AT);
        require(u16(quote, end + KIND_AT) == ENCLAVE_CERTIFICATION, UnknownCertification(u16(quote, end + KIND_AT)));
        uint256 length = u32(quote, end + LENGTH_AT);
        uint256 inner = u32(quote, end + KIND_LENGTH_AT);
        require(length == REPORT_AT - SIGNATURE_AT + inner, WrongLength(length, REPORT_AT - SIGNATURE_AT + inner));
        c.report = end + REPORT_AT;
        c.authentication = end + AUTHENTICATION_AT;
        c.authenticationEnd = c.authentication + u16(quote, end + AUTHENTICATION_LENGTH_AT);
        _requireBytes(quote, c.authenticationEnd + 6);
        uint256 kind = u16(quote, c.authenticationEnd);
        require(kind == CHAIN_CERTIFICATION, UnknownCertification(kind));
        uint256 chain = u32(quote, c.authenticationEnd + 2);
        uint256 expected = c.authenticationEnd + 6 - c.report + chain;
        require(inner == expected, WrongLength(inner, expected));
    }

    /// @notice The signature of the attestation key.
    function signature(bytes calldata quote, uint256 end) internal pure returns (bytes32 r, bytes32 s) {
        r = bytes32(Words.load(quote, end + SIGNATURE_AT));
        s = bytes32(Words.load(quote, end + SIGNATURE_AT + 32));
    }

    /// @notice The attestation key of a whole quote.
    function key(bytes calldata quote, uint256 end) internal pure returns (bytes32 x, bytes32 y) {
        x = bytes32(Words.load(quote, end + KEY_AT));
        y = bytes32(Words.load(quote, end + KEY_AT + 32));
    }

    /// @notice The signature of the enclave's report, by the platform's certificate.
    function reportSignature(bytes calldata quote, uint256 end) internal pure returns (bytes32 r, bytes32 s) {
        r = bytes32(Words.load(quote, end + REPORT_SIGNATURE_AT));
        s = bytes32(Words.load(quote, end + REPORT_SIGNATURE_AT + 32));
    }

    /// @notice Reads a little-endian number of two bytes, both within the data.
    function u16(bytes calldata data, uint256 pos) internal pure returns (uint256) {
        uint256 word = Words.load(data, pos);
        return (word >> 248) | ((word >> 232) & 0xff00);
    }

    /// @notice Reads a little-endian number of four bytes, all within the data.
    function u32(bytes calldata data, uint256 pos) internal pure returns (uint256) {
        return u16(data, pos) | (u16(data, pos + 2) << 16);
    }

    /// @dev Reverts with the error that describes the fault in the first eight bytes.
    function _refuseHeader(bytes calldata quote) private pure {
        uint256 version = u16(quote, 0);
        require(version == 4 || version == 5, UnknownQuoteVersion(version));
        require(u16(quote, 2) == P256_KEY_TYPE, UnknownKeyType(u16(quote, 2)));
        revert NotTdx(u32(quote, 4));
    }

    function _requireBytes(bytes calldata quote, uint256 needed) private pure {
        require(quote.length >= needed, QuoteTooShort(quote.length, needed));
    }
}
