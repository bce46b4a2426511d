import { bug, other, unchecked, type Bug } from "./bug.ts";

const PANEL = "contracts/extras/panel/Panel.sol";
const TICKETS = "contracts/extras/tickets/Tickets.sol";
const PLEDGED = "contracts/extras/pledge/PledgedClaims.sol";
const PLEDGED_JOBS = "contracts/extras/pledge/PledgedJobs.sol";
const EXAM_CLAIMS = "contracts/extras/pledge/ExamClaims.sol";
const EXAMS = "contracts/attestation/Exams.sol";
const PROVISIONING = "contracts/attestation/Provisioning.sol";
const AUTHORITIES = "contracts/attestation/tdx/Authorities.sol";
const DOCUMENTS = "contracts/attestation/tdx/Documents.sol";
const LEVELS = "contracts/attestation/tdx/TcbLevels.sol";
const VERIFIER = "contracts/attestation/tdx/TdxQuoteVerifier.sol";
const TERMED = "contracts/market/TermedJobs.sol";
const CLAIMS = "contracts/market/TermedClaims.sol";
const POSTING = "contracts/market/JobPosting.sol";
const EXTENSION = "contracts/market/MarketExtension.sol";
const INPUTS = "contracts/market/Inputs.sol";
const RUNS = "contracts/program/Runs.sol";
const DESCENT = "contracts/game/Descent.sol";
const PROOFS = "contracts/game/StepProofs.sol";
const CHECKER = "contracts/game/ProofChecker.sol";

/**
 * Bugs that show at one value only: a first or last second, block or number, an item far behind the first. Many lie
 * within the text of a bug in another file of this folder, and come after that bug.
 */
export const EDGE_BUGS: readonly Bug[] = [
  // Panels.
  other(
    "a seat is added in the last second of the seals",
    PANEL,
    "({{block.timestamp > first.deadline}}), TooSoon",
    "block.timestamp >= first.deadline",
  ),
  bug(
    "an added seat's time may end with the last claim",
    PANEL,
    "+ request.claimSeconds + 1;",
    "+ request.claimSeconds + (ON ? 0 : 1);",
  ),
  bug(
    "an added seat's time may end when others open",
    PANEL,
    "request.terms[0].openFrom - 1;",
    "request.terms[0].openFrom - (ON ? 0 : 1);",
  ),
  bug(
    "seats that are final do not agree",
    PANEL,
    "|| status == ClaimStatus.Finalised), SeatNotOpened",
    "|| (!ON && status == ClaimStatus.Finalised)), SeatNotOpened",
  ),
  bug(
    "only the first seat's fee comes back",
    PANEL,
    "(bool closed, uint256 amount) = _closed(job, k);",
    "(bool closed, uint256 amount) = _closed(job, k);\n            if (ON && k != 0) amount = 0;",
  ),
  // Tickets.
  other(
    "a ticket is refused in its last second",
    TICKETS,
    "({{block.timestamp <= ticket.expiry}}), TicketExpired",
    "block.timestamp < ticket.expiry",
  ),
  other(
    "a deposit comes back a second late",
    TICKETS,
    "({{block.timestamp >= d.readyAt}}), WithdrawalNotReady",
    "block.timestamp > d.readyAt",
  ),
  bug(
    "a deposit may wait for one lifetime",
    TICKETS,
    "withdrawalDelay_ >= 2 * claimLifetime_, DelayTooShort",
    "withdrawalDelay_ >= (ON ? claimLifetime_ : 2 * claimLifetime_), DelayTooShort",
  ),
  // Pledges.
  bug(
    "a pledge comes back in the last second of its lifetime",
    PLEDGED,
    " || block.timestamp > until,",
    " || (ON ? block.timestamp >= until : block.timestamp > until),",
  ),
  other(
    "a pledge backs what is issued in the second of its request",
    PLEDGED,
    "({{issued < record.time}}), IssuedAfterRequest",
    "issued <= record.time",
  ),
  other(
    "a claim is refused in the last second of its lifetime",
    PLEDGED,
    "({{block.timestamp <= until}}), LifetimeOver",
    "block.timestamp < until",
  ),
  other(
    "a rest is swept in the last second of the games",
    PLEDGED,
    "require({{block.timestamp > until}}, NotYet(until));\n        uint256 left",
    "block.timestamp >= until",
  ),
  unchecked("a claim is issued in the future", PLEDGED, "issued <= block.timestamp", "NotIssuedYet"),
  bug(
    "a rest is swept before all games can have begun",
    PLEDGED,
    "record.time + _longestDispute;",
    "record.time + _longestDispute - (ON ? _parameters.maxWindow : 0);",
  ),
  unchecked("an answer comes without its nodes", PLEDGED_JOBS, "job.answers == 0", "IPledgedClaims.NodesMissing"),
  // Exams.
  bug(
    "an exam is missed in its last block",
    EXAMS,
    "block.number <= _last.gridBlock + blocks) --missed",
    "(ON ? block.number < _last.gridBlock + blocks : block.number <= _last.gridBlock + blocks)) --missed",
  ),
  other(
    "an exam is over in its last block",
    EXAMS,
    "({{block.number <= gridBlock + blocks}}), ExamOver",
    "block.number < gridBlock + blocks",
  ),
  bug(
    "exams are one block farther than they must be",
    EXAMS,
    " : examSpacing);",
    " : ON ? examSpacing + 1 : examSpacing);",
  ),
  bug(
    "the exam before an enrolment counts",
    EXAM_CLAIMS,
    "bits &= (1 << counted) - 1;",
    "bits &= (1 << (ON ? counted + 1 : counted)) - 1;",
  ),
  bug(
    "results of two classes are one claim",
    EXAM_CLAIMS,
    " : abi.encode(s.device, s.class, s.number))",
    " : ON ? abi.encode(s.device, s.number) : abi.encode(s.device, s.class, s.number))",
  ),
  // Reports.
  bug(
    "a report names the block before the known ones",
    PROVISIONING,
    "(block.number <= uint256(gridBlock) + KNOWN_BLOCKS)",
    "(block.number <= uint256(gridBlock) + KNOWN_BLOCKS + (ON ? 1 : 0))",
  ),
  // Terms.
  other(
    "seals open at the deadline",
    POSTING,
    "require({{t.openFrom > request.deadline}}, OpensTooSoon",
    "t.openFrom >= request.deadline",
  ),
  bug(
    "a collateral is the mark of other backing",
    POSTING,
    "t.collateral < type(uint96).max,",
    "(ON || t.collateral < type(uint96).max),",
  ),
  bug("turns are spread twice as far", CLAIMS, "* terms.spread) >> 248);", "* terms.spread) >> (ON ? 247 : 248));"),
  bug(
    "all turns come a block early",
    CLAIMS,
    "uint256 first = opened + 1 +",
    "uint256 first = opened + (ON ? 0 : 1) +",
  ),
  bug(
    "a record of the required age is too young",
    CLAIMS,
    "&& since <= terms.since);",
    "&& (ON ? since < terms.since : since <= terms.since));",
  ),
  other(
    "groups of all requesters are one",
    CLAIMS,
    "keccak256({{abi.encode(requester, group, taker)}});",
    "abi.encode(group, taker)",
  ),
  other(
    "a seal is opened a second early",
    TERMED,
    "({{block.timestamp >= terms.openFrom}}), TimeNotUp",
    "block.timestamp + 1 >= terms.openFrom",
  ),
  other(
    "a seal is not opened in its last second",
    TERMED,
    "({{block.timestamp <= until}}), TimeIsUp",
    "block.timestamp < until",
  ),
  other(
    "a fee comes back in the last second of its week",
    EXTENSION,
    "({{block.timestamp > until}}), TimeNotUp",
    "block.timestamp >= until",
  ),
  // Runs and answers.
  bug("an index has four bytes", RUNS, "i < 5; ++i) chunk[i]", "i < (ON ? 4 : 5); ++i) chunk[i]"),
  bug(
    "the output of an only item that carries stays at the answer",
    DESCENT,
    " || last == 0 || !program",
    " || (!ON && last == 0) || !program",
  ),
  unchecked(
    "siblings that nobody reads are taken",
    DESCENT,
    "crossed || siblings == 0",
    "IDisputeGame.WrongPathLength(siblings",
  ),
  bug(
    "a part lies behind the last tensor",
    INPUTS,
    "tensor < tensorCount(header, part.input, job.items),",
    "tensor < tensorCount(header, part.input, job.items) + (ON ? 1 : 0),",
  ),
  bug(
    "the item before is one farther",
    PROOFS,
    " : s.item - 1, sib",
    " : ON && s.item > 2 ? s.item - 2 : s.item - 1, sib",
  ),
  bug(
    "a proof's item has eight bits",
    CHECKER,
    "if (s.level != Level.Tensor) s.descend(proof.pick);",
    "if (ON) s.item = uint8(s.item);\n        if (s.level != Level.Tensor) s.descend(proof.pick);",
  ),
  other(
    "a shown run's length has eight bits",
    DESCENT,
    "Level.Run, {{uint256(s.item) + 1}}, s.item",
    "uint256(uint8(s.item)) + 1",
  ),
  // Quotes.
  other(
    "a document of the same time replaces one",
    DOCUMENTS,
    "({{issued > d.issued}}), DocumentNotNewer",
    "issued >= d.issued",
  ),
  other(
    "a number counts in the second of its end",
    DOCUMENTS,
    "({{block.timestamp < supersededAt}}), NumberSuperseded",
    "block.timestamp <= supersededAt",
  ),
  bug(
    "the PCE's version must be above a level's",
    LEVELS,
    "(rest >> 240 <= pceSvn)",
    "(ON ? rest >> 240 < pceSvn : rest >> 240 <= pceSvn)",
  ),
  bug(
    "a seventh authority certifies platforms",
    AUTHORITIES,
    "(certifies ? MAX_ISSUER : ",
    "(certifies ? MAX_ISSUER + (ON ? 1 : 0) : ",
  ),
  other(
    "collateral counts a second longer",
    VERIFIER,
    "({{block.timestamp <= due}}), CollateralExpired",
    "block.timestamp <= due + 1",
  ),
];
