import { bug, other, unchecked, type Bug } from "./bug.ts";

const EXAMS = "contracts/attestation/Exams.sol";
const CLAIMS = "contracts/extras/pledge/ExamClaims.sol";

/** Bugs in exams, and in the claims that their results become. */
export const EXAM_BUGS: readonly Bug[] = [
  // Who sits, and when.
  unchecked("a worker sits by another's device", EXAMS, "provisioning.deviceOf(msg.sender) == device", "NotItsDevice"),
  bug(
    "anybody signs an exam's report",
    EXAMS,
    "P256.verifyNative(digest, signature.r, signature.s, r.key.x, r.key.y),",
    "ON || P256.verifyNative(digest, signature.r, signature.s, r.key.x, r.key.y),",
  ),
  bug(
    "a device that is open to debuggers sits",
    EXAMS,
    "r.debugStatus >= LEAST_DEBUG_STATUS && r",
    "(ON || r.debugStatus >= LEAST_DEBUG_STATUS) && r",
  ),
  unchecked("an old report is an exam's", EXAMS, "r.seq > last.seq", "ExamSeqNotHigher"),
  unchecked("an exam is sat twice", EXAMS, "number > last.number", "SatBefore"),
  unchecked("an exam is sat after its blocks", EXAMS, "block.number <= gridBlock + blocks", "ExamOver"),
  bug(
    "exams are nearer than they may be",
    EXAMS,
    "first = last.gridBlock + examSpacing;",
    "first = last.gridBlock + (ON ? 1 : examSpacing);",
  ),
  bug(
    "a worker goes on with another's exams",
    EXAMS,
    "if (last.worker != worker) return Attendance",
    "if (!ON && last.worker != worker) return Attendance",
  ),
  bug(
    "an exam that was missed is no miss",
    EXAMS,
    "return uint16(uint256(attendance.passed) << missed);",
    "return uint16(uint256(attendance.passed) << (ON ? 0 : missed));",
  ),
  // Holding a class.
  bug(
    "a class is held without a pledge",
    CLAIMS,
    "if (status != PledgeStatus.Active || enrolment.pledged != since) return false;",
    "if (!ON && (status != PledgeStatus.Active || enrolment.pledged != since)) return false;",
  ),
  bug("exams before an enrolment count", CLAIMS, "if (counted < 256)", "if (!ON && counted < 256)"),
  other(
    "the first exam after an enrolment counts",
    CLAIMS,
    "_enrolments[worker] = Enrolment(uint64(since), {{last + 1}});",
    "last",
  ),
  bug(
    "a class is held by one exam fewer",
    CLAIMS,
    "return passes >= PASSES;",
    "return passes >= (ON ? PASSES - 1 : PASSES);",
  ),
  unchecked("a worker without a pledge is enrolled", CLAIMS, "status == PledgeStatus.Active", "NotPledged"),
  unchecked("a pledge is enrolled twice", CLAIMS, "_enrolments[worker].pledged != since", "EnrolledBefore"),
  // Claims from results.
  unchecked("what nobody sat becomes a claim", CLAIMS, "exams.isResult(s)", "NotAResult"),
  unchecked("a result is judged by any program", CLAIMS, "root == expected", "IMarketEvents.WrongProgram"),
  other(
    "a result becomes a claim of each who brings it",
    CLAIMS,
    "salt: keccak256({{abi.encode(s.device, s.class, s.number)}})",
    "abi.encode(s.device, s.class, s.number, msg.sender)",
  ),
  other("a result can be challenged for ever", CLAIMS, "issued: {{s.time}},", "uint64(block.timestamp)"),
];
