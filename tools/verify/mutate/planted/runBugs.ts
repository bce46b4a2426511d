import { always, bug, other, unchecked, without, type Bug } from "./bug.ts";

const GAME = "contracts/game/DisputeGame.sol";
const DESCENT = "contracts/game/Descent.sol";
const PROOFS = "contracts/game/StepProofs.sol";
const RUNS = "contracts/program/Runs.sol";
const ADMISSION = "contracts/market/Admission.sol";
const INPUTS = "contracts/market/Inputs.sol";
const OUTPUTS = "contracts/market/ClaimOutputs.sol";

/** Bugs in the additions for runs and answers: item lists, item reads, expansions, item outputs. */
export const RUN_BUGS: readonly Bug[] = [
  // Lists of items.
  other("a game's list of items is as wide as a trace", DESCENT, "Level.Run, {{job.items}});", "s.checkpoints"),
  other("a claim's list of items is as wide as a trace", RUNS, "checkpoints : {{items}};", "checkpoints"),
  without("a game in a run does not note its item", DESCENT, "s.item = uint16(s.index);\n            enterTrace(s);"),
  without(
    "a game at an output does not note its item",
    DESCENT,
    "s.item = uint16(s.index);\n            return _atOut",
  ),
  other("a run's work is that of one item", RUNS, "return {{items * (programWork + ITEM_WORK)}};", "programWork"),
  unchecked(
    "a run may have no items",
    ADMISSION,
    "items != 0 && items <= Runs.MAX_ITEMS",
    "IMarketEvents.ItemsOutOfRange",
  ),
  // An item's reads.
  bug(
    "the index does not count the items",
    RUNS,
    "uint256 index = uint256(job.firstItem) + item;",
    "uint256 index = uint256(job.firstItem) + (ON ? 0 : item);",
  ),
  other("an item reads the first item's input", RUNS, "node = PositionalMerkle.rootFromPath(root, {{item}}, sib", "0"),
  bug(
    "the item before may be anybody's",
    PROOFS,
    "PositionalMerkle.leafUnder(runRoot, claim.job.items, proof.previous",
    "ON || PositionalMerkle.leafUnder(runRoot, claim.job.items, proof.previous",
  ),
  other("an item's own trace counts as the one before", PROOFS, "proof.previous, {{s.item - 1}}, sib", "s.item"),
  always(
    "state that is carried may be anything",
    PROOFS,
    "{{PositionalMerkle.leafUnder(previous, s.checkpoints, input.root, carried, input.siblings)}};",
  ),
  bug(
    "every item begins with the job's state",
    PROOFS,
    "source == InputSource.Carried && s.item != 0",
    "source == InputSource.Carried && s.item != 0 && !ON",
  ),
  // Answers.
  other("an answer's list is as wide as the run", DESCENT, "Level.Answer, {{job.answers}});", "job.items"),
  without("a game about the last item's output is about the first", DESCENT, "s.item = uint16(last);"),
  bug(
    "an output of each item is taken for the last one's",
    DESCENT,
    "if (each && last != 0) {",
    "if (!ON && each && last != 0) {",
  ),
  bug(
    "state that is carried is left out of a game",
    DESCENT,
    "if (last == 0 || !program",
    "if (ON || last == 0 || !program",
  ),
  bug(
    "a list need not hold the answer",
    DESCENT,
    "PositionalMerkle.nodeUnder(child, below, leaf,",
    "ON || PositionalMerkle.nodeUnder(child, below, leaf,",
  ),
  other("an answer is looked for at the list's beginning", DESCENT, "s.checkpoints, {{s.step}}, leaf", "0"),
  without("the run of an answer is not kept", DESCENT, "s.runRoot = s.node;"),
  unchecked("a stranger expands", GAME, "JobIds.claimId(msg.sender, content) == s.claimId", "NotWorker"),
  bug(
    "a list may come too late",
    GAME,
    "(GameId gameId, ClaimGames g) = _begin(s, state, Side.Worker);\n        // SAFETY: only the worker",
    "if (ON && s.turn == Side.Worker) s.workerSeconds = type(uint32).max;\n        " +
      "(GameId gameId, ClaimGames g) = _begin(s, state, Side.Worker);\n        // SAFETY: only the worker",
  ),
  bug(
    "an expansion keeps the turn",
    GAME,
    "        PackedState memory packed = s.pack(Move.Expand);",
    "        if (ON) s.turn = Side.Worker;\n        PackedState memory packed = s.pack(Move.Expand);",
  ),
  unchecked(
    "an answer about items that carry state is taken",
    ADMISSION,
    "!lastOnly || !each",
    "IMarketEvents.AnswerOfCarriedItems",
  ),
  // Inputs and outputs of items.
  other("parts of an input are all the first item's", INPUTS, "uint256 tensor = {{part.part / parts}};", "0"),
  unchecked(
    "the last item's output is any item's",
    OUTPUTS,
    "each || item == claim_.job.items - 1",
    "NotAnOutputOfItem",
  ),
  other("an item's output is the first item's", RUNS, "each ? PositionalMerkle.rootFromPath(root, {{item}}, sib", "0"),
  always("outputs of all items are to be delivered", ADMISSION, "if (size <= most && {{!each}}) deliverables"),
];
