// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ITdxQuoteVerifier} from "../interfaces/ITdxQuoteVerifier.sol";
import {Quotes} from "./Quotes.sol";
import {Words} from "./Words.sol";

/// @title The report of a trust domain, which is whole: what its module is, what it runs, what it had signed.
library TrustDomains {
    uint256 private constant SIGNER_AT = 64;
    uint256 private constant MODULE_ATTRIBUTES_AT = 112;
    /// @dev From the domain's attributes to its last register: attributes, XFAM, MRTD, three configurations, RTMR0..3.
    uint256 private constant MEASURED_AT = 120;
    uint256 private constant REPORT_DATA_AT = 520;
    uint256 private constant CURRENT_SVNS_AT = 584;
    uint256 private constant SERVICE_AT = 600;
    bytes8 private constant UNDER_DEBUG = 0xff00000000000000;
    /// @dev What the module's specification (1.5) defines beside: bits 16 and 27 to 31, 62 and 63, little-endian.
    bytes8 private constant DEFINED = 0x000001f8000000c0;

    /// @notice The hash of all that was measured. Refuses what no honest domain has.
    /// @dev SAFETY: with any bit of the first byte set, the host reads and writes the domain's memory. Reverts with
    /// `WrongModuleSigner`, `WrongModuleAttributes`, `DebuggableDomain` or `ReservedAttributes`.
    function workload(bytes calldata body) internal pure returns (bytes32) {
        require(
            Words.load(body, SIGNER_AT) == 0 && Words.number(body, SIGNER_AT + 32, 16) == 0,
            ITdxQuoteVerifier.WrongModuleSigner()
        );
        bytes8 module = bytes8(bytes32(Words.load(body, MODULE_ATTRIBUTES_AT)));
        require(module == 0, ITdxQuoteVerifier.WrongModuleAttributes(module));
        bytes8 attributes = bytes8(bytes32(Words.load(body, MEASURED_AT)));
        require(attributes & UNDER_DEBUG == 0, ITdxQuoteVerifier.DebuggableDomain(attributes));
        require(attributes & ~DEFINED == 0, ITdxQuoteVerifier.ReservedAttributes(attributes));
        bytes calldata measured = body[MEASURED_AT:REPORT_DATA_AT];
        // A domain of TDX 1.0 has no service domain, which in TDX 1.5 is zero.
        if (body.length == Quotes.TD10_BYTES) return keccak256(abi.encodePacked(measured, bytes32(0), bytes16(0)));
        return keccak256(abi.encodePacked(measured, body[SERVICE_AT:SERVICE_AT + 48]));
    }

    /// @notice What the domain had signed.
    function reportData(bytes calldata body) internal pure returns (bytes32[2] memory) {
        return [bytes32(Words.load(body, REPORT_DATA_AT)), bytes32(Words.load(body, REPORT_DATA_AT + 32))];
    }

    /// @notice The TDX components when the domain was started.
    function svns(bytes calldata body) internal pure returns (bytes16) {
        return bytes16(bytes32(Words.load(body, 0)));
    }

    /// @notice The TDX components now, of a report of TDX 1.5.
    function currentSvns(bytes calldata body) internal pure returns (bytes16) {
        return bytes16(bytes32(Words.load(body, CURRENT_SVNS_AT)));
    }
}
