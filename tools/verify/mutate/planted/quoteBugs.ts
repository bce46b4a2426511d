import { always, bug, other, unchecked, without, type Bug } from "./bug.ts";

const VERIFIER = "contracts/attestation/tdx/TdxQuoteVerifier.sol";
const AUTHORITIES = "contracts/attestation/tdx/Authorities.sol";
const CERTIFICATES = "contracts/attestation/tdx/Certificates.sol";
const LISTS = "contracts/attestation/tdx/RevocationLists.sol";
const DOCUMENTS = "contracts/attestation/tdx/Documents.sol";
const TEXT = "contracts/attestation/tdx/DocumentText.sol";
const DER = "contracts/attestation/tdx/Der.sol";
const SIGNATURES = "contracts/attestation/tdx/P256Signatures.sol";
const QUOTES = "contracts/attestation/tdx/Quotes.sol";
const DOMAINS = "contracts/attestation/tdx/TrustDomains.sol";
const LEVELS = "contracts/attestation/tdx/TcbLevels.sol";
const PLATFORMS = "contracts/attestation/tdx/Platforms.sol";
const PCK = "contracts/attestation/tdx/PckExtension.sol";

/** A quote's content and signer. */
const SHOWN: readonly Bug[] = [
  unchecked(
    "a quote need not be signed",
    VERIFIER,
    "P256Signatures.isSigned(Words.sha(quote, end), r, s, x, y)",
    "BadQuoteSignature",
  ),
  unchecked(
    "the enclave's report need not be signed",
    VERIFIER,
    "P256Signatures.isSigned(Words.sha(report, report.length), r, s, leaf.x, leaf.y)",
    "BadEnclaveReport",
  ),
  unchecked("an enclave's report is for any key", VERIFIER, "r == bound && s == 0", "WrongAttestationKey"),
  always("an enclave's report says more than its key", VERIFIER, "r == bound && {{s == 0}}"),
  unchecked(
    "a machine's certificate need not be signed",
    VERIFIER,
    "P256Signatures.isSigned(leaf.digest, leaf.r, leaf.s, issuer.x, issuer.y)",
    "BadCertificate",
  ),
  unchecked("a machine's certificate is of any issuer", VERIFIER, "leaf.issuer == issuer.subject", "WrongIssuer"),
  always("any certificate is a machine's", VERIFIER, "require({{leaf.commonName == PCK_CERTIFICATE}} && !leaf"),
  always("an authority's certificate is a machine's", VERIFIER, "&& {{!leaf.isAuthority}}, UnknownRole"),
  without("a machine's certificate counts before its time", VERIFIER, "_requireValid(leaf);"),
  unchecked(
    "a known machine outlives its certificate",
    VERIFIER,
    "block.timestamp <= notAfter",
    "CertificateExpired(notAfter)",
  ),
  other(
    "a machine outlives its authority",
    VERIFIER,
    "return {{_earlier(leaf.notAfter, issuer.notAfter)}};",
    "leaf.notAfter",
  ),
  other(
    "what holds of a machine outlives its certificate",
    VERIFIER,
    "uint256 until = {{Platforms.notAfter(p)}};",
    "type(uint64).max",
  ),
  always("facts of any machine are taken", VERIFIER, "require({{introduced == _digest(p)}} && known"),
  bug(
    "a known machine's revocation is not looked at",
    VERIFIER,
    "UnknownPlatform());\n        require(revoked == 0,",
    "UnknownPlatform());\n        require(ON || revoked == 0,",
  ),
  bug(
    "a revoked machine is introduced again",
    VERIFIER,
    "= _stateOf(certificate);\n        require(revoked == 0,",
    "= _stateOf(certificate);\n        require(ON || revoked == 0,",
  ),
  other(
    "a machine is looked up in the root's list",
    VERIFIER,
    "{{_certificateId(authority, leaf.serial)}}",
    "_certificateId(ROOT, leaf.serial)",
  ),
  other(
    "a machine with another certificate is another one",
    VERIFIER,
    "block.chainid, address(this), {{pck.ppid}}));",
    "bytes16(leaf.digest)",
  ),
  unchecked("evidence may end within its parts", VERIFIER, "third <= evidence.length", "EvidenceTooShort"),
  bug(
    "a quote of another kind is taken",
    QUOTES,
    "|| uint64(head >> 192) & ~VERSION_BITS != P256_AND_TDX) _refuse",
    "|| (!ON && uint64(head >> 192) & ~VERSION_BITS != P256_AND_TDX)) _refuse",
  ),
  unchecked("any maker's enclave signs", QUOTES, "vendor == INTEL_ENCLAVE", "UnknownEnclaveVendor"),
  bug(
    "a report's type is not compared with its size",
    QUOTES,
    "(kind == TD15_TYPE && size",
    "((ON || kind == TD15_TYPE) && size",
  ),
  unchecked("a quote's inner length may be any", QUOTES, "inner == expected", "WrongLength(inner"),
  without("a quote may end within its signature", QUOTES, "_requireBytes(quote, end + KEY_AT);"),
  bug(
    "what no signature answers is a signature",
    SIGNATURES,
    "eq(mload(0x00), 1))\n        }",
    "eq(mload(0x00), 1))\n        }\n        if (ON) valid = true;",
  ),
  bug(
    "only low values of s are taken",
    SIGNATURES,
    "address precompile = PRECOMPILE;",
    "address precompile = PRECOMPILE;\n        if (ON && uint256(s) >> 255 != 0) return false;",
  ),
];

/** Trust domains, their platforms and enclaves, by the levels that Intel gives. */
const JUDGED: readonly Bug[] = [
  // Each bug is inserted into the previous bug's end.
  bug(
    "a domain under debug counts",
    DOMAINS,
    "word & ~DEFINED != 0",
    "word & ~(ON ? DEFINED | (0xff << 56) : DEFINED) != 0",
  ),
  bug(
    "one bit says whether a domain is under debug",
    DOMAINS,
    " : DEFINED)",
    " : ON ? DEFINED | (0xfe << 56) : DEFINED)",
  ),
  bug("reserved attributes are taken", DOMAINS, " : DEFINED)", " : ON ? DEFINED | (2 ** 56 - 1) : DEFINED)"),
  bug(
    "any signer's module counts",
    DOMAINS,
    "if (Words.load(body, SIGNER_AT) != 0 ||",
    "if ((!ON && Words.load(body, SIGNER_AT) != 0) ||",
  ),
  other(
    "a module's attributes are not looked at",
    DOMAINS,
    "uint256 word = {{Words.load(body, SIGNER_AT + 32)}};",
    "uint64(Words.load(body, SIGNER_AT + 32))",
  ),
  bug(
    "the last register is not measured",
    DOMAINS,
    'assembly ("memory-safe") {\n            // Beyond the memory in use.\n            let free := mload(0x40)\n' +
      "            let length := sub(REPORT_DATA_AT, MEASURED_AT)",
    'uint256 less = ON ? 48 : 0;\n        assembly ("memory-safe") {\n            let free := mload(0x40)\n' +
      "            let length := sub(sub(REPORT_DATA_AT, MEASURED_AT), less)",
  ),
  other(
    "a service domain is not measured",
    DOMAINS,
    "service = {{body.length == Quotes.TD10_BYTES ? 0 : SERVICE_BYTES}};",
    "0",
  ),
  always("the PCE's version is not compared", LEVELS, "if ({{rest >> 240 <= pceSvn}}) return"),
  bug(
    "components are compared as one number",
    LEVELS,
    "uint256 kept = (odd",
    "uint256 kept = ON ? (given < least ? 0 : ABOVE) : (odd",
  ),
  bug("every other component is not compared", LEVELS, "& (even - (", "& (ON ? ABOVE : even - ("),
  bug(
    "components of TDX are not compared",
    LEVELS,
    "| uint128(tdxSvns);",
    "| (ON ? type(uint128).max : uint128(tdxSvns));",
  ),
  without("a module is judged by its platform's level too", LEVELS, "given |= FIRST_TWO_TDX;"),
  bug("a module's own identity is not asked", LEVELS, "if (version != 0) {", "if (version != 0 && !ON) {"),
  bug(
    "a module is judged by another one's levels",
    LEVELS,
    "if (level >> 16 != version)",
    "if (!ON && level >> 16 != version)",
  ),
  other(
    "a module's status is left out",
    LEVELS,
    "return {{worse(PlatformStatus((rest >> 232) & 0xff), status)}};",
    "PlatformStatus((rest >> 232) & 0xff)",
  ),
  bug(
    "only the module that started a domain counts",
    VERIFIER,
    "if (report.length != Quotes.TD15_BYTES) return status;",
    "if (ON || report.length != Quotes.TD15_BYTES) return status;",
  ),
  other(
    "the enclave's identity is not asked",
    VERIFIER,
    "facts.status = {{TcbLevels.worse(_statusOf(tcbInfo, report, p), TcbLevels.enclaveStatus(enclave, p))}};",
    "_statusOf(tcbInfo, report, p)",
  ),
  always("an enclave of any signer counts", LEVELS, "{{mrsigner(facts) == Platforms.mrsigner(p)}} &&"),
  always(
    "an enclave of any attributes counts",
    LEVELS,
    "{{((attributes ^ enclave) >> 128) & attributes & type(uint128).max == 0}} &&",
  ),
  always(
    "an enclave of any miscselect counts",
    LEVELS,
    "{{uint32((rest >> 224) ^ (enclave >> 96)) & (rest >> 192) == 0}} &&",
  ),
  always("another product of the enclave's signer counts", LEVELS, "{{uint16(rest >> 176) == uint16(enclave >> 80)}},"),
  bug("an old enclave counts", LEVELS, "if (level >> 8 <= svn)", "if (ON || level >> 8 <= svn)"),
  other(
    "an enclave's version is read from its wrong end",
    PLATFORMS,
    "uint16({{Quotes.u16(report, REPORT_SVN_AT)}})",
    "Words.number(report, REPORT_SVN_AT, 2)",
  ),
  bug(
    "a revoked part makes a machine old only",
    LEVELS,
    "if (a == PlatformStatus.Revoked ||",
    "if (ON) {} else if (a == PlatformStatus.Revoked ||",
  ),
  bug(
    "what is old counts if the rest is not",
    LEVELS,
    "|| b >= PlatformStatus.OutOfDate;",
    "|| (!ON && b >= PlatformStatus.OutOfDate);",
  ),
  bug(
    "need of another configuration is forgotten",
    LEVELS,
    "_isMisconfigured(a) || _isMisconfigured(b);",
    "_isMisconfigured(a) || (!ON && _isMisconfigured(b));",
  ),
  bug("a version of a machine may be negative", PCK, "if (value < 0x80 &&", "if (value < (ON ? 0x100 : 0x80) &&"),
  unchecked("versions of a machine come in any order", PCK, "oid == uint88(head >> 24)", "Der.MalformedDer"),
];

/** Authorities, their lists, and documents. */
const SIGNED: readonly Bug[] = [
  unchecked(
    "any root signs authorities",
    AUTHORITIES,
    "P256Signatures.isSigned(c.digest, c.r, c.s, _rootX, _rootY)",
    "BadCertificate",
  ),
  unchecked("an authority is of any issuer", AUTHORITIES, "c.issuer == _rootName", "WrongIssuer"),
  always("whoever is no authority certifies machines", AUTHORITIES, "return {{c.isAuthority}} && signs ?"),
  always("a key's usage does not matter", AUTHORITIES, "&& {{signs}} ?"),
  unchecked("an authority is good for everything", AUTHORITIES, "a.role == role", "NoSuchAuthority"),
  unchecked("a certificate counts before its time", AUTHORITIES, "block.timestamp >= c.notBefore", "NotYetValid"),
  unchecked(
    "an expired certificate is an authority",
    AUTHORITIES,
    "block.timestamp <= c.notAfter",
    "CertificateExpired(c",
  ),
  unchecked("an expired authority goes on", AUTHORITIES, "block.timestamp <= a.notAfter", "CertificateExpired(a"),
  without("a revoked certificate becomes an authority", AUTHORITIES, "_requireNotRevoked(id);"),
  without(
    "a revoked authority goes on",
    AUTHORITIES,
    "if (_revokedAuthorities(_lists) != 0) _requireNotRevoked(a.certificate);",
  ),
  without("machines of a revoked authority go on", AUTHORITIES, "_requireNotRevoked(_authorities[a].certificate);"),
  without("TCB info of a revoked signer counts", AUTHORITIES, "_requireNotRevoked(_authorities[b].certificate);"),
  without("an identity of a revoked signer counts", AUTHORITIES, "_requireNotRevoked(_authorities[c].certificate);"),
  always("an authority is brought twice", AUTHORITIES, "{{c.notAfter > known.notAfter}} ||"),
  unchecked("a list is of any issuer", AUTHORITIES, "list.issuer == name", "WrongIssuer(list"),
  unchecked(
    "a list need not be signed",
    AUTHORITIES,
    "P256Signatures.isSigned(list.digest, list.r, list.s, x, y)",
    "BadCrl",
  ),
  unchecked("an older list comes back", AUTHORITIES, "list.thisUpdate > known.thisUpdate", "CrlNotNewer"),
  other(
    "a list of the same time replaces one",
    AUTHORITIES,
    "{{list.thisUpdate > known.thisUpdate}}",
    "list.thisUpdate >= known.thisUpdate",
  ),
  unchecked("a list of the future is taken", AUTHORITIES, "list.thisUpdate <= block.timestamp", "FromTheFuture"),
  other("the root's list may be old", AUTHORITIES, "return {{root < own ? root : own}};", "own"),
  bug(
    "a machine's list may be old",
    AUTHORITIES,
    " : root < own ? root : own;",
    " : ON ? root : root < own ? root : own;",
  ),
  other(
    "serial numbers are compared in part",
    LISTS,
    "if ({{revoked == serial}})",
    "uint128(revoked) == uint128(serial)",
  ),
  bug(
    "a list's last entry is not looked at",
    LISTS,
    ": revoked == serial)",
    ": !(ON && stop == end) && revoked == serial)",
  ),
  unchecked(
    "a critical extension of a list is passed over",
    LISTS,
    "!isCritical",
    "Certificates.UnknownCriticalExtension",
  ),
  unchecked("a critical extension is passed over", CERTIFICATES, "!isCritical", "UnknownCriticalExtension(oid)"),
  unchecked("a certificate says twice what it is for", CERTIFICATES, "c.keyUsage == 0", "ExtensionTwice"),
  unchecked("a certificate says twice what it is", CERTIFICATES, "!c.isAuthority", "ExtensionTwice"),
  unchecked("a certificate is of two machines", CERTIFICATES, "c.sgxStart == 0", "ExtensionTwice"),
  unchecked("a certificate has two names", CERTIFICATES, "name == 0", "Der.MalformedDer(pos)"),
  unchecked("something follows a certificate", CERTIFICATES, "end == data.length", "Der.MalformedDer(0)"),
  unchecked("something follows a list", LISTS, "end == data.length", "Der.MalformedDer(0)"),
  bug("lengths have several forms", DER, "|| !isMinimal || stop > end", "|| (!ON && !isMinimal) || stop > end"),
  bug(
    "a value ends beyond the one that holds it",
    DER,
    "!isMinimal) || stop > end)",
    "!isMinimal) || (!ON && stop > end))",
  ),
  unchecked(
    "a document need not be signed",
    DOCUMENTS,
    "P256Signatures.isSigned(digest, r, s, signer.x, signer.y)",
    "BadDocument",
  ),
  unchecked("an older document comes back", DOCUMENTS, "issued > d.issued", "DocumentNotNewer"),
  unchecked("a document of the future is taken", DOCUMENTS, "issued <= block.timestamp", "FromTheFuture"),
  unchecked("an expired document is brought", DOCUMENTS, "block.timestamp <= next + OVERDUE", "CollateralExpired"),
  bug(
    "a document outlives its signer",
    DOCUMENTS,
    "next < signer.notAfter ? next",
    "ON || next < signer.notAfter ? next",
  ),
  unchecked("a superseded number counts", DOCUMENTS, "block.timestamp < supersededAt", "NumberSuperseded"),
  other("a higher number binds at once", DOCUMENTS, "= uint32({{block.timestamp + grace}});", "block.timestamp"),
  without("a lower number counts for ever", DOCUMENTS, "d.supersededAt = _nextBinds(subject, number, newest);"),
  other("a lower number has its own grace", DOCUMENTS, "return uint32({{since + grace}});", "block.timestamp + grace"),
  unchecked(
    "any old number is brought",
    DOCUMENTS,
    "number != 0 && newest - number <= MAX_NUMBERS_BELOW",
    "NumberTooLow",
  ),
  unchecked(
    "facts of any document are taken",
    DOCUMENTS,
    "uint160(word) == uint256(Words.hash(facts)) >> 96",
    "UnknownDocument",
  ),
  bug(
    "a machine is judged by another kind's TCB info",
    DOCUMENTS,
    "| (bytes32(kind) >> 32);",
    "| (ON ? bytes32(0) : bytes32(kind) >> 32);",
  ),
  bug(
    "TCB info of another PCE counts",
    DOCUMENTS,
    "bytes8(fmspc) | (bytes8(pceId) >> 48);",
    "bytes8(fmspc) | (ON ? bytes8(0) : bytes8(pceId) >> 48);",
  ),
  always("free parts of a document have braces", TEXT, "{{!_hasZero(word ^ OPEN_BRACES)}} &&"),
  unchecked("what is overdue counts for ever", VERIFIER, "block.timestamp <= due", "CollateralExpired"),
  other("what is overdue counts as current", VERIFIER, "isOverdue = {{block.timestamp > due}};", "false"),
  bug(
    "TCB info is never overdue",
    VERIFIER,
    "tcbInfo));\n        due = _earlier(due, next);",
    "tcbInfo));\n        if (!ON) due = _earlier(due, next);",
  ),
  bug(
    "an identity is never overdue",
    VERIFIER,
    "enclave));\n        due = _earlier(due, next);",
    "enclave));\n        if (!ON) due = _earlier(due, next);",
  ),
  bug(
    "an end of TCB info is not told",
    VERIFIER,
    "until = _earlier(until, _requireCurrent(_tcbSubject(first, Platforms.kind(p)), number, tcbInfo));",
    "uint256 end = _requireCurrent(_tcbSubject(first, Platforms.kind(p)), number, tcbInfo);\n" +
      "        if (!ON) until = _earlier(until, end);",
  ),
  without(
    "authorities' revocations end no renewals",
    VERIFIER,
    "if (_revokedAuthorities(lists) != 0) _requireAuthorities(authority, first, second);",
  ),
];

/** Bugs in the verification of Intel TDX quotes, most known from other verifiers. */
export const QUOTE_BUGS: readonly Bug[] = [...SHOWN, ...JUDGED, ...SIGNED];
