// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {PublicKey, ReportKind} from "../interfaces/IProvisioning.sol";
import {DeviceId} from "../types/Ids.sol";

/// @dev A report's claims that differ between reports.
struct Claims {
    bytes32 nonce;
    DeviceId device;
    bytes32 firmware;
    bytes32 body;
    bytes32 aux;
    address worker;
    uint64 seq;
    uint8 debugStatus;
    ReportKind kind;
}

/// @title The bytes of reports: EAT claims (RFC 9711) in deterministic CBOR (RFC 8949, 4.2.1), signed as COSE_Sign1
/// (RFC 9052). Every field has a fixed width, and nothing needs parsing.
library ReportEncoding {
    /// @notice A device's id: SHA-256 of its public key's point. Its ueid is 0x01 and the id.
    function deviceId(PublicKey calldata key) internal pure returns (DeviceId) {
        return DeviceId.wrap(sha256(abi.encodePacked(key.x, key.y)));
    }

    /// @notice COSE's external_aad of a deployment's reports.
    /// @param registry Its Provisioning.
    function domain(address registry) internal view returns (bytes32) {
        return keccak256(abi.encode("DongleReport/1", block.chainid, registry));
    }

    /// @notice The nonce of a report.
    /// @param blockHash Of a block on the deployment's grid.
    /// @param registry Its Provisioning.
    function nonce(
        bytes32 blockHash,
        address registry,
        address worker,
        DeviceId device,
        ReportKind kind
    ) internal view returns (bytes32) {
        return keccak256(abi.encode(blockHash, block.chainid, registry, worker, device, kind));
    }

    /// @notice The payload: a map of nine claims, 241 bytes.
    /// @dev Keys in the order of their bytes: eat_nonce (10), ueid (256), dbgstat (263), and for private use kind
    /// (-70001), seq, worker, firmware, body, aux (-70006). Every one-byte value is a number below 24.
    function payload(Claims memory c) internal pure returns (bytes memory) {
        bytes memory head = abi.encodePacked(
            hex"a90a5820",
            c.nonce,
            hex"190100582101",
            c.device,
            hex"190107",
            c.debugStatus,
            hex"3a00011170",
            uint8(c.kind),
            hex"3a0001117148",
            c.seq
        );
        return
            abi.encodePacked(
                head,
                hex"3a0001117254",
                c.worker,
                hex"3a000111735820",
                c.firmware,
                hex"3a000111745820",
                c.body,
                hex"3a000111755820",
                c.aux
            );
    }

    /// @notice What is signed: SHA-256 of `["Signature1", protected header, domain, payload]`.
    /// @dev The protected header is `{1: -7}`, ES256.
    function signedDigest(bytes32 domain_, bytes memory payload_) internal pure returns (bytes32) {
        return sha256(abi.encodePacked(hex"846a5369676e61747572653143a101265820", domain_, hex"58f1", payload_));
    }
}
