// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @notice A dongle's quote: the manufacturer endorses the device key, the device signs the digest. Sent as
/// `abi.encode(DongleQuote)`.
/// @dev All signatures are P-256 with low s. Ids: `keccak256(abi.encode(x, y))` of the public keys.
/// @param manufacturerX Manufacturer's public key.
/// @param manufacturerY Manufacturer's public key.
/// @param endorsementR Manufacturer's signature over `sha256(abi.encode("refute device 1", deviceX, deviceY))`.
/// @param endorsementS The same.
/// @param deviceX Device's public key.
/// @param deviceY Device's public key.
/// @param signatureR Device's signature over the digest.
/// @param signatureS The same.
struct DongleQuote {
    bytes32 manufacturerX;
    bytes32 manufacturerY;
    bytes32 endorsementR;
    bytes32 endorsementS;
    bytes32 deviceX;
    bytes32 deviceY;
    bytes32 signatureR;
    bytes32 signatureS;
}
