// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IQuoteVerifier, PlatformStatus, QuoteFacts} from "../interfaces/IQuoteVerifier.sol";
import {Authority, AuthorityRole, ITdxQuoteVerifier, TdxEvidence, TdxRoot} from "../interfaces/ITdxQuoteVerifier.sol";
import {ChainProbes} from "../provisioning/ChainProbes.sol";
import {Authorities} from "./Authorities.sol";
import {Certificate} from "./Certificates.sol";
import {Documents} from "./Documents.sol";
import {ITdxReader} from "./ITdxReader.sol";
import {P256Signatures} from "./P256Signatures.sol";
import {PckFacts} from "./PckExtension.sol";
import {Platform, Platforms} from "./Platforms.sol";
import {Certification, QuoteLayout, Quotes} from "./Quotes.sol";
import {TcbLevels} from "./TcbLevels.sol";
import {TrustDomains} from "./TrustDomains.sol";

/// @title Verifies quotes of Intel TDX. See ITdxQuoteVerifier.
contract TdxQuoteVerifier is Documents {
    bytes32 private constant PCK_CERTIFICATE = keccak256("Intel SGX PCK Certificate");

    /// @dev Reverts with `NoP256Precompile` or `GraceOutOfRange`.
    /// @param root What everything is signed under.
    /// @param reader_ Reads what Intel signs.
    /// @param grace_ How long a lower number counts after a higher one was first brought, seconds.
    constructor(TdxRoot memory root, ITdxReader reader_, uint64 grace_) Authorities(root, reader_) Documents(grace_) {
        ChainProbes.requireP256();
    }

    /// @inheritdoc IQuoteVerifier
    /// @dev `evidence` is a `TdxEvidence`, as `abi.encode` of its fields. Reverts with errors of ITdxQuoteVerifier and
    /// of the libraries that read it.
    function verify(bytes calldata evidence) external returns (QuoteFacts memory facts) {
        TdxEvidence calldata e;
        // The fields lie where those of a struct in calldata would: each is read within the calldata.
        assembly ("memory-safe") {
            e := evidence.offset
        }
        bytes calldata quote = e.quote;
        QuoteLayout memory parts = Quotes.frame(quote);
        Platform memory p = e.leaf.length == 0 ? _knownPlatform(e.platform) : _introduce(e, parts);
        _checkSignature(quote, parts, p);
        require(block.timestamp <= p.notAfter, CertificateExpired(p.notAfter));
        facts.platform = p.id;
        facts.certificate = p.certificate;
        _judge(e.tcbInfo, e.enclave, quote[parts.body:parts.bodyEnd], p, facts);
    }

    /// @inheritdoc ITdxQuoteVerifier
    function isIntroduced(bytes calldata facts) external view returns (bool) {
        return
            facts.length >= 32 &&
            _certificates[Platforms.read(facts).certificate].introduced == bytes24(keccak256(facts));
    }

    /// @dev What a domain shows, and what Intel says of its platform.
    function _judge(
        bytes calldata tcbInfo,
        bytes calldata enclave,
        bytes calldata body,
        Platform memory p,
        QuoteFacts memory facts
    ) private view {
        facts.workload = TrustDomains.workload(body);
        facts.reportData = TrustDomains.reportData(body);
        (facts.until, facts.isOverdue) = _term(tcbInfo, enclave, p);
        facts.status = TcbLevels.worse(_statusOf(tcbInfo, body, p), TcbLevels.enclaveStatus(enclave, p));
    }

    /// @dev How long what Intel said of a platform holds, and whether the next word is overdue. Refuses what does not
    /// count now.
    function _term(
        bytes calldata tcbInfo,
        bytes calldata enclave,
        Platform memory p
    ) private view returns (uint64 until, bool isOverdue) {
        uint64 due = _listsDue(p.authority);
        (uint32 number, uint8 first, uint64 next) = TcbLevels.head(tcbInfo);
        until = _earlier(p.notAfter, _requireCurrent(_tcbSubject(first, p.fmspc, p.pceId), number, tcbInfo));
        due = _earlier(due, next);
        uint8 second;
        (number, second, next) = TcbLevels.head(enclave);
        until = _earlier(until, _requireCurrent(_enclaveSubject(second), number, enclave));
        due = _earlier(due, next);
        _requireAuthorities(p.authority, first, second);
        require(block.timestamp <= due + OVERDUE, CollateralExpired(due + OVERDUE));
        return (_earlier(until, due + OVERDUE), block.timestamp > due);
    }

    /// @dev The module may have been replaced under a running domain: both that which started it and that which runs
    /// count.
    function _statusOf(
        bytes calldata tcbInfo,
        bytes calldata body,
        Platform memory p
    ) private pure returns (PlatformStatus status) {
        status = TcbLevels.statusOf(tcbInfo, p.svns, p.pceSvn, TrustDomains.svns(body));
        if (body.length != Quotes.TD15_BYTES) return status;
        return TcbLevels.worse(status, TcbLevels.statusOf(tcbInfo, p.svns, p.pceSvn, TrustDomains.currentSvns(body)));
    }

    function _checkSignature(bytes calldata quote, QuoteLayout memory parts, Platform memory p) private view {
        (bytes32 r, bytes32 s) = Quotes.signature(quote, parts);
        require(P256Signatures.isSigned(sha256(quote[:parts.bodyEnd]), r, s, p.x, p.y), BadQuoteSignature());
    }

    function _knownPlatform(bytes calldata facts) private view returns (Platform memory p) {
        p = Platforms.read(facts);
        CertificateState memory known = _certificates[p.certificate];
        require(known.introduced != 0 && known.introduced == bytes24(keccak256(facts)), UnknownPlatform());
        require(known.revokedSince == 0, CertificateRevoked(p.certificate, known.revokedSince));
    }

    /// @dev Checks a platform's certificate and the enclave's report, which make the attestation key good, and
    /// remembers that.
    function _introduce(TdxEvidence calldata e, QuoteLayout memory parts) private returns (Platform memory p) {
        Certificate memory leaf = _checkLeaf(e.leaf, e.authority, p);
        _requireNotRevoked(p.certificate);
        _checkEnclave(e.quote, parts, leaf, p);
        bytes memory facts = Platforms.pack(p);
        bytes24 digest = bytes24(keccak256(facts));
        CertificateState storage state = _certificates[p.certificate];
        if (state.introduced == digest) return p;
        state.introduced = digest;
        emit PlatformIntroduced(p.id, p.certificate, facts);
    }

    function _checkLeaf(
        bytes calldata der,
        uint8 authority,
        Platform memory p
    ) private view returns (Certificate memory leaf) {
        PckFacts memory pck;
        (leaf, pck) = _reader.readPlatformCertificate(der);
        Authority memory issuer = _authority(authority, AuthorityRole.Platforms);
        require(leaf.commonName == PCK_CERTIFICATE && !leaf.isAuthority, UnknownRole(leaf.commonName));
        require(leaf.issuer == issuer.subject, WrongIssuer(leaf.issuer, issuer.subject));
        _requireValid(leaf);
        require(P256Signatures.isSigned(leaf.digest, leaf.r, leaf.s, issuer.x, issuer.y), BadCertificate());
        p.authority = authority;
        p.certificate = _certificateId(authority, leaf.serial);
        p.notAfter = _earlier(leaf.notAfter, issuer.notAfter);
        p.id = keccak256(abi.encode("refute tdx platform 1", block.chainid, address(this), pck.ppid));
        (p.fmspc, p.pceId, p.svns, p.pceSvn) = (pck.fmspc, pck.pceId, pck.svns, pck.pceSvn);
    }

    /// @dev The platform signed the enclave's report, and the report names the attestation key.
    function _checkEnclave(
        bytes calldata quote,
        QuoteLayout memory parts,
        Certificate memory leaf,
        Platform memory p
    ) private view {
        Certification memory c = Quotes.certification(quote, parts);
        bytes calldata report = quote[c.report:c.report + Quotes.ENCLAVE_REPORT_BYTES];
        (bytes32 r, bytes32 s) = Quotes.reportSignature(quote, parts);
        require(P256Signatures.isSigned(sha256(report), r, s, leaf.x, leaf.y), BadEnclaveReport());
        (p.x, p.y) = Quotes.key(quote, parts);
        bytes32 bound = sha256(abi.encodePacked(p.x, p.y, quote[c.authentication:c.authenticationEnd]));
        (r, s) = Platforms.reportData(report);
        require(r == bound && s == 0, WrongAttestationKey());
        Platforms.readEnclave(report, p);
    }

    /// @dev The earlier one of two times, of which the second may be 0 for none.
    function _earlier(uint64 time, uint64 other) private pure returns (uint64) {
        return other != 0 && other < time ? other : time;
    }
}
