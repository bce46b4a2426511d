// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IQuoteVerifier, PlatformStatus} from "./IQuoteVerifier.sol";

/// @notice The root that everything is signed under.
/// @param x Of its key.
/// @param y Of its key.
/// @param name keccak256 of its name, as DER.
struct TdxRoot {
    bytes32 x;
    bytes32 y;
    bytes32 name;
}

/// @notice The purpose of a certificate signed by the root.
enum AuthorityRole {
    None,
    Platforms,
    Documents
}

/// @notice A certificate that the root has signed.
/// @param x Coordinate of the certificate's key.
/// @param y Coordinate of the certificate's key.
/// @param subject keccak256 of the subject's name, as DER.
/// @param certificate The certificate's id, in the format of `revokedSince`.
/// @param notAfter Unix time up to which the certificate is valid.
/// @param role The certificate's purpose.
struct Authority {
    bytes32 x;
    bytes32 y;
    bytes32 subject;
    uint64 certificate;
    uint64 notAfter;
    AuthorityRole role;
}

/// @notice The newest revocation list of an issuer.
/// @param digest keccak256 of the list.
/// @param thisUpdate When the list was made, unix time.
/// @param nextUpdate When the next list is due, unix time; 0 without any list.
struct CrlState {
    bytes32 digest;
    uint64 thisUpdate;
    uint64 nextUpdate;
}

/// @notice A known Intel document: one per number.
/// @param digest First 20 bytes of keccak256 of the document's facts; 0 for an unknown document.
/// @param issued When the document was made, unix time.
/// @param since When the number's first document was brought, unix time.
/// @param supersededAt When the document expires because a higher number binds; 0 if unknown.
struct DocumentState {
    bytes20 digest;
    uint32 issued;
    uint32 since;
    uint32 supersededAt;
}

/// @notice A level of a TDX module or of the quoting enclave.
/// @param svn The minimum security version.
/// @param date As in the document.
/// @param status As in the document.
/// @param rest The document's text after the status: nothing, or from a comma on, without braces.
struct SvnLevel {
    uint16 svn;
    bytes20 date;
    PlatformStatus status;
    string rest;
}

/// @notice A TDX module's identity.
/// @param version The number in the module's id, for example 3 in TDX_03.
/// @param levels The module's levels, in the document's order.
struct TdxModule {
    uint8 version;
    SvnLevel[] levels;
}

/// @notice A level of platforms. `date`, `status` and `rest` are as in `SvnLevel`.
/// @param svns The least security versions of the 16 SGX components.
/// @param pceSvn The least of the provisioning enclave.
/// @param tdxSvns The least of the 16 TDX components.
struct TcbLevel {
    bytes16 svns;
    uint16 pceSvn;
    bytes16 tdxSvns;
    bytes20 date;
    PlatformStatus status;
    string rest;
}

/// @notice Intel's TCB info for TDX, version 3, for one kind of platform. The contract rebuilds its JSON from this
/// struct.
/// @param labels The document's text after the version of each of the 16 SGX and 16 TDX components, the same in all
/// levels: nothing, or from a comma on, without braces.
/// @param lowerCase The places in the text of hexadecimal digits in lower case. Intel writes the FMSPC as the request
/// for the document wrote it. The contract writes all other digits in upper case.
struct TcbInfo {
    bytes20 issueDate;
    bytes20 nextUpdate;
    bytes6 fmspc;
    bytes2 pceId;
    uint8 tcbType;
    uint32 number;
    TdxModule[] modules;
    string[32] labels;
    TcbLevel[] levels;
    uint16[] lowerCase;
}

/// @notice Intel's identity of the quoting enclave for TDX, version 2. `lowerCase` is as in `TcbInfo`.
// solhint-disable-next-line gas-struct-packing
struct EnclaveIdentity {
    bytes20 issueDate;
    bytes20 nextUpdate;
    uint32 number;
    bytes4 miscselect;
    bytes4 miscselectMask;
    bytes16 attributes;
    bytes16 attributesMask;
    bytes32 mrsigner;
    uint16 product;
    SvnLevel[] levels;
    uint16[] lowerCase;
}

/// @title Verifies Intel TDX quotes. Anybody brings Intel's signed documents; nobody besides Intel decides anything.
/// @dev Intel publishes TCB info and identities by number (`tcbEvaluationDataNumber`), several at once. A number binds
/// `grace` seconds after its first arrival here; until then the number before also counts. The evidence for `verify`
/// consists of bytes: the authority that signed the platform's certificate (1 byte; 0 for a known platform), the
/// lengths of the next three parts (2 bytes each), and the parts:
/// - facts of the TCB info to judge by, as in `TcbInfoBrought`;
/// - facts of the enclave's identity to judge by, as in `EnclaveIdentityBrought`;
/// - the quote: for a known platform, at least up to the signature; for another platform, up to the certificates;
///   later bytes are ignored;
/// - up to the end, the platform's certificate as DER. For a known platform instead: the bytes from
///   `PlatformIntroduced` without bytes 75 to 106, which repeat the enclave identity's bytes from byte 10 on
///   (mrsigner).
interface ITdxQuoteVerifier is IQuoteVerifier {
    error GraceOutOfRange(uint64 given, uint64 most);
    error UnknownRole(bytes32 commonName);
    error WrongIssuer(bytes32 given, bytes32 expected);
    error NotYetValid(uint64 notBefore);
    error CertificateExpired(uint64 notAfter);
    error BadCertificate();
    error CertificateRevoked(uint64 certificate, uint64 since);
    error AuthorityKnown(uint8 authority);
    error TooManyAuthorities();
    error NoSuchAuthority(uint8 authority, AuthorityRole role);
    error BadCrl();
    error CrlNotNewer(uint64 known, uint64 given);
    error FromTheFuture(uint64 date);
    error CrlMissing(uint8 issuer);
    error BadDocument();
    error DocumentNotNewer(uint64 known, uint64 given);
    error NumberTooLow(uint32 newest, uint32 given);
    error UnknownDocument(uint32 number);
    error NumberSuperseded(uint32 number, uint64 since);
    error CollateralExpired(uint64 until);
    error EvidenceTooShort(uint256 given, uint256 needed);
    error UnknownPlatform();
    error BadEnclaveReport();
    error WrongAttestationKey();
    error BadQuoteSignature();
    error WrongModuleSigner();
    error WrongModuleAttributes(bytes8 given);
    error DebuggableDomain(bytes8 attributes);
    error ReservedAttributes(bytes8 attributes);

    event AuthorityBrought(uint8 indexed authority, AuthorityRole role, uint64 certificate, uint64 notAfter);
    event CrlBrought(uint8 indexed issuer, uint64 thisUpdate, uint64 nextUpdate);
    event Revoked(uint64 indexed certificate, uint8 indexed issuer, uint256 serial);
    event Cleared(uint64 indexed certificate, uint8 indexed issuer, uint256 serial);
    event TcbInfoBrought(bytes6 indexed fmspc, bytes2 pceId, uint32 indexed number, uint64 issued, bytes facts);
    event EnclaveIdentityBrought(uint32 indexed number, uint64 issued, bytes facts);
    event PlatformIntroduced(bytes32 indexed platform, uint64 certificate, bytes facts);

    /// @notice Takes a certificate signed by the root: an authority that certifies platforms or signs documents. A
    /// number stands for a name and a key. A later certificate for both replaces the known certificate and keeps the
    /// number, if it is valid for longer or the known certificate is revoked; otherwise the error is `AuthorityKnown`.
    /// @dev Reverts with `UnknownRole`, `WrongIssuer`, `NotYetValid`, `CertificateExpired`, `BadCertificate`,
    /// `CertificateRevoked`, `AuthorityKnown`, `TooManyAuthorities`, or the reader's errors.
    /// @param certificate As DER.
    /// @return authority The authority's number: from 1 to 6 for those that certify platforms, from 128 on for those
    /// that sign documents.
    function bringAuthority(bytes calldata certificate) external returns (uint8 authority);

    /// @notice Takes an issuer's revocation list if newer than the known list, and sets the revocation of serial
    /// numbers. With the known list, only sets revocations.
    /// @dev Lists are ordered by `thisUpdate`. Reverts with `NoSuchAuthority`, `BadCrl`, `WrongIssuer`, `CrlNotNewer`,
    /// `FromTheFuture`, or the reader's errors.
    /// @param issuer The authority; 0 for the root.
    /// @param crl As DER.
    /// @param serials Serial numbers to look up: numbers on the list become revoked, others become unrevoked.
    function bringCrl(uint8 issuer, bytes calldata crl, uint256[] calldata serials) external;

    /// @notice Takes TCB info for a kind of platform.
    /// @dev Reverts with `NoSuchAuthority`, `CertificateRevoked`, `CertificateExpired`, `BadDocument`, `BadDate`,
    /// `FromTheFuture`, `DocumentNotNewer`, `NumberTooLow` or `TooManyLevels`.
    /// @param info What the document says.
    /// @param authority Who signed it.
    /// @param r Of the signature.
    /// @param s Of the signature.
    function bringTcbInfo(TcbInfo calldata info, uint8 authority, bytes32 r, bytes32 s) external;

    /// @notice Takes the quoting enclave's identity.
    /// @dev Reverts as `bringTcbInfo` does.
    /// @param identity What the document says.
    /// @param authority Who signed it.
    /// @param r Of the signature.
    /// @param s Of the signature.
    function bringEnclaveIdentity(EnclaveIdentity calldata identity, uint8 authority, bytes32 r, bytes32 s) external;

    /// @notice What is known of an authority; all zero if there is none.
    /// @param authority Its number.
    /// @return It.
    function authorityOf(uint8 authority) external view returns (Authority memory);

    /// @notice How many authorities of a role are known.
    /// @param role The role.
    /// @return The count. The numbers follow each other, from 1 on or from 128 on.
    function authorityCount(AuthorityRole role) external view returns (uint8);

    /// @notice The newest revocation list of an issuer.
    /// @param issuer The authority; 0 for the root.
    /// @return It.
    function crlOf(uint8 issuer) external view returns (CrlState memory);

    /// @notice What is known of TCB info.
    /// @param authority Who signed it.
    /// @param fmspc The kind of platform.
    /// @param pceId Its provisioning enclave.
    /// @param number Intel's number; 0 for the highest one that was brought.
    /// @return number_ The number.
    /// @return state What is known.
    function tcbInfoOf(
        uint8 authority,
        bytes6 fmspc,
        bytes2 pceId,
        uint32 number
    ) external view returns (uint32 number_, DocumentState memory state);

    /// @notice The stored state of the quoting enclave's identity.
    /// @param authority The authority that signed the identity.
    /// @param number Intel's number; 0 for the highest number brought so far.
    /// @return number_ The number.
    /// @return state The stored state.
    function enclaveIdentityOf(
        uint8 authority,
        uint32 number
    ) external view returns (uint32 number_, DocumentState memory state);

    /// @notice Whether a platform was introduced.
    /// @param facts As `PlatformIntroduced` has them.
    /// @return Whether it was.
    function isIntroduced(bytes calldata facts) external view returns (bool);

    /// @notice How long a lower number counts after a higher one was first brought.
    /// @return Seconds.
    function grace() external view returns (uint64);

    /// @notice The contract that reads certificates, lists and documents for this contract.
    /// @return The address of an `ITdxReader`.
    function reader() external view returns (address);
}
