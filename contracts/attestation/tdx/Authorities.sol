// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Authority, AuthorityRole, CrlState, ITdxQuoteVerifier, TdxRoot} from "../../interfaces/ITdxQuoteVerifier.sol";
import {IQuoteVerifier} from "../../interfaces/IQuoteVerifier.sol";
import {Certificate} from "./Certificates.sol";
import {ITdxReader} from "./ITdxReader.sol";
import {P256Signatures} from "./P256Signatures.sol";
import {RevocationList} from "./RevocationLists.sol";

/// @title The root, the certificates that the root signed, and their revocation lists.
abstract contract Authorities is ITdxQuoteVerifier {
    /// @dev The stored facts about a certificate.
    /// @param revokedSince Unix time; 0 while the certificate is not revoked.
    /// @param introduced For a platform's certificate: the hash of the facts that last introduced the certificate,
    /// first 24 bytes.
    struct CertificateState {
        uint64 revokedSince;
        bytes24 introduced;
    }

    /// @dev How long after the next update of a document was due it still counts, for renewals.
    uint64 internal constant OVERDUE = 14 days;
    uint8 internal constant ROOT = 0;
    bytes32 private constant PLATFORM_CA = keccak256("Intel SGX PCK Platform CA");
    bytes32 private constant PROCESSOR_CA = keccak256("Intel SGX PCK Processor CA");
    bytes32 private constant TCB_SIGNING = keccak256("Intel SGX TCB Signing");
    /// @dev The highest number of an authority that certifies platforms. Intel has two such authorities.
    uint8 private constant MAX_ISSUER = 6;
    /// @dev The number before the first signer of documents. Signers have numbers of their own, so that no number of
    /// signers leaves an issuer without a number.
    uint8 private constant SIGNERS_ABOVE = 127;
    uint8 private constant SIGNS_DATA = 0x80;
    uint8 private constant SIGNS_CERTIFICATES_AND_LISTS = 0x06;

    bytes32 private immutable _rootX;
    bytes32 private immutable _rootY;
    bytes32 private immutable _rootName;
    ITdxReader internal immutable _reader;

    mapping(uint8 authority => Authority) private _authorities;
    /// @dev By the hash of an authority's name and key.
    mapping(bytes32 key => uint8 authority) private _numbers;
    mapping(uint8 issuer => CrlState) private _crls;
    mapping(uint64 certificate => CertificateState) internal _certificates;
    /// @dev For a revoked certificate: the whole hash of issuer and serial number. The certificate's id is part of this
    /// hash.
    mapping(uint64 certificate => bytes32) private _revokedAs;
    /// @inheritdoc ITdxQuoteVerifier
    mapping(AuthorityRole role => uint8) public authorityCount;
    /// @dev The list facts needed for each quote, in one word of 32-bit numbers. The first number counts the root's
    /// revoked certificates: usually zero, and then nothing more is read. The following numbers give, per issuer, when
    /// the issuer's next list is due.
    uint256 internal _lists;

    constructor(TdxRoot memory root, ITdxReader reader_) {
        (_rootX, _rootY, _rootName) = (root.x, root.y, root.name);
        _reader = reader_;
    }

    /// @inheritdoc ITdxQuoteVerifier
    // SAFETY: a certificate signed by the root serves one purpose. A document signer certifies no platform, a platform
    // certifier signs no documents, and the root does not sign a platform's own certificate. A renewed certificate
    // keeps the number of its key: revocations and documents are stored by the number, and hold for the renewed one.
    function bringAuthority(bytes calldata certificate) external returns (uint8 authority) {
        Certificate memory c = _reader.readCertificate(certificate);
        AuthorityRole role = _roleOf(c);
        require(role != AuthorityRole.None, UnknownRole(c.commonName));
        require(c.issuer == _rootName, WrongIssuer(c.issuer, _rootName));
        _requireValid(c);
        require(P256Signatures.isSigned(c.digest, c.r, c.s, _rootX, _rootY), BadCertificate());
        uint64 id = _certificateId(ROOT, c.serial);
        _requireNotRevoked(id);
        bytes32 key = keccak256(abi.encode(c.subject, c.x, c.y));
        authority = _numbers[key];
        if (authority == 0) {
            authority = _newNumber(role);
            _numbers[key] = authority;
        } else {
            Authority storage known = _authorities[authority];
            require(
                c.notAfter > known.notAfter || _certificates[known.certificate].revokedSince != 0,
                AuthorityKnown(authority)
            );
        }
        _authorities[authority] = Authority(c.x, c.y, c.subject, id, c.notAfter, role);
        emit AuthorityBrought(authority, role, id, c.notAfter);
    }

    /// @inheritdoc ITdxQuoteVerifier
    function bringCrl(uint8 issuer, bytes calldata crl, uint256[] calldata serials) external {
        (RevocationList memory list, bool[] memory isListed) = _reader.readRevocationList(crl, serials);
        bytes32 digest = keccak256(crl);
        CrlState storage known = _crls[issuer];
        if (digest != known.digest) {
            _requireSignedBy(issuer, list);
            require(list.thisUpdate > known.thisUpdate, CrlNotNewer(known.thisUpdate, list.thisUpdate));
            require(list.thisUpdate <= block.timestamp, FromTheFuture(list.thisUpdate));
            _crls[issuer] = CrlState(digest, list.thisUpdate, list.nextUpdate);
            _setList(uint256(issuer) + 1, list.nextUpdate);
            emit CrlBrought(issuer, list.thisUpdate, list.nextUpdate);
        }
        for (uint256 k = 0; k < serials.length; ++k) _settle(issuer, serials[k], isListed[k]);
    }

    /// @inheritdoc IQuoteVerifier
    function revokedSince(uint64 certificate) external view returns (uint64) {
        return _certificates[certificate].revokedSince;
    }

    /// @inheritdoc ITdxQuoteVerifier
    function authorityOf(uint8 authority) external view returns (Authority memory) {
        return _authorities[authority];
    }

    /// @inheritdoc ITdxQuoteVerifier
    function crlOf(uint8 issuer) external view returns (CrlState memory) {
        return _crls[issuer];
    }

    /// @inheritdoc ITdxQuoteVerifier
    function reader() external view returns (address) {
        return address(_reader);
    }

    /// @dev Returns an unrevoked authority with the given role.
    function _authority(uint8 number, AuthorityRole role) internal view returns (Authority memory a) {
        a = _authorities[number];
        require(a.role == role, NoSuchAuthority(number, role));
        if (_revokedAuthorities(_lists) != 0) _requireNotRevoked(a.certificate);
        require(block.timestamp <= a.notAfter, CertificateExpired(a.notAfter));
    }

    /// @dev Returns when the next revocation lists of the root and of an authority are due, the earlier date.
    /// @param lists Same layout as `_lists`.
    function _listsDue(uint256 lists, uint8 authority) internal pure returns (uint256) {
        uint256 root = _list(lists, uint256(ROOT) + 1);
        uint256 own = _list(lists, uint256(authority) + 1);
        require(root != 0, CrlMissing(ROOT));
        require(own != 0, CrlMissing(authority));
        return root < own ? root : own;
    }

    /// @dev How many certificates of the root are revoked. @param lists As `_lists`.
    function _revokedAuthorities(uint256 lists) internal pure returns (uint256) {
        return _list(lists, 0);
    }

    /// @dev Reverts if any of the three authorities has been revoked.
    function _requireAuthorities(uint8 a, uint8 b, uint8 c) internal view {
        _requireNotRevoked(_authorities[a].certificate);
        _requireNotRevoked(_authorities[b].certificate);
        _requireNotRevoked(_authorities[c].certificate);
    }

    function _requireNotRevoked(uint64 certificate) internal view {
        uint64 since = _certificates[certificate].revokedSince;
        require(since == 0, CertificateRevoked(certificate, since));
    }

    function _requireValid(Certificate memory c) internal view {
        require(block.timestamp >= c.notBefore, NotYetValid(c.notBefore));
        require(block.timestamp <= c.notAfter, CertificateExpired(c.notAfter));
    }

    /// @dev Returns a certificate's id. The issuer chooses the serial number, and therefore nobody else can create two
    /// certificates with one id.
    function _certificateId(uint8 issuer, uint256 serial) internal pure returns (uint64) {
        return uint64(uint256(keccak256(abi.encode(issuer, serial))));
    }

    /// @dev Reads both stored fields of a certificate at once.
    function _stateOf(uint64 certificate) internal view returns (uint64 revoked, uint256 introduced) {
        CertificateState storage state = _certificates[certificate];
        uint256 word;
        assembly ("memory-safe") {
            word := sload(state.slot)
        }
        return (uint64(word), word >> 64);
    }

    function _newNumber(AuthorityRole role) private returns (uint8 number) {
        bool certifies = role == AuthorityRole.Platforms;
        uint8 count = authorityCount[role];
        require(count < (certifies ? MAX_ISSUER : type(uint8).max - SIGNERS_ABOVE), TooManyAuthorities());
        authorityCount[role] = ++count;
        return certifies ? count : SIGNERS_ABOVE + count;
    }

    function _settle(uint8 issuer, uint256 serial, bool isListed) private {
        bytes32 whole = keccak256(abi.encode(issuer, serial));
        uint64 id = uint64(uint256(whole));
        CertificateState storage state = _certificates[id];
        if (isListed == (state.revokedSince != 0)) return;
        // SAFETY: a second serial number with a revoked certificate's id cannot clear the revocation.
        if (isListed) _revokedAs[id] = whole;
        else if (_revokedAs[id] != whole) return;
        state.revokedSince = isListed ? uint64(block.timestamp) : 0;
        if (issuer == ROOT) {
            uint256 count = _revokedAuthorities(_lists);
            _setList(0, isListed ? count + 1 : count - 1);
        }
        if (isListed) emit Revoked(id, issuer, serial);
        else emit Cleared(id, issuer, serial);
    }

    /// @dev A number of `_lists`.
    function _list(uint256 lists, uint256 index) private pure returns (uint256) {
        unchecked {
            return uint32(lists >> (32 * index));
        }
    }

    function _setList(uint256 index, uint256 value) private {
        uint256 shift = 32 * index;
        _lists = (_lists & ~(uint256(type(uint32).max) << shift)) | (uint256(uint32(value)) << shift);
    }

    function _requireSignedBy(uint8 issuer, RevocationList memory list) private view {
        (bytes32 x, bytes32 y, bytes32 name) = (_rootX, _rootY, _rootName);
        if (issuer != ROOT) {
            Authority memory a = _authority(issuer, AuthorityRole.Platforms);
            (x, y, name) = (a.x, a.y, a.subject);
        }
        require(list.issuer == name, WrongIssuer(list.issuer, name));
        require(P256Signatures.isSigned(list.digest, list.r, list.s, x, y), BadCrl());
    }

    function _roleOf(Certificate memory c) private pure returns (AuthorityRole) {
        bytes32 name = c.commonName;
        if (name == PLATFORM_CA || name == PROCESSOR_CA) {
            bool signs = c.keyUsage & SIGNS_CERTIFICATES_AND_LISTS == SIGNS_CERTIFICATES_AND_LISTS;
            return c.isAuthority && signs ? AuthorityRole.Platforms : AuthorityRole.None;
        }
        if (name == TCB_SIGNING && !c.isAuthority && c.keyUsage & SIGNS_DATA != 0) return AuthorityRole.Documents;
        return AuthorityRole.None;
    }
}
