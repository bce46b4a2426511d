// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @notice What the maker of a platform says of its state. The names are Intel's; from `OutOfDate` on, it does not
/// count.
enum PlatformStatus {
    UpToDate,
    SWHardeningNeeded,
    ConfigurationNeeded,
    ConfigurationAndSWHardeningNeeded,
    OutOfDate,
    OutOfDateConfigurationNeeded,
    Revoked
}

/// @notice What a quote shows. Whom it is about, and whether it is fresh, is for the caller to bind by what was signed.
/// @param platform The machine: a hash that no other machine has, whatever its firmware or its certificates.
/// @param certificate The machine's certificate, as `revokedSince` takes it.
/// @param workload Hash of all that was measured of what runs on the machine.
/// @param reportHead The first 32 bytes of what the workload had the machine sign.
/// @param reportTail The last 32 bytes of it.
/// @param status What the maker says of the machine's state.
/// @param isOverdue Whether the maker's word is past its time, but not by more than what is allowed to renewals.
/// @param until Unix time up to which the maker's word that is known now holds, with what is allowed to renewals.
// solhint-disable-next-line gas-struct-packing
struct QuoteFacts {
    bytes32 platform;
    uint64 certificate;
    bytes32 workload;
    bytes32 reportHead;
    bytes32 reportTail;
    PlatformStatus status;
    bool isOverdue;
    uint64 until;
}

/// @title Verifies quotes of machines of one kind. It knows nothing of workers and leases.
interface IQuoteVerifier {
    /// @notice Checks a quote. Remembers of a machine what need not be checked twice; may be called by anybody.
    /// @dev Reverts unless everything is signed by the maker of the machine.
    /// @param evidence The quote and what proves it, as the verifier defines it.
    /// @return What the quote shows.
    function verify(bytes calldata evidence) external returns (QuoteFacts memory);

    /// @notice Since when a machine's certificate is known to be revoked.
    /// @param certificate Of the facts of one of its quotes.
    /// @return Unix time; 0 if it is not.
    function revokedSince(uint64 certificate) external view returns (uint64);
}
