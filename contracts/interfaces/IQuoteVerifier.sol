// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title Verifies that a device quoted a digest. A dongle's P-256 signature, or another attestation format in its
/// place.
interface IQuoteVerifier {
    /// @notice Verifies a quote.
    /// @dev Reverts if the quote does not hold.
    /// @param digest What the device vouches for.
    /// @param quote The quote, in the verifier's own format.
    /// @return manufacturer Id of the key that endorses the device.
    /// @return device Id of the device.
    function verify(bytes32 digest, bytes calldata quote) external view returns (bytes32 manufacturer, bytes32 device);
}
