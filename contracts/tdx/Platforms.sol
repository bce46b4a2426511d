// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Quotes} from "./Quotes.sol";
import {Words} from "./Words.sol";

/// @dev What is known of a platform once its certificate and its quoting enclave's report were checked.
/// @param authority Who certified it.
/// @param certificate Of its certificate.
/// @param notAfter Unix time up to which certificate and authority are valid.
/// @param id Hash of its PPID.
/// @param x Of the attestation key; with y.
// solhint-disable-next-line gas-struct-packing
struct Platform {
    uint8 authority;
    uint64 certificate;
    uint64 notAfter;
    bytes32 id;
    bytes6 fmspc;
    bytes2 pceId;
    bytes16 svns;
    uint16 pceSvn;
    bytes32 mrsigner;
    bytes16 attributes;
    bytes4 miscselect;
    uint16 product;
    uint16 enclaveSvn;
    bytes32 x;
    bytes32 y;
}

/// @title Platforms as bytes: the chain keeps the hash, and whoever brings another quote brings the rest.
library Platforms {
    uint256 private constant MISCSELECT_AT = 16;
    uint256 private constant ATTRIBUTES_AT = 48;
    uint256 private constant MRSIGNER_AT = 128;
    uint256 private constant PRODUCT_AT = 256;
    uint256 private constant SVN_AT = 258;
    uint256 private constant REPORT_DATA_AT = 320;

    /// @notice Reads what `pack` wrote.
    function read(bytes calldata facts) internal pure returns (Platform memory p) {
        p.authority = uint8(Words.number(facts, 0, 1));
        p.certificate = uint64(Words.number(facts, 1, 8));
        p.notAfter = uint64(Words.number(facts, 9, 8));
        p.id = bytes32(Words.load(facts, 17));
        p.fmspc = bytes6(bytes32(Words.load(facts, 49)));
        p.pceId = bytes2(bytes32(Words.load(facts, 55)));
        p.svns = bytes16(bytes32(Words.load(facts, 57)));
        p.pceSvn = uint16(Words.number(facts, 73, 2));
        p.mrsigner = bytes32(Words.load(facts, 75));
        p.attributes = bytes16(bytes32(Words.load(facts, 107)));
        p.miscselect = bytes4(bytes32(Words.load(facts, 123)));
        p.product = uint16(Words.number(facts, 127, 2));
        p.enclaveSvn = uint16(Words.number(facts, 129, 2));
        p.x = bytes32(Words.load(facts, 131));
        p.y = bytes32(Words.load(facts, 163));
    }

    /// @notice The fields one after the other.
    function pack(Platform memory p) internal pure returns (bytes memory) {
        bytes memory head = abi.encodePacked(p.authority, p.certificate, p.notAfter, p.id, p.fmspc, p.pceId, p.svns);
        return
            abi.encodePacked(head, p.pceSvn, p.mrsigner, p.attributes, p.miscselect, p.product, p.enclaveSvn, p.x, p.y);
    }

    /// @notice Reads what a quoting enclave's report, which is whole, says of the enclave.
    function readEnclave(bytes calldata report, Platform memory p) internal pure {
        p.mrsigner = bytes32(Words.load(report, MRSIGNER_AT));
        p.attributes = bytes16(bytes32(Words.load(report, ATTRIBUTES_AT)));
        p.miscselect = bytes4(bytes32(Words.load(report, MISCSELECT_AT)));
        p.product = uint16(Quotes.u16(report, PRODUCT_AT));
        p.enclaveSvn = uint16(Quotes.u16(report, SVN_AT));
    }

    /// @notice Both halves of an enclave's report data.
    function reportData(bytes calldata report) internal pure returns (bytes32, bytes32) {
        return (bytes32(Words.load(report, REPORT_DATA_AT)), bytes32(Words.load(report, REPORT_DATA_AT + 32)));
    }
}
