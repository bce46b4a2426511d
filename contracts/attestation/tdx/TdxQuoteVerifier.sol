// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IQuoteVerifier, PlatformStatus, QuoteFacts} from "../../interfaces/IQuoteVerifier.sol";
import {Authority, AuthorityRole, ITdxQuoteVerifier, TdxRoot} from "../../interfaces/ITdxQuoteVerifier.sol";
import {ChainProbes} from "../ChainProbes.sol";
import {Authorities} from "./Authorities.sol";
import {Certificate} from "./Certificates.sol";
import {Documents} from "./Documents.sol";
import {ITdxReader} from "./ITdxReader.sol";
import {P256Signatures} from "./P256Signatures.sol";
import {PckFacts} from "./PckExtension.sol";
import {Platforms} from "./Platforms.sol";
import {Certification, Quotes} from "./Quotes.sol";
import {TcbLevels} from "./TcbLevels.sol";
import {TrustDomains} from "./TrustDomains.sol";
import {Words} from "./Words.sol";

/// @title Verifies quotes of Intel TDX. See ITdxQuoteVerifier.
contract TdxQuoteVerifier is Documents {
    bytes32 private constant PCK_CERTIFICATE = keccak256("Intel SGX PCK Certificate");
    /// @dev What evidence starts with: an authority and three lengths.
    uint256 private constant HEAD_BYTES = 7;

    /// @dev Reverts with `NoP256Precompile` or `GraceOutOfRange`.
    /// @param root What everything is signed under.
    /// @param reader_ Reads what Intel signs.
    /// @param grace_ How long a lower number counts after a higher one was first brought, seconds.
    constructor(TdxRoot memory root, ITdxReader reader_, uint64 grace_) Authorities(root, reader_) Documents(grace_) {
        ChainProbes.requireP256();
    }

    /// @inheritdoc IQuoteVerifier
    /// @dev ITdxQuoteVerifier describes the format of `evidence`. Reverts with errors from ITdxQuoteVerifier and from
    /// the libraries that read the evidence.
    function verify(bytes calldata evidence) external returns (QuoteFacts memory facts) {
        (
            uint8 authority,
            bytes calldata tcbInfo,
            bytes calldata enclave,
            bytes calldata quote,
            bytes calldata rest
        ) = _split(evidence);
        (uint256 body, uint256 end) = Quotes.frame(quote);
        bytes memory p = authority == 0 ? _knownPlatform(rest, enclave) : _introduce(authority, rest, quote, end);
        _checkSignature(quote, end, p);
        uint64 notAfter = Platforms.notAfter(p);
        require(block.timestamp <= notAfter, CertificateExpired(notAfter));
        facts.platform = Platforms.id(p);
        facts.certificate = Platforms.certificate(p);
        (facts.until, facts.isOverdue) = _term(tcbInfo, enclave, p);
        bytes calldata report = Words.slice(quote, body, end);
        facts.workload = TrustDomains.workload(report);
        (facts.reportHead, facts.reportTail) = TrustDomains.reportData(report);
        facts.status = TcbLevels.worse(_statusOf(tcbInfo, report, p), TcbLevels.enclaveStatus(enclave, p));
        assembly ("memory-safe") {
            // Eight words, in memory as in the answer.
            return(facts, 0x100)
        }
    }

    /// @inheritdoc ITdxQuoteVerifier
    function isIntroduced(bytes calldata facts) external view returns (bool) {
        (, uint256 introduced) = _stateOf(Platforms.certificate(facts));
        return introduced == _digest(facts);
    }

    /// @dev Returns how long Intel's statements about a platform hold, and whether the next statement is overdue.
    /// Reverts if a statement has expired.
    function _term(
        bytes calldata tcbInfo,
        bytes calldata enclave,
        bytes memory p
    ) private view returns (uint64, bool isOverdue) {
        uint8 authority = Platforms.authority(p);
        uint256 lists = _lists;
        uint256 due = _listsDue(lists, authority);
        (uint32 number, uint8 first, uint256 next) = TcbLevels.head(tcbInfo);
        uint256 until = Platforms.notAfter(p);
        until = _earlier(until, _requireCurrent(_tcbSubject(first, Platforms.kind(p)), number, tcbInfo));
        due = _earlier(due, next);
        uint8 second;
        (number, second, next) = TcbLevels.head(enclave);
        until = _earlier(until, _requireCurrent(_enclaveSubject(second), number, enclave));
        due = _earlier(due, next);
        if (_revokedAuthorities(lists) != 0) _requireAuthorities(authority, first, second);
        isOverdue = block.timestamp > due;
        unchecked {
            // Times of certificates and documents are below the year 10,000.
            due += OVERDUE;
        }
        require(block.timestamp <= due, CollateralExpired(uint64(due)));
        return (uint64(_earlier(until, due)), isOverdue);
    }

    /// @dev The module may have been replaced under a running domain: the starting module and the running module both
    /// count.
    function _statusOf(
        bytes calldata tcbInfo,
        bytes calldata report,
        bytes memory p
    ) private pure returns (PlatformStatus status) {
        (bytes16 svns, uint256 pceSvn) = (Platforms.svns(p), Platforms.pceSvn(p));
        bytes16 started = TrustDomains.svns(report);
        status = TcbLevels.statusOf(tcbInfo, svns, pceSvn, started);
        if (report.length != Quotes.TD15_BYTES) return status;
        bytes16 current = TrustDomains.currentSvns(report);
        // Usually nobody has replaced the module.
        if (current == started) return status;
        return TcbLevels.worse(status, TcbLevels.statusOf(tcbInfo, svns, pceSvn, current));
    }

    function _checkSignature(bytes calldata quote, uint256 end, bytes memory p) private view {
        (bytes32 r, bytes32 s) = Quotes.signature(quote, end);
        (bytes32 x, bytes32 y) = Platforms.key(p);
        require(P256Signatures.isSigned(Words.sha(quote, end), r, s, x, y), BadQuoteSignature());
    }

    function _knownPlatform(bytes calldata known, bytes calldata enclave) private view returns (bytes memory p) {
        p = Platforms.complete(known, enclave);
        uint64 certificate = Platforms.certificate(p);
        (uint64 revoked, uint256 introduced) = _stateOf(certificate);
        require(introduced == _digest(p) && known.length == Platforms.KNOWN_BYTES, UnknownPlatform());
        require(revoked == 0, CertificateRevoked(certificate, revoked));
    }

    /// @dev Checks a platform's certificate and the enclave's report, which make the attestation key good, and
    /// remembers that.
    function _introduce(
        uint8 authority,
        bytes calldata der,
        bytes calldata quote,
        uint256 end
    ) private returns (bytes memory p) {
        (Certificate memory leaf, PckFacts memory pck) = _reader.readPlatformCertificate(der);
        uint256 notAfter = _checkLeaf(leaf, authority);
        uint64 certificate = _certificateId(authority, leaf.serial);
        (uint64 revoked, uint256 introduced) = _stateOf(certificate);
        require(revoked == 0, CertificateRevoked(certificate, revoked));
        bytes calldata report = _checkEnclave(quote, end, leaf);
        bytes32 id = keccak256(abi.encode("refute tdx platform 1", block.chainid, address(this), pck.ppid));
        bytes memory head = abi.encodePacked(authority, certificate, uint64(notAfter), id);
        (bytes32 x, bytes32 y) = Quotes.key(quote, end);
        p = Platforms.pack(head, pck, report, x, y);
        uint256 digest = _digest(p);
        if (introduced == digest) return p;
        _certificates[certificate] = CertificateState(0, bytes24(uint192(digest)));
        emit PlatformIntroduced(id, certificate, p);
    }

    /// @dev A platform's certificate is signed by an authority for platforms. Returns up to when both are valid.
    function _checkLeaf(Certificate memory leaf, uint8 authority) private view returns (uint256 notAfter) {
        Authority memory issuer = _authority(authority, AuthorityRole.Platforms);
        require(leaf.commonName == PCK_CERTIFICATE && !leaf.isAuthority, UnknownRole(leaf.commonName));
        require(leaf.issuer == issuer.subject, WrongIssuer(leaf.issuer, issuer.subject));
        _requireValid(leaf);
        require(P256Signatures.isSigned(leaf.digest, leaf.r, leaf.s, issuer.x, issuer.y), BadCertificate());
        return _earlier(leaf.notAfter, issuer.notAfter);
    }

    /// @dev The platform signed the enclave's report, and the report names the attestation key.
    function _checkEnclave(
        bytes calldata quote,
        uint256 end,
        Certificate memory leaf
    ) private view returns (bytes calldata report) {
        Certification memory c = Quotes.certification(quote, end);
        report = Words.slice(quote, c.report, c.report + Quotes.ENCLAVE_REPORT_BYTES);
        (bytes32 r, bytes32 s) = Quotes.reportSignature(quote, end);
        require(P256Signatures.isSigned(Words.sha(report, report.length), r, s, leaf.x, leaf.y), BadEnclaveReport());
        (bytes32 x, bytes32 y) = Quotes.key(quote, end);
        bytes32 bound = sha256(abi.encodePacked(x, y, quote[c.authentication:c.authenticationEnd]));
        (r, s) = Platforms.reportData(report);
        require(r == bound && s == 0, WrongAttestationKey());
    }

    /// @dev Splits evidence into its parts; the last part ends with the evidence. See ITdxQuoteVerifier.
    function _split(
        bytes calldata evidence
    )
        private
        pure
        returns (
            uint8 authority,
            bytes calldata tcbInfo,
            bytes calldata enclave,
            bytes calldata quote,
            bytes calldata rest
        )
    {
        uint256 head = Words.load(evidence, 0);
        authority = uint8(head >> 248);
        unchecked {
            uint256 first = HEAD_BYTES + uint16(head >> 232);
            uint256 second = first + uint16(head >> 216);
            uint256 third = second + uint16(head >> 200);
            require(third <= evidence.length, EvidenceTooShort(evidence.length, third));
            tcbInfo = Words.slice(evidence, HEAD_BYTES, first);
            enclave = Words.slice(evidence, first, second);
            quote = Words.slice(evidence, second, third);
            rest = Words.slice(evidence, third, evidence.length);
        }
    }

    /// @dev What is kept of a platform's facts: the first 24 bytes of their hash.
    function _digest(bytes memory facts) private pure returns (uint256) {
        return uint256(keccak256(facts)) >> 64;
    }

    /// @dev The earlier one of two times.
    function _earlier(uint256 time, uint256 other) private pure returns (uint256) {
        return other < time ? other : time;
    }
}
