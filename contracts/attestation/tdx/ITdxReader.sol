// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {EnclaveIdentity, TcbInfo} from "../../interfaces/ITdxQuoteVerifier.sol";
import {Certificate} from "./Certificates.sol";
import {PckFacts} from "./PckExtension.sol";
import {RevocationList} from "./RevocationLists.sol";

/// @title Reads what Intel signs: certificates, revocation lists, documents. It has no state and verifies nothing.
interface ITdxReader {
    error TooManyLevels(uint256 given, uint256 most);
    error NoSgxExtension();

    /// @notice Reads a certificate.
    /// @dev Reverts with `MalformedDer`, `BadDate`, `UnknownCriticalExtension` or `ExtensionTwice`.
    /// @param der The certificate.
    /// @return It.
    function readCertificate(bytes calldata der) external pure returns (Certificate memory);

    /// @notice Reads a platform's certificate.
    /// @dev Reverts with `NoSgxExtension`, and as `readCertificate` does.
    /// @param der The certificate.
    /// @return certificate It.
    /// @return facts What Intel's extension says.
    function readPlatformCertificate(
        bytes calldata der
    ) external pure returns (Certificate memory certificate, PckFacts memory facts);

    /// @notice Reads a revocation list.
    /// @dev Reverts with `MalformedDer`, `BadDate` or `UnknownCriticalExtension`.
    /// @param der The list.
    /// @param serials Serial numbers to look up.
    /// @return list The parsed list.
    /// @return isListed For each serial number, whether the list contains it.
    function readRevocationList(
        bytes calldata der,
        uint256[] calldata serials
    ) external pure returns (RevocationList memory list, bool[] memory isListed);

    /// @notice Reads TCB info.
    /// @dev Reverts with `TooManyLevels`, `DocumentTooLong`, `WrongFreePart` or `WrongLetter`.
    /// @param info The document's values.
    /// @return digest SHA-256 of the document's JSON.
    /// @return facts The facts to store, without the head.
    function readTcbInfo(TcbInfo calldata info) external pure returns (bytes32 digest, bytes memory facts);

    /// @notice Reads an enclave's identity.
    /// @dev Reverts as `readTcbInfo` does.
    /// @param identity The document's values.
    /// @return digest SHA-256 of the document's JSON.
    /// @return facts The facts to store, without the head.
    function readEnclaveIdentity(
        EnclaveIdentity calldata identity
    ) external pure returns (bytes32 digest, bytes memory facts);
}
