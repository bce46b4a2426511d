// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Address} from "@openzeppelin/contracts/utils/Address.sol";
import {
    Authority,
    AuthorityRole,
    DocumentState,
    EnclaveIdentity,
    ITdxQuoteVerifier,
    TcbInfo
} from "../../interfaces/ITdxQuoteVerifier.sol";
import {Authorities} from "./Authorities.sol";
import {Dates} from "./Dates.sol";
import {ITdxReader} from "./ITdxReader.sol";
import {P256Signatures} from "./P256Signatures.sol";
import {Words} from "./Words.sol";

/// @title Intel's documents, one per number: TCB info for each kind of platform, and the quoting enclave's identity.
abstract contract Documents is Authorities {
    uint64 private constant MAX_GRACE = 730 days;
    /// @dev How far below the highest number one may be first brought: Intel has three at once.
    uint32 private constant MAX_NUMBERS_BELOW = 32;

    /// @inheritdoc ITdxQuoteVerifier
    uint64 public immutable grace;

    /// @dev Keyed by subject, with the number in the last four bytes, otherwise zero. A subject means one document kind
    /// by one authority: see `_tcbSubject`.
    mapping(bytes32 document => DocumentState) private _documents;
    mapping(bytes32 subject => uint32 number) private _newest;

    constructor(uint64 grace_) {
        require(grace_ <= MAX_GRACE, GraceOutOfRange(grace_, MAX_GRACE));
        grace = grace_;
    }

    /// @inheritdoc ITdxQuoteVerifier
    function bringTcbInfo(TcbInfo calldata info, uint8 authority, bytes32 r, bytes32 s) external {
        (bytes32 digest, bytes memory rest) = _readDocument(ITdxReader.readTcbInfo.selector);
        bytes memory facts = _signedFacts(digest, info.number, authority, r, s, info.nextUpdate, rest);
        uint64 issued = Dates.fromText(info.issueDate);
        _take(_tcbSubject(authority, _kind(info.fmspc, info.pceId)), info.number, issued, facts);
        emit TcbInfoBrought(info.fmspc, info.pceId, info.number, issued, facts);
    }

    /// @inheritdoc ITdxQuoteVerifier
    function bringEnclaveIdentity(EnclaveIdentity calldata identity, uint8 authority, bytes32 r, bytes32 s) external {
        (bytes32 digest, bytes memory rest) = _readDocument(ITdxReader.readEnclaveIdentity.selector);
        bytes memory facts = _signedFacts(digest, identity.number, authority, r, s, identity.nextUpdate, rest);
        uint64 issued = Dates.fromText(identity.issueDate);
        _take(_enclaveSubject(authority), identity.number, issued, facts);
        emit EnclaveIdentityBrought(identity.number, issued, facts);
    }

    /// @inheritdoc ITdxQuoteVerifier
    function tcbInfoOf(
        uint8 authority,
        bytes6 fmspc,
        bytes2 pceId,
        uint32 number
    ) external view returns (uint32, DocumentState memory) {
        return _documentOf(_tcbSubject(authority, _kind(fmspc, pceId)), number);
    }

    /// @inheritdoc ITdxQuoteVerifier
    function enclaveIdentityOf(uint8 authority, uint32 number) external view returns (uint32, DocumentState memory) {
        return _documentOf(_enclaveSubject(authority), number);
    }

    /// @dev Asks the reader to read the document at the start of this call's arguments.
    // SAFETY: the reader receives this call's bytes, and therefore reads the same document that the caller checks and
    // stores. Encoding a document again would cost more than reading it.
    function _readDocument(bytes4 selector) private view returns (bytes32 digest, bytes memory facts) {
        bytes memory answer = Address.functionStaticCall(address(_reader), bytes.concat(selector, msg.data[4:]));
        return abi.decode(answer, (bytes32, bytes));
    }

    /// @dev Reverts if the facts are not from the last document of their number, or if their number has expired.
    /// @return supersededAt From when on the number will not count; the highest number if this time is unknown.
    function _requireCurrent(
        bytes32 subject,
        uint32 number,
        bytes calldata facts
    ) internal view returns (uint256 supersededAt) {
        DocumentState storage d = _document(subject, number);
        uint256 word;
        assembly ("memory-safe") {
            word := sload(d.slot)
        }
        // The digest occupies the struct's lowest bits. For an unknown document the digest is zero, and no facts hash
        // to zero.
        require(uint160(word) == uint256(Words.hash(facts)) >> 96, UnknownDocument(number));
        supersededAt = word >> 224;
        if (supersededAt == 0) return type(uint256).max;
        require(block.timestamp < supersededAt, NumberSuperseded(number, uint64(supersededAt)));
    }

    /// @dev Of TCB info. @param kind FMSPC and the PCE's id, one after the other.
    function _tcbSubject(uint8 authority, bytes8 kind) internal pure returns (bytes32) {
        return bytes32("TCB") | (bytes32(bytes1(authority)) >> 24) | (bytes32(kind) >> 32);
    }

    function _enclaveSubject(uint8 authority) internal pure returns (bytes32) {
        return bytes32("QE") | (bytes32(bytes1(authority)) >> 16);
    }

    function _key(bytes32 subject, uint32 number) private pure returns (bytes32) {
        return subject | bytes32(uint256(number));
    }

    function _document(bytes32 subject, uint32 number) private view returns (DocumentState storage) {
        return _documents[_key(subject, number)];
    }

    /// @dev FMSPC and the PCE's id, one after the other.
    function _kind(bytes6 fmspc, bytes2 pceId) private pure returns (bytes8) {
        return bytes8(fmspc) | (bytes8(pceId) >> 48);
    }

    /// @dev Returns the facts of a document that an authority has signed. The facts expire at the document's next
    /// update or with the signer.
    function _signedFacts(
        bytes32 digest,
        uint32 number,
        uint8 authority,
        bytes32 r,
        bytes32 s,
        bytes20 nextUpdate,
        bytes memory rest
    ) private view returns (bytes memory) {
        Authority memory signer = _authority(authority, AuthorityRole.Documents);
        require(P256Signatures.isSigned(digest, r, s, signer.x, signer.y), BadDocument());
        uint64 next = Dates.fromText(nextUpdate);
        require(block.timestamp <= next + OVERDUE, CollateralExpired(next + OVERDUE));
        return abi.encodePacked(number, authority, uint40(next < signer.notAfter ? next : signer.notAfter), rest);
    }

    // SAFETY: within a number, only a later document replaces an earlier one, so an old document cannot return. A new
    // number becomes binding `grace` after its arrival. Nobody can therefore end other machines' validity at once by
    // submitting the newest number. The number below then expires, no matter who submits which document later.
    function _take(bytes32 subject, uint32 number, uint64 issued, bytes memory facts) private {
        require(issued <= block.timestamp, FromTheFuture(issued));
        DocumentState memory d = _document(subject, number);
        if (d.since == 0) {
            d.since = uint32(block.timestamp);
            uint32 newest = _newest[subject];
            if (number > newest) {
                if (newest != 0) _document(subject, newest).supersededAt = uint32(block.timestamp + grace);
                _newest[subject] = number;
            } else {
                d.supersededAt = _nextBinds(subject, number, newest);
            }
        } else {
            require(issued > d.issued, DocumentNotNewer(d.issued, issued));
        }
        d.issued = uint32(issued);
        d.digest = bytes20(keccak256(facts));
        _documents[_key(subject, number)] = d;
    }

    /// @dev Returns when the next known number above an unknown number becomes binding.
    function _nextBinds(bytes32 subject, uint32 number, uint32 newest) private view returns (uint32) {
        require(number != 0 && newest - number <= MAX_NUMBERS_BELOW, NumberTooLow(newest, number));
        while (true) {
            uint32 since = _document(subject, ++number).since;
            if (since != 0) return uint32(since + grace);
        }
        return 0;
    }

    function _documentOf(bytes32 subject, uint32 number) private view returns (uint32, DocumentState memory) {
        if (number == 0) number = _newest[subject];
        return (number, _document(subject, number));
    }
}
