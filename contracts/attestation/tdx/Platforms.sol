// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {PckFacts} from "./PckExtension.sol";
import {Quotes} from "./Quotes.sol";
import {TcbLevels} from "./TcbLevels.sol";
import {Words} from "./Words.sol";

/// @title The facts about a platform after checking its certificate and quoting enclave's report, in bytes. The chain
/// stores the hash; the sender of another quote supplies the facts again.
/// @dev Layout: authority (1 byte), certificate's id (8), unix time up to which certificate and authority are valid
/// (8), id (32), FMSPC (6), PCE's id (2), SGX components (16), PCE's version (2). Then the quoting enclave: mrsigner
/// (32), attributes (16), miscselect (4), product (2), security version (2). Then the attestation key (64). Callers
/// compare the hash before reading, and therefore the facts are complete.
library Platforms {
    /// @notice How many bytes `complete` takes.
    uint256 internal constant KNOWN_BYTES = BYTES - 32;
    uint256 private constant BYTES = 195;
    uint256 private constant CERTIFICATE_AT = 1;
    uint256 private constant NOT_AFTER_AT = 9;
    uint256 private constant ID_AT = 17;
    uint256 private constant KIND_AT = 49;
    uint256 private constant SVNS_AT = 57;
    uint256 private constant PCE_SVN_AT = 73;
    uint256 private constant MRSIGNER_AT = 75;
    uint256 private constant ENCLAVE_AT = 107;
    uint256 private constant KEY_AT = 131;

    // In the report of a quoting enclave.
    uint256 private constant REPORT_MISCSELECT_AT = 16;
    uint256 private constant REPORT_ATTRIBUTES_AT = 48;
    uint256 private constant REPORT_MRSIGNER_AT = 128;
    uint256 private constant REPORT_PRODUCT_AT = 256;
    uint256 private constant REPORT_SVN_AT = 258;
    uint256 private constant REPORT_DATA_AT = 320;

    /// @notice The platform's facts.
    /// @param head Authority, certificate, end and id, as they stand in the facts.
    /// @param pck Of the certificate.
    /// @param report The quoting enclave's, whole.
    /// @param x Of the attestation key.
    /// @param y Of the attestation key.
    function pack(
        bytes memory head,
        PckFacts memory pck,
        bytes calldata report,
        bytes32 x,
        bytes32 y
    ) internal pure returns (bytes memory) {
        return
            abi.encodePacked(
                head,
                pck.fmspc,
                pck.pceId,
                pck.svns,
                pck.pceSvn,
                Words.load(report, REPORT_MRSIGNER_AT),
                bytes16(bytes32(Words.load(report, REPORT_ATTRIBUTES_AT))),
                bytes4(bytes32(Words.load(report, REPORT_MISCSELECT_AT))),
                uint16(Quotes.u16(report, REPORT_PRODUCT_AT)),
                uint16(Quotes.u16(report, REPORT_SVN_AT)),
                x,
                y
            );
    }

    /// @notice Rebuilds the facts of a known platform. The evidence omits the quoting enclave's signer, which the
    /// enclave's identity supplies. With another signer the hash differs.
    /// @param known `KNOWN_BYTES` bytes. If fewer, the resulting facts are arbitrary.
    /// @param identity Facts of the enclave's identity, possibly still unchecked.
    function complete(bytes calldata known, bytes calldata identity) internal pure returns (bytes memory p) {
        uint256 signer = TcbLevels.mrsigner(identity);
        uint256 rest = BYTES - ENCLAVE_AT;
        uint256 length = BYTES;
        assembly ("memory-safe") {
            p := mload(0x40)
            // With its length, in whole words.
            mstore(0x40, add(p, 0x100))
            mstore(p, length)
            let first := add(p, 0x20)
            calldatacopy(first, known.offset, MRSIGNER_AT)
            mstore(add(first, MRSIGNER_AT), signer)
            calldatacopy(add(first, ENCLAVE_AT), add(known.offset, MRSIGNER_AT), rest)
        }
    }

    /// @notice Who certified it.
    function authority(bytes memory p) internal pure returns (uint8) {
        return uint8(_word(p, 0) >> 248);
    }

    /// @notice The id of its certificate.
    function certificate(bytes memory p) internal pure returns (uint64) {
        return uint64(_word(p, CERTIFICATE_AT) >> 192);
    }

    /// @notice Unix time up to which certificate and authority are valid.
    function notAfter(bytes memory p) internal pure returns (uint64) {
        return uint64(_word(p, NOT_AFTER_AT) >> 192);
    }

    /// @notice Hash of its PPID.
    function id(bytes memory p) internal pure returns (bytes32) {
        return bytes32(_word(p, ID_AT));
    }

    /// @notice FMSPC and the PCE's id, one after the other: which TCB info is about it.
    function kind(bytes memory p) internal pure returns (bytes8) {
        return bytes8(bytes32(_word(p, KIND_AT)));
    }

    /// @notice The security versions of the 16 SGX components.
    function svns(bytes memory p) internal pure returns (bytes16) {
        return bytes16(bytes32(_word(p, SVNS_AT)));
    }

    /// @notice The security version of the PCE.
    function pceSvn(bytes memory p) internal pure returns (uint256) {
        return _word(p, PCE_SVN_AT) >> 240;
    }

    /// @notice Who signed its quoting enclave.
    function mrsigner(bytes memory p) internal pure returns (uint256) {
        return _word(p, MRSIGNER_AT);
    }

    /// @notice The enclave's attributes (16 bytes), miscselect (4), product (2) and security version (2), from the
    /// highest byte on. What is below them may be anything.
    function enclave(bytes memory p) internal pure returns (uint256) {
        return _word(p, ENCLAVE_AT);
    }

    /// @notice The attestation key.
    function key(bytes memory p) internal pure returns (bytes32 x, bytes32 y) {
        return (bytes32(_word(p, KEY_AT)), bytes32(_word(p, KEY_AT + 32)));
    }

    /// @notice Both halves of an enclave's report data.
    function reportData(bytes calldata report) internal pure returns (bytes32, bytes32) {
        return (bytes32(Words.load(report, REPORT_DATA_AT)), bytes32(Words.load(report, REPORT_DATA_AT + 32)));
    }

    /// @dev 32 bytes of the facts.
    function _word(bytes memory p, uint256 pos) private pure returns (uint256 word) {
        assembly ("memory-safe") {
            word := mload(add(add(p, 0x20), pos))
        }
    }
}
