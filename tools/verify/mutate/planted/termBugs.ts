import { bug, other, unchecked, without, type Bug } from "./bug.ts";

const TERMED = "contracts/market/TermedJobs.sol";
const CLAIMS = "contracts/market/TermedClaims.sol";
const MARKET = "contracts/market/JobMarket.sol";
const RECORDS = "contracts/market/JobRecords.sol";
const DELIVERY = "contracts/market/ResultDelivery.sol";
const JOB = "contracts/types/Job.sol";

/** Bugs in what terms added: seals, early acceptance, who may claim, and what is locked behind a claim. */
export const TERM_BUGS: readonly Bug[] = [
  // Seals.
  unchecked("a seal is opened too early", TERMED, "block.timestamp >= terms.openFrom", "TimeNotUp"),
  unchecked("a seal is opened too late", TERMED, "block.timestamp <= until", "TimeIsUp"),
  unchecked("a seal is broken that can be opened", TERMED, "block.timestamp > until", "TimeNotUp"),
  unchecked("a seal is opened to something else", TERMED, "record.subject == _sealOf(worker, seal_)", "WrongSeal"),
  unchecked("a sealed job is submitted for all to see", CLAIMS, "terms.openFrom == 0", "IsSealed"),
  other(
    "a broken seal costs the least collateral",
    TERMED,
    "_vault.slash(worker, {{terms.collateral}}, true)",
    "_collateral",
  ),
  without("a broken seal's fee stays", TERMED, "_refund(jobId, job, 0);"),
  without("a broken seal's collateral stays", TERMED, "_giveForfeit(worker, terms.collateral);"),
  // Early acceptance.
  without("a claim is taken early while it is disputed", TERMED, "_requireUndisputed(claimId);"),
  unchecked("a claim is taken early without terms for it", TERMED, "terms.earlyAccept", "NoEarlyAccept"),
  unchecked("a stranger takes a claim early", TERMED, "msg.sender == claim_.job.requester", "NotRequester"),
  without(
    "the collateral of a claim taken early stays locked",
    TERMED,
    "_vault.unlock(claim_.worker, claim_.collateral);",
  ),
  bug(
    "a claim taken early becomes final too",
    RECORDS,
    "if (record.status == JobStatus.Submitted) return",
    "if (record.status == JobStatus.Submitted || (ON && record.status == JobStatus.Accepted)) return",
  ),
  // Who may claim.
  unchecked("a reserved job is anybody's", CLAIMS, "reserved == address(0) || reserved == msg.sender", "ReservedFor"),
  unchecked("any job is claimed and submitted at once", TERMED, "terms.reservedFor == msg.sender", "ReservedFor"),
  unchecked("a worker takes a group twice", CLAIMS, "!_taken[key]", "GroupTaken"),
  unchecked(
    "a worker's record does not matter",
    CLAIMS,
    "isOld && refuted_ <= terms.maxRefuted && late <= terms.maxLate",
    "RecordTooPoor",
  ),
  unchecked("a job's terms are what the caller says", CLAIMS, "given == job.termsHash", "WrongTerms"),
  // Locked amounts.
  other("terms lock the least collateral", CLAIMS, "_take(jobId, job, {{terms.collateral}});", "_collateral"),
  other(
    "a worker that is late loses of the least collateral",
    TERMED,
    "_expireClaimed(jobId, job, {{terms.collateral}});",
    "_collateral",
  ),
  other("a refuted claim costs the least collateral", MARKET, "= ({{key.collateral}}, _bounty);", "_collateral"),
  other(
    "a final claim frees the least collateral",
    DELIVERY,
    "_vault.unlock(claim_.worker, {{claim_.collateral}});",
    "_collateral",
  ),
  bug(
    "a claim's name leaves out its collateral",
    JOB,
    "keccak256(abi.encode(job, root, collateral)));",
    "keccak256(abi.encode(job, root, ON ? 0 : collateral)));",
  ),
];
