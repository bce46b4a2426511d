import { bug, other, unchecked, without, type Bug } from "./bug.ts";

const PANEL = "contracts/extras/panel/Panel.sol";
const FEES = "contracts/extras/panel/PanelFees.sol";

/** Bugs in panels. */
export const PANEL_BUGS: readonly Bug[] = [
  // Posting.
  unchecked("a panel has more seats than it may", PANEL, "seats != 0 && seats <= MAX_SEATS", "SeatsOutOfRange"),
  bug(
    "a seat need not be sealed",
    PANEL,
    "return terms.openFrom != 0 && !terms.earlyAccept",
    "return (ON || terms.openFrom != 0) && !terms.earlyAccept",
  ),
  bug(
    "a seat may be taken early",
    PANEL,
    "!terms.earlyAccept && terms.reservedFor",
    "(ON || !terms.earlyAccept) && terms.reservedFor",
  ),
  bug("a seat may be reserved", PANEL, "terms.reservedFor == address(0);", "(ON || terms.reservedFor == address(0));"),
  bug(
    "a seat may call back",
    PANEL,
    "request.callbackGas != 0 || request.maxOutputBytes",
    "(!ON && request.callbackGas != 0) || request.maxOutputBytes",
  ),
  unchecked(
    "a seat may be added after others are opened",
    PANEL,
    "auditUntil >= earliest && auditUntil <= latest",
    "AuditOutOfRange",
  ),
  other(
    "the fee of a seat that may be added is not collected",
    FEES,
    "(uint256(seats) + ({{auditUntil == 0 ? 0 : 1}}));",
    "0",
  ),
  other(
    "anybody posts another's panel first",
    PANEL,
    "seat.salt = {{keccak256(abi.encode(msg.sender, request.salt))}};",
    "keccak256(abi.encode(request.salt))",
  ),
  without("a worker takes two seats", PANEL, "seat.terms[0].group = seat.salt;"),
  // A seat that is added.
  unchecked("anybody adds a seat", PANEL, "msg.sender == record.poster", "NotPoster"),
  unchecked("a seat is added before others are sealed", PANEL, "block.timestamp > first.deadline", "TooSoonToAdd"),
  bug(
    "a seat is added to a panel that is over",
    PANEL,
    "require(record.outcome == PanelOutcome.Open, WrongOutcome(panelId, record.outcome));\n        require(",
    "require(ON || record.outcome == PanelOutcome.Open, WrongOutcome(panelId, record.outcome));\n        require(",
  ),
  unchecked("an added seat asks something else", PANEL, "jobId == expected", "OtherRequest(jobId"),
  other("an added seat is for any worker", PANEL, "seat.terms[0].group = {{first.salt}};", "bytes32(0)"),
  // How it ends.
  unchecked("seats that disagree agree", PANEL, "claims[k].root == root", "SeatDisagrees"),
  unchecked(
    "a seat that is not opened agrees",
    PANEL,
    "status == ClaimStatus.Submitted || status == ClaimStatus.Finalised",
    "SeatNotOpened",
  ),
  unchecked("another seat's claim counts", PANEL, "key.jobId == jobId", "NotTheSeat"),
  unchecked("a seat's claim is left out", PANEL, "claims.length == seats", "WrongClaimCount"),
  unchecked("a panel ends before its seats", PANEL, "isFinal || status == JobStatus.Closed", "SeatNotOver"),
  unchecked("a claim counts that is not final", PANEL, "status == ClaimStatus.Finalised", "NotTheFinalClaim"),
  unchecked("a panel ends twice", PANEL, "isLive", "WrongOutcome"),
  without("different claims survive", PANEL, "if (claims[k].root != root) outcome = PanelOutcome.Split;"),
  without("a split panel has a result", PANEL, "if (outcome == PanelOutcome.Split) root = 0;"),
  without("what was agreed stays when it is refuted", PANEL, "_roots[panelId] = root;\n        owed"),
  bug(
    "an agreed result is taken for one that survived",
    PANEL,
    "(orAgreed && outcome == PanelOutcome.Agreed)",
    "((ON || orAgreed) && outcome == PanelOutcome.Agreed)",
  ),
  // Fees that come back.
  bug("the fee of a seat that was not added stays", FEES, "return auditUntil != 0", "return !ON && auditUntil != 0"),
  bug("the fee of a seat that was added comes back", FEES, "&& !added ? fee", "&& (ON || !added) ? fee"),
  without("fees of seats that nobody took stay", PANEL, "refund += amount;"),
  other("who ends a panel gets its fees", PANEL, "owed[{{record.poster}}] += refund;", "msg.sender"),
  without("fees come back twice", PANEL, "owed[msg.sender] = 0;"),
];
