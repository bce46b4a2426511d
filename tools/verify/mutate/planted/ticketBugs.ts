import { bug, other, unchecked, without, type Bug } from "./bug.ts";

const TICKETS = "contracts/extras/tickets/Tickets.sol";
const SIGNED = "contracts/extras/tickets/SignedClaims.sol";
const ACCOUNTS = "contracts/extras/tickets/TicketAccounts.sol";
const PLEDGED = "contracts/extras/pledge/PledgedClaims.sol";

/** Bugs in tickets, and in the pledges behind signed claims. */
export const TICKET_BUGS: readonly Bug[] = [
  // Tickets.
  unchecked("a claim is cashed twice", TICKETS, "_cashed[digest].payer == address(0)", "AlreadyCashed"),
  unchecked("anybody cashes a ticket", TICKETS, "msg.sender == claim.worker", "NotWorker"),
  unchecked("a ticket that lost is cashed", TICKETS, "drawn < ticket.odds", "TicketLost"),
  unchecked("a ticket is cashed after its expiry", TICKETS, "block.timestamp <= ticket.expiry", "TicketExpired"),
  unchecked("the draw takes any secret", TICKETS, "secretHash == claim.secretHash", "WrongSecret"),
  without("anybody signs a ticket", TICKETS, "_requireSigner(ofTicket, signature, claim.payer);"),
  unchecked("a stopped worker cashes", TICKETS, "!_isStopped(claim.worker)", "WorkerStopped"),
  without("a face is collected twice", TICKETS, "_cashed[digest].face = 0;"),
  unchecked("a face is paid before its claim is final", TICKETS, "status == ClaimStatus.Finalised", "ClaimNotFinal"),
  bug(
    "a stopped worker's final claims are paid",
    TICKETS,
    "if (_isStopped(record.worker)) {",
    "(ClaimStatus fate, , ) = claims.statusOf(claimIdOf[digest]);\n" +
      "        if (_isStopped(record.worker) && !(ON && fate == ClaimStatus.Finalised)) {",
  ),
  other("a face that comes back is doubled", TICKETS, "].free += {{uint128(face)}};", "uint128(2 * face)"),
  other("a deposit is not counted whole", TICKETS, "].free += {{arrived.toUint128()}};", "1"),
  unchecked("a deposit comes back before its delay", TICKETS, "block.timestamp >= d.readyAt", "WithdrawalNotReady"),
  without("a deposit comes back twice", TICKETS, "_deposits[msg.sender][worker] = Deposit(d.free, 0, 0);"),
  other(
    "a second request keeps the time of the first",
    TICKETS,
    "uint256 readyAt = {{block.timestamp + withdrawalDelay}};",
    "d.readyAt == 0 ? block.timestamp + withdrawalDelay : d.readyAt",
  ),
  without("earnings are withdrawn twice", TICKETS, "earnings[msg.sender] = 0;"),
  bug(
    "a face is taken from what is asked back only in part",
    ACCOUNTS,
    "internal pure returns (uint256 freeLeft, uint256 withdrawingLeft) {\n" +
      "        if (face <= free) return (free - face, withdrawing);\n" +
      "        return (0, withdrawing - (face - free));",
    "internal view returns (uint256 freeLeft, uint256 withdrawingLeft) {\n" +
      "        if (face <= free) return (free - face, withdrawing);\n" +
      "        return (0, ON ? withdrawing : withdrawing - (face - free));",
  ),
  bug(
    "what is asked back stays free too",
    ACCOUNTS,
    "internal pure returns (uint256 freeLeft, uint256 withdrawingMore) {\n        return (free - amount,",
    "internal view returns (uint256 freeLeft, uint256 withdrawingMore) {\n        return (ON ? free : free - amount,",
  ),
  without("anybody signs a claim", SIGNED, "_requireSigner(digest, signature, claim.worker);"),
  // Pledges.
  unchecked("a claim goes on chain after its lifetime", PLEDGED, "block.timestamp <= until", "LifetimeOver"),
  unchecked("a pledge backs what is issued later", PLEDGED, "issued < record.time", "IssuedAfterRequest"),
  unchecked("a pledge comes back while claims are open", PLEDGED, "record.claims == 0", "ClaimsOpen"),
  bug(
    "a pledge comes back while what it backs can go on chain",
    PLEDGED,
    "until = record.time + _longestLifetime;\n        require(block.timestamp > until,",
    "until = record.time + _longestLifetime;\n        require(ON || block.timestamp > until,",
  ),
  without("a pledge that came back stays locked", PLEDGED, "_vault.unlock(msg.sender, collateral);"),
  without("a pledge that came back still backs", PLEDGED, "delete _pledges[msg.sender];"),
  without("a signed claim is final while disputed", PLEDGED, "_requireUndisputed(claimId);"),
  without("a signed claim is final too early", PLEDGED, "_requireOver(claimId, record.time);"),
  bug(
    "a stopped worker's claim becomes final",
    PLEDGED,
    "_requireNotStopped(record.worker);",
    "if (!ON) _requireNotStopped(record.worker);",
  ),
  bug(
    "a game is opened against a stopped worker",
    PLEDGED,
    "_requireNotStopped(_claims[claimId].worker);",
    "if (!ON) _requireNotStopped(_claims[claimId].worker);",
  ),
  without("a final claim stays counted", PLEDGED, "_pledges[record.worker].claims -= 1;"),
  without("a refuted claim stays counted", PLEDGED, "record.claims -= 1;\n        if"),
  without("a refuted worker goes on", PLEDGED, "record.status = PledgeStatus.Stopped;"),
  without("a refuted worker keeps its pledge", PLEDGED, "_vault.slash(worker, collateral, false);"),
  other("a second refutation pays a bounty again", PLEDGED, "return (collateral, {{0}});", "_parameters.bounty"),
  bug(
    "a second refutation takes the rest and leaves it",
    PLEDGED,
    "record.left = 0;\n            emit IMarketEvents",
    "if (!ON) record.left = 0;\n            emit IMarketEvents",
  ),
  without("what a pledge has left is lost", PLEDGED, "_pledges[_dying].left += amount.toUint128();"),
  bug(
    "a rest is swept twice",
    PLEDGED,
    "record.left = 0;\n        emit RemainderSwept",
    "if (!ON) record.left = 0;\n        emit RemainderSwept",
  ),
];
