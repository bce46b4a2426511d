// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @notice The manufacturer's status for a platform, with Intel's names. From `OutOfDate` on, a platform does not
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

/// @notice The facts that a quote proves. The caller must establish the quote's subject and freshness from the signed
/// report data.
/// @param platform The machine: a hash unique to the machine, whatever its firmware or its certificates.
/// @param certificate The machine's certificate, in the format of `revokedSince`.
/// @param workload Hash of all measurements of the software running on the machine.
/// @param reportHead The first 32 bytes of the report data that the workload had the machine sign.
/// @param reportTail The last 32 bytes of the report data.
/// @param status The manufacturer's status for the machine.
/// @param isOverdue Whether the manufacturer's statement is overdue, but still within the renewal allowance.
/// @param until Unix time up to which the latest manufacturer's statement holds, including the renewal allowance.
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
    /// @notice Checks a quote. Stores facts about a machine that need only one check; anybody may call.
    /// @dev Reverts unless the machine's manufacturer has signed everything.
    /// @param evidence The quote and its supporting data, in the verifier's format.
    /// @return The quote's facts.
    function verify(bytes calldata evidence) external returns (QuoteFacts memory);

    /// @notice Since when a machine's certificate has been known as revoked.
    /// @param certificate From the facts of the machine's quote.
    /// @return Unix time; 0 for an unrevoked certificate.
    function revokedSince(uint64 certificate) external view returns (uint64);
}
