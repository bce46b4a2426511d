// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ITdxQuoteVerifier} from "../../interfaces/ITdxQuoteVerifier.sol";
import {Quotes} from "./Quotes.sol";
import {Words} from "./Words.sol";

/// @title The complete report of a trust domain: module, measured code, and the data signed for the domain.
library TrustDomains {
    uint256 private constant SIGNER_AT = 64;
    uint256 private constant MODULE_ATTRIBUTES_AT = 112;
    /// @dev From the domain's attributes to its last register: attributes, XFAM, MRTD, three configurations, RTMR0..3.
    uint256 private constant MEASURED_AT = 120;
    uint256 private constant REPORT_DATA_AT = 520;
    uint256 private constant CURRENT_SVNS_AT = 584;
    uint256 private constant SERVICE_AT = 600;
    uint256 private constant SERVICE_BYTES = 48;
    bytes8 private constant UNDER_DEBUG = 0xff00000000000000;
    /// @dev What the module's specification (1.5) defines beside: bits 16 and 27 to 31, 62 and 63, little-endian.
    uint256 private constant DEFINED = 0x000001f8000000c0;

    /// @notice The hash of all that was measured. Refuses what no honest domain has.
    /// @dev SAFETY: with any bit of the first byte set, the host reads and writes the domain's memory. Reverts with
    /// `WrongModuleSigner`, `WrongModuleAttributes`, `DebuggableDomain` or `ReservedAttributes`.
    function workload(bytes calldata body) internal pure returns (bytes32) {
        // The signer (48 bytes) and the module's attributes (8) are zero, then come the domain's (8).
        uint256 word = Words.load(body, SIGNER_AT + 32);
        if (Words.load(body, SIGNER_AT) != 0 || word & ~DEFINED != 0) _refuse(body);
        return _measured(body);
    }

    /// @notice What the domain had signed: the first and the last 32 bytes.
    function reportData(bytes calldata body) internal pure returns (bytes32, bytes32) {
        return (bytes32(Words.load(body, REPORT_DATA_AT)), bytes32(Words.load(body, REPORT_DATA_AT + 32)));
    }

    /// @notice The TDX components when the domain was started.
    function svns(bytes calldata body) internal pure returns (bytes16) {
        return bytes16(bytes32(Words.load(body, 0)));
    }

    /// @notice Returns the current TDX components from a TDX 1.5 report.
    function currentSvns(bytes calldata body) internal pure returns (bytes16) {
        return bytes16(bytes32(Words.load(body, CURRENT_SVNS_AT)));
    }

    /// @dev Says what no honest domain has.
    function _refuse(bytes calldata body) private pure {
        require(
            Words.load(body, SIGNER_AT) == 0 && Words.number(body, SIGNER_AT + 32, 16) == 0,
            ITdxQuoteVerifier.WrongModuleSigner()
        );
        bytes8 module = bytes8(bytes32(Words.load(body, MODULE_ATTRIBUTES_AT)));
        require(module == 0, ITdxQuoteVerifier.WrongModuleAttributes(module));
        bytes8 attributes = bytes8(bytes32(Words.load(body, MEASURED_AT)));
        require(attributes & UNDER_DEBUG == 0, ITdxQuoteVerifier.DebuggableDomain(attributes));
        revert ITdxQuoteVerifier.ReservedAttributes(attributes);
    }

    /// @dev Hashes the measurements and the service domain (48 bytes). A TDX 1.0 domain has no service domain, and the
    /// field counts as zero, like in TDX 1.5.
    function _measured(bytes calldata body) private pure returns (bytes32 digest) {
        uint256 service = body.length == Quotes.TD10_BYTES ? 0 : SERVICE_BYTES;
        assembly ("memory-safe") {
            // Beyond the memory in use.
            let free := mload(0x40)
            let length := sub(REPORT_DATA_AT, MEASURED_AT)
            let end := add(free, length)
            calldatacopy(free, add(body.offset, MEASURED_AT), length)
            mstore(end, 0)
            mstore(add(end, 0x10), 0)
            calldatacopy(end, add(body.offset, SERVICE_AT), service)
            digest := keccak256(free, add(length, SERVICE_BYTES))
        }
    }
}
