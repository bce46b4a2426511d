import { always, bug, other, unchecked, without, type Bug } from "./bug.ts";
import { EDGE_BUGS } from "./edgeBugs.ts";
import { EXAM_BUGS } from "./examBugs.ts";
import { PANEL_BUGS } from "./panelBugs.ts";
import { PROOF_BUGS } from "./proofBugs.ts";
import { QUOTE_BUGS } from "./quoteBugs.ts";
import { REPORT_BUGS } from "./reportBugs.ts";
import { RUN_BUGS } from "./runBugs.ts";
import { TERM_BUGS } from "./termBugs.ts";
import { TICKET_BUGS } from "./ticketBugs.ts";
import { VALIDATOR_BUGS } from "./validatorBugs.ts";

const GAME = "contracts/game/DisputeGame.sol";
const MARKET = "contracts/market/JobMarket.sol";
const VAULT = "contracts/vault/StakeVault.sol";
const DELIVERY = "contracts/market/ResultDelivery.sol";
const CLAIMS = "contracts/market/JobClaims.sol";
const CONTRACT = "contracts/market/ClaimContract.sol";
const GUARDS = "contracts/market/ClaimGuards.sol";
const EXTENSION = "contracts/market/MarketExtension.sol";
const PAYOUTS = "contracts/game/Payouts.sol";

/** Each `find` occurs once in its file. */
const MONEY_AND_TIME: readonly Bug[] = [
  // Money of games.
  bug(
    "a pick's price is not among the dues",
    GAME,
    "_claims[s.claimId] = g.addDues(_spend(s, gas, start));\n        PackedState memory packed = s.pack(Move.Pick);",
    "uint256 price = _spend(s, gas, start);\n        _claims[s.claimId] = ON ? g : g.addDues(price);\n" +
      "        PackedState memory packed = s.pack(Move.Pick);",
  ),
  other("dues of a lost game stay", GAME, "_claims[s.claimId] = {{g.closed().subtractDues(_due(s))}};", "g.closed()"),
  bug("the bounty is paid twice", GAME, "s.bond + bounty + toWinner", "s.bond + bounty + (ON ? bounty : 0) + toWinner"),
  bug("the sink is paid the bounty too", GAME, "emit ClaimDied(", "if (ON) rest += bounty;\n        emit ClaimDied("),
  without("the worker's draw stays in the bond", GAME, "s.bond = uint96(left);"),
  without("earnings can be collected again", GAME, "_claims[claimId] = g.collected();"),
  other("the caller's reward is not among the dues", GAME, "g = {{g.addDues(reward)}};", "g"),
  other("the reward of a timeout is not taken from the bond", GAME, ", {{toWorker}});", "s.bond"),
  other("a lost bond goes back to the challenger", GAME, "Outcome.WorkerWon, {{key.worker}},", "s.challenger"),
  bug(
    "a game can be settled again",
    GAME,
    "else delete stateHash[gameId];",
    "else stateHash[gameId] = ON ? stateHash[gameId] : bytes32(0);",
  ),
  other("a lost game can be ended again", GAME, "stateHash[gameId] = {{CLOSED}};", "stateHash[gameId]"),
  without("what a settlement pays stays set aside", GAME, "g = g.subtractDues(share);"),
  without("the last settlement leaves the rest in custody", GAME, "rest = g.dues();"),
  without("the sink gets nothing at a death", GAME, "if (rest != 0) market.pay(_sink, rest);\n        if (toCaller"),
  without("a settlement leaves the game counted", GAME, "g = g.closed();\n"),
  // A pot that is not enough for all.
  bug(
    "parts of a short pot are rounded up",
    PAYOUTS,
    "internal pure returns (uint256) {\n        return pot >= dues ? due_ : (due_ * pot) / dues;",
    "internal view returns (uint256) {\n        return pot >= dues ? due_ : (due_ * pot + (ON ? dues - 1 : 0)) / dues;",
  ),
  other("a settlement is paid in full from a short pot", GAME, "uint256 share = {{Payouts.share(}}", "due"),
  other("the winner is paid in full from a short pot", GAME, "uint256 toWinner = {{Payouts.share(}}", "_due(s)"),
  bug(
    "settlements are not among a dead claim's dues",
    GAME,
    "settlements * death.price",
    "(ON ? 0 : settlements * death.price)",
  ),
  other(
    "settlements come before moves",
    GAME,
    "{{Payouts.affordable(collateral, most, g.dues(), settlements, GasSchedule.nextPrice(_priceCap))}}",
    "GasSchedule.nextPrice(_priceCap)",
  ),
  // Who, and when.
  bug(
    "the wrong side wins by the clock",
    GAME,
    "if (s.turn == Side.Worker) {\n            _die",
    "if ((s.turn == Side.Worker) != ON) {\n            _die",
  ),
  other(
    "a timeout is possible in the last second",
    GAME,
    "require(Clock.isOver(left, {{elapsed}}), ClockRunning",
    "elapsed + 1",
  ),
  other(
    "no move is possible in the last second",
    GAME,
    "require(!Clock.isOver(left, {{elapsed}}), ClockExpired",
    "elapsed + 1",
  ),
  without("the worker's clock does not run down", GAME, "s.workerSeconds = left;"),
  without("the challenger's clock does not run down", GAME, "s.challengerSeconds = left;"),
  bug(
    "a side's time counts from the last move but one",
    GAME,
    "        s.since = uint40(block.timestamp);\n    }",
    "        if (!ON) s.since = uint40(block.timestamp);\n    }",
  ),
  unchecked("anybody concedes for the challenger", GAME, "msg.sender == s.challenger", "NotAParty"),
  always(
    "anybody picks for the challenger",
    GAME,
    "require({{msg.sender == s.challenger}}, NotChallenger(msg.sender, s.challenger));\n        require(s.depth",
  ),
  bug(
    "an older state is taken for the current one",
    GAME,
    "require(stored == given, StaleState",
    "require((ON && uint256(stored) > 1) || stored == given, StaleState",
  ),
  unchecked("a reveal is not held against the node", GAME, "node == s.node", "NotTheNode"),
  unchecked("an element that is right is proved wrong", GAME, "claimed != exact", "ProofFails"),
  bug(
    "a game ends another claim",
    GAME,
    "private pure {\n        require(given == s.claimId, WrongClaim",
    "private view {\n        require(ON || given == s.claimId, WrongClaim",
  ),
  // The market.
  unchecked("a claim is final while a game is open", GUARDS, "games == 0", "IMarketEvents.GamesOpen"),
  unchecked(
    "a claim is final before its window is over",
    GUARDS,
    "block.timestamp > windowEnd",
    "IMarketEvents.WindowOpen",
  ),
  without("the collateral stays locked", DELIVERY, "_vault.unlock(claim_.worker, claim_.collateral);"),
  unchecked(
    "the fee is paid by acceptance after delivery",
    EXTENSION,
    "_jobs[jobId].status != JobStatus.Complete && !done.paid",
    "AlreadyPaid",
  ),
  without("delivery after acceptance pays again", EXTENSION, "done.paid = true;\n        _release"),
  unchecked("a fee is reclaimed before its week is over", EXTENSION, "block.timestamp > until", "TimeNotUp"),
  without("a fee is reclaimed twice", EXTENSION, "done.paid = true;\n        record.number = RETURNED;"),
  other(
    "who reclaims a fee gets it",
    EXTENSION,
    "_vault.give({{claim_.job.requester}}, claim_.job.fee);\n    }\n\n    /* ---- Views",
    "msg.sender",
  ),
  always(
    "each of several outputs pays the fee",
    DELIVERY,
    "bool release = {{done.delivered == wanted && !done.paid}};",
  ),
  bug(
    "a payment with the last output is not noted",
    DELIVERY,
    "if (release) done.paid = true;",
    "if (release && !ON) done.paid = true;",
  ),
  always("an output is told again", DELIVERY, "bool first = {{done.delivered & bit == 0}};"),
  bug(
    "a consumer is called again with what it took",
    DELIVERY,
    "bool call = claim_.job.callbackGas != 0 && done.calledBack & bit == 0;",
    "bool call = claim_.job.callbackGas != 0 && (ON || done.calledBack & bit == 0);",
  ),
  without("a consumer that calls back in is called again", DELIVERY, "if (call) done.calledBack |= bit;"),
  without("a callback that failed counts as made", DELIVERY, "done.calledBack &= ~bit;"),
  unchecked("a game opens after the window", CONTRACT, "block.timestamp <= windowEnd", "IMarketEvents.WindowClosed"),
  bug(
    "the bond of a further game is not taken",
    CONTRACT,
    "_vault.take(challenger, bond);",
    "(uint256 open_, , , ) = _game.claimGames(claimId);\n        if (!ON || open_ < 2) _vault.take(challenger, bond);",
  ),
  without("a refuted worker is not slashed", MARKET, "_vault.slash(key.worker, collateral, false);"),
  without("a refuted claim's job is not open again", MARKET, "_reopen(key.jobId, JobStatus.Open);"),
  unchecked("a refuted claim comes back under its name", CLAIMS, "!dead", "ClaimExists"),
  bug(
    "a missed deadline costs nothing",
    CLAIMS,
    "_vault.slash(worker, penalty, true);\n        _vault.unlock(worker, collateral - penalty);",
    "if (!ON) _vault.slash(worker, penalty, true);\n" +
      "        _vault.unlock(worker, ON ? collateral : collateral - penalty);",
  ),
  unchecked("a worker expires while it has time", CLAIMS, "block.timestamp > record.number", "TimeNotUp"),
  bug(
    "a submitted job can be cancelled",
    EXTENSION,
    "record.status == JobStatus.Open || record.status == JobStatus.AwaitingInput,\n            WrongJobStatus",
    "record.status == JobStatus.Open || record.status == JobStatus.AwaitingInput || " +
      "(ON && record.status == JobStatus.Submitted),\n            WrongJobStatus",
  ),
  without(
    "a job that expires stays open",
    MARKET,
    "record.status = JobStatus.Closed;\n            _refund(jobId, job, msg.sender",
  ),
  unchecked("a worker that is not live claims", CLAIMS, "_provisioning.isLive(msg.sender)", "NotLive"),
  // The vault.
  other("locked stake can be asked back", VAULT, "Ledger.unstake(msg.sender, a.staked, {{a.locked}}, amount)", "0"),
  bug(
    "stake that backs a claim backs another",
    VAULT,
    "Ledger.lock(account, a.staked, a.locked, amount)",
    "(ON ? a.locked + amount : Ledger.lock(account, a.staked, a.locked, amount))",
  ),
  unchecked("stake comes back before the delay", VAULT, "block.timestamp >= a.readyAt", "WithdrawalNotReady"),
  without("stake comes back twice", VAULT, "a.withdrawing = 0;"),
];

/** Bugs that random sequences of calls must find. */
const CALLED = [...MONEY_AND_TIME, ...RUN_BUGS, ...TERM_BUGS, ...TICKET_BUGS, ...EXAM_BUGS, ...PANEL_BUGS];
/** Bugs around signatures by P-256 keys: tests with separate keys must find the bugs. */
const SIGNED = [...REPORT_BUGS, ...QUOTE_BUGS];

/** The required finder of a bug: random call sequences in Solidity, or tests in TypeScript. */
export type Finder = "solidity" | "mocha";
type PlantedBug = Bug & { finder: Finder };

export const BUGS: readonly PlantedBug[] = [
  ...CALLED.map((bug) => ({ ...bug, finder: "solidity" as const })),
  // INVARIANT: edges come last, because some lie within other bugs.
  ...[...SIGNED, ...VALIDATOR_BUGS, ...PROOF_BUGS, ...EDGE_BUGS].map((bug) => ({ ...bug, finder: "mocha" as const })),
];
