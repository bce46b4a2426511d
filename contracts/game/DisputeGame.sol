// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Address} from "@openzeppelin/contracts/utils/Address.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {IDisputeGame, Outcome} from "../interfaces/IDisputeGame.sol";
import {IClaimContract} from "../interfaces/IClaimContract.sol";
import {IProofChecker} from "../interfaces/IProofChecker.sol";
import {ClaimGames} from "./ClaimGames.sol";
import {Clock} from "./Clock.sol";
import {Descent} from "./Descent.sol";
import {GasSchedule} from "./GasSchedule.sol";
import {Payouts} from "./Payouts.sol";
import {ProgramHeader} from "../program/ProgramHeader.sol";
import {KnownStep} from "./KnownStep.sol";
import {States} from "./States.sol";
import {GameState, Level, Move, PackedState, Pick, Side, StepProof} from "../types/GameState.sol";
import {ClaimId, GameId, JobId} from "../types/Ids.sol";
import {Claim, ClaimKey, JobIds} from "../types/Job.sol";
import {Parameters} from "../types/Parameters.sol";

/// @title The dispute game. See IDisputeGame; a table there has its states and calls.
contract DisputeGame is IDisputeGame {
    using Descent for GameState;
    using JobIds for ClaimKey;
    using ProgramHeader for bytes;
    using SafeCast for uint256;
    using States for GameState;
    using States for PackedState;

    /// @dev The state that a dead claim leaves to its other games. INVARIANT: no field overflows. A price never exceeds
    /// 2^48 (ParameterChecks). Dues cover spent gas, which stays below 2^48 during a claim's maximum lifetime.
    /// @param pot The amount available to the games alive when the claim died, in units of the stake asset.
    /// @param dues The amount due to these games, in the same units.
    /// @param price The maximum price per unit of gas for these games' settlements.
    struct Death {
        uint96 pot;
        uint96 dues;
        uint64 price;
    }

    /// @dev In `stateHash`: the worker won this game.
    bytes32 private constant CLOSED = bytes32(uint256(1));

    /// @inheritdoc IDisputeGame
    IClaimContract public immutable market;
    /// @inheritdoc IDisputeGame
    IProofChecker public immutable checker;
    /// @inheritdoc IDisputeGame
    uint256 public immutable bond;
    /// @inheritdoc IDisputeGame
    bytes32 public immutable parametersHash;

    uint256 private immutable _arityBits;
    uint256 private immutable _baseClock;
    uint256 private immutable _rate;
    uint256 private immutable _priceCap;
    address private immutable _sink;

    /// @inheritdoc IDisputeGame
    mapping(GameId gameId => bytes32) public stateHash;
    mapping(ClaimId claimId => ClaimGames) private _claims;
    mapping(ClaimId claimId => Death) private _deaths;
    /// @inheritdoc IDisputeGame
    mapping(bytes32 question => mapping(bytes32 root => bool)) public provedWrong;

    /// @dev Reverts with `KnownStep.NoCode`, `KnownStep.WrongSemantics` or `KnownStep.KnownStepFails`.
    /// @param market_ The market, deployed after this game. The market's constructor checks this game, and `p`.
    /// @param checker_ Checks step proofs.
    /// @param p Parameters of the deployment.
    constructor(IClaimContract market_, IProofChecker checker_, Parameters memory p) {
        KnownStep.requireCode(address(checker_));
        KnownStep.requireSemantics(address(checker_), checker_.semantics());
        // A verifier has semantics too, but checks no proofs: it has no verifier of its own.
        KnownStep.requireEvaluated(checker_.verifier());
        market = market_;
        checker = checker_;
        parametersHash = keccak256(abi.encode(p));
        // Below 2^80: bondGas has 32 bits, priceCap at most 48 (ParameterChecks).
        bond = uint256(p.bondGas) * p.priceCap;
        _arityBits = p.arityBits;
        _baseClock = p.baseClock;
        _rate = p.rate;
        _priceCap = p.priceCap;
        _sink = p.sink;
    }

    /* ---- Opening ---- */

    /// @inheritdoc IDisputeGame
    function open(Claim calldata claim, uint32 number, Pick calldata pick_) external returns (GameId gameId) {
        uint256 start = gasleft() + GasSchedule.OPEN_END;
        GameState memory s;
        JobId jobId = JobIds.jobId(claim.job, address(market));
        s.claimId = JobIds.claimId(jobId, claim.worker, claim.root, claim.collateral);
        s.programRoot = claim.job.programRoot;
        s.challenger = msg.sender;
        s.node = claim.root;
        s.checkpoints = claim.job.checkpoints;
        s.number = number;
        s.begin(claim.job);
        s.workerSeconds = Clock.budget(_baseClock, claim.job.work, _rate).toUint32();
        s.challengerSeconds = s.workerSeconds;
        s.since = uint40(block.timestamp);
        s.bond = uint96(bond);
        bool crossed = s.descend(pick_);
        if (s.level == Level.Answer) {
            s.enterOutput(claim.job, pick_);
            crossed = true;
        }
        gameId = s.gameId();
        require(stateHash[gameId] == 0, GameExists(gameId));
        ClaimGames g = _alive(s.claimId).opened();
        // Written before the gas is measured: a claim's first game costs more.
        _claims[s.claimId] = g;
        market.gameOpened(jobId, s.claimId, msg.sender, bond);
        uint256 gas = GasSchedule.open(pick_.siblings.length) + (crossed ? GasSchedule.seam(pick_) : 0);
        _claims[s.claimId] = g.addDues(_spend(s, gas, start));
        PackedState memory packed = s.pack(Move.Open);
        stateHash[gameId] = packed.hash();
        emit Picked(gameId, packed);
    }

    /* ---- Moves ---- */

    /// @inheritdoc IDisputeGame
    function reveal(PackedState calldata state, bytes calldata data) external {
        uint256 start = gasleft() + GasSchedule.moveEnd(data.length);
        GameState memory s = state.unpack();
        (GameId gameId, ClaimGames g) = _begin(s, state, Side.Worker);
        _requirePlain();
        uint256 gas;
        if (s.depth != 0) {
            uint256 hop = Descent.hopOf(s.depth, _arityBits);
            bytes32 node = Descent.checkChildren(s.index, s.width, s.depth, hop, data);
            require(node == s.node, NotTheNode(s.node, node));
            gas = GasSchedule.reveal(hop);
        } else {
            require(s.level == Level.Tensor, NothingToReveal(s.level));
            s.checkChunk(data);
            gas = GasSchedule.CHUNK;
        }
        _earn(g, s, gas, start);
        PackedState memory packed = s.pack(Move.Reveal);
        stateHash[gameId] = packed.hash();
        emit Moved(gameId, packed, data);
    }

    /// @inheritdoc IDisputeGame
    function pick(PackedState calldata state, Pick calldata pick_) external {
        uint256 start = gasleft() + GasSchedule.MOVE_END;
        GameState memory s = state.unpack();
        (GameId gameId, ClaimGames g) = _begin(s, state, Side.Challenger);
        require(msg.sender == s.challenger, NotChallenger(msg.sender, s.challenger));
        require(s.depth != 0, NothingToPick(s.level));
        uint256 hop = Descent.hopOf(s.depth, _arityBits);
        // INVARIANT: what was revealed is not asked for again. So the worker has no more moves than were prepaid, and
        // spends no more gas and time.
        require(pick_.siblings.length >= hop, PickShortOfReveal(pick_.siblings.length, hop));
        bool crossed = s.descend(pick_);
        uint256 gas = GasSchedule.pick(pick_.siblings.length) + (crossed ? GasSchedule.seam(pick_) : 0);
        _claims[s.claimId] = g.addDues(_spend(s, gas, start));
        PackedState memory packed = s.pack(Move.Pick);
        stateHash[gameId] = packed.hash();
        emit Picked(gameId, packed);
    }

    /// @inheritdoc IDisputeGame
    function expand(
        PackedState calldata state,
        bytes32 content,
        bytes calldata children,
        bytes32[] calldata siblings
    ) external {
        uint256 start = gasleft() + GasSchedule.moveEnd(children.length);
        GameState memory s = state.unpack();
        (GameId gameId, ClaimGames g) = _begin(s, state, Side.Worker);
        // SAFETY: only the worker binds itself to a list: that of a stranger would get it refuted.
        require(JobIds.claimId(msg.sender, content) == s.claimId, NotWorker(msg.sender, s.claimId));
        require(s.depth == 0 && s.level <= Level.Trace, NothingToExpand(s.level, s.depth));
        uint256 hop = s.expand(_arityBits, children, siblings);
        _earn(g, s, GasSchedule.expand(hop, siblings.length), start);
        PackedState memory packed = s.pack(Move.Expand);
        stateHash[gameId] = packed.hash();
        emit Moved(gameId, packed, children);
    }

    /* ---- Ends ---- */

    /// @inheritdoc IDisputeGame
    function prove(PackedState calldata state, Claim calldata claim, StepProof calldata proof) external {
        uint256 start = gasleft() + GasSchedule.DEATH_END;
        GameState memory s = state.unpack();
        (GameId gameId, ClaimGames g) = _load(s, state);
        require(msg.sender == s.challenger, NotChallenger(msg.sender, s.challenger));
        if (s.turn == Side.Challenger) _requireTime(s);
        JobId jobId = JobIds.jobId(claim.job, address(market));
        ClaimKey memory key = ClaimKey(jobId, claim.worker, claim.root, claim.collateral);
        _requireClaim(s, JobIds.claimId(jobId, key.worker, key.root, key.collateral));
        _requireWrong(gameId, s.claimId, proof.element);
        // A proof against an answer convicts the trace that the worker showed in this game, not the answer.
        if (claim.job.answers == 0 && claim.job.termsHash != 0)
            provedWrong[JobIds.questionId(claim.job)][claim.root] = true;
        uint256 most = uint256(proof.pick.program.header.maxStepGas()) + GasSchedule.PROVE_MARGIN;
        _die(gameId, key, s, g, most, start);
    }

    /// @inheritdoc IDisputeGame
    function concede(PackedState calldata state, ClaimKey calldata key) external {
        GameState memory s = state.unpack();
        (GameId gameId, ClaimGames g) = _load(s, state);
        _requireClaim(s, key.claimId());
        if (msg.sender == key.worker) {
            _die(gameId, key, s, g, 0, 0);
        } else {
            require(msg.sender == s.challenger, NotAParty(msg.sender));
            _workerWins(gameId, key, s, g, 0);
        }
    }

    /// @inheritdoc IDisputeGame
    function timeout(PackedState calldata state, ClaimKey calldata key) external {
        uint256 start = gasleft() + GasSchedule.DEATH_END;
        GameState memory s = state.unpack();
        (GameId gameId, ClaimGames g) = _load(s, state);
        _requireClaim(s, key.claimId());
        (uint256 left, uint256 elapsed) = _clock(s);
        require(Clock.isOver(left, elapsed), ClockRunning(s.turn, left, elapsed));
        if (s.turn == Side.Worker) {
            _die(gameId, key, s, g, GasSchedule.TIMEOUT, start);
        } else {
            // Flat: whoever stages this end, takes from its own bond.
            uint256 reward = GasSchedule.paid(GasSchedule.TIMEOUT) * GasSchedule.price(block.basefee, _priceCap);
            _workerWins(gameId, key, s, g, reward);
        }
    }

    /// @inheritdoc IDisputeGame
    function settle(PackedState calldata state) external {
        uint256 start = gasleft() + GasSchedule.SETTLE_END;
        _requirePlain();
        GameState memory s = state.unpack();
        GameId gameId = _requireCurrent(s, state);
        ClaimGames g = _claims[s.claimId];
        require(g.dead(), ClaimAlive(s.claimId));
        Death memory death = _deaths[s.claimId];
        g = g.closed();
        // The price now, capped by the price reserved at the claim's death: nobody gains from gas that was dearer then.
        uint256 price = GasSchedule.price(block.basefee, death.price);
        // SAFETY: what a settlement is paid too much, a stopped worker would be paid for each game of each claim.
        if (_sink == address(market)) start -= GasSchedule.SETTLE_PLEDGED;
        if (g.open() == 0) start += GasSchedule.LAST_END;
        uint256 due = _due(s) + GasSchedule.paid(GasSchedule.settle(g.open()), start) * price;
        uint256 share = Payouts.share(due, death.pot, death.dues);
        // INVARIANT: the whole reserved amount goes to the games or, with the last game, to the sink.
        g = g.subtractDues(share);
        uint256 rest;
        if (g.open() == 0) {
            rest = g.dues();
            delete _deaths[s.claimId];
        }
        _claims[s.claimId] = g.subtractDues(rest);
        if (rest != 0) market.pay(_sink, rest);
        _close(gameId, s.claimId, Outcome.Settled, s.challenger, s.bond + share);
    }

    /* ---- Earnings ---- */

    /// @inheritdoc IDisputeGame
    function collect(ClaimKey calldata key) external {
        ClaimId claimId = key.claimId();
        ClaimGames g = _claims[claimId];
        uint256 amount = g.earned();
        require(amount != 0, NothingEarned(claimId));
        _claims[claimId] = g.collected();
        emit EarningsCollected(claimId, key.worker, amount);
        market.pay(key.worker, amount);
    }

    /* ---- Views ---- */

    /// @inheritdoc IDisputeGame
    function claimGames(
        ClaimId claimId
    ) external view returns (uint256 open_, bool dead, uint256 dues, uint256 earned) {
        ClaimGames g = _claims[claimId];
        return (g.open(), g.dead(), g.dues(), g.earned());
    }

    /// @inheritdoc IDisputeGame
    function hopOf(uint8 depth) external view returns (uint8) {
        return uint8(Descent.hopOf(depth, _arityBits));
    }

    /* ---- What a call needs: the current state, a living claim, the turn, time ---- */

    /// @dev What every move but `open` and `settle` begins with: the state is current and the claim alive.
    function _load(GameState memory s, PackedState calldata state) private view returns (GameId gameId, ClaimGames g) {
        gameId = _requireCurrent(s, state);
        g = _alive(s.claimId);
    }

    /// @dev A move that hands over the turn: takes the time used from the mover's clock.
    function _begin(
        GameState memory s,
        PackedState calldata state,
        Side mover
    ) private view returns (GameId gameId, ClaimGames g) {
        (gameId, g) = _load(s, state);
        require(s.turn == mover, NotTurnOf(mover));
        uint32 left = uint32(_requireTime(s));
        if (mover == Side.Worker) {
            s.workerSeconds = left;
            s.turn = Side.Challenger;
        } else {
            s.challengerSeconds = left;
            s.turn = Side.Worker;
        }
        s.since = uint40(block.timestamp);
    }

    /// @dev Requires the game's current state; returns the game's id.
    function _requireCurrent(GameState memory s, PackedState calldata state) private view returns (GameId gameId) {
        gameId = s.gameId();
        bytes32 stored = stateHash[gameId];
        bytes32 given = States.hash(state);
        // SAFETY: a move answers one whole state. After a reorg or a race the move is refused, not misapplied.
        require(stored == given, StaleState(gameId, stored, given));
    }

    /// @dev Returns a claim's games. The claim must not be dead.
    function _alive(ClaimId claimId) private view returns (ClaimGames g) {
        g = _claims[claimId];
        // INVARIANT: the games of a dead claim only settle; nobody wins or loses them.
        require(!g.dead(), ClaimDead(claimId));
    }

    /// @dev SAFETY: the state's claim determines who is paid and slashed, and what data a proof reads.
    function _requireClaim(GameState memory s, ClaimId given) private pure {
        require(given == s.claimId, WrongClaim(s.claimId, given));
    }

    /// @dev SAFETY: for moves that anybody may send, the sender gets paid. Otherwise a contract could send a copy
    /// first: the honest sender's transaction would revert, and nobody would pay for the move. Repeated move by move,
    /// the attack would leave a worker without money for gas.
    function _requirePlain() private view {
        require(GasSchedule.isPlain(), NotPlainAccount(msg.sender));
    }

    /// @dev Requires that the claimed element differs from the recomputed element.
    function _requireWrong(GameId gameId, ClaimId claimId, uint64 element) private {
        // SAFETY: the checker reads this call's bytes, and therefore judges the state and claim checked in this
        // contract.
        bytes memory call = bytes.concat(IProofChecker.check.selector, msg.data[4:]);
        bytes memory answer = Address.functionStaticCall(address(checker), call);
        (uint32 step, uint256 claimed, uint256 exact) = abi.decode(answer, (uint32, uint256, uint256));
        require(claimed != exact, ProofFails(claimed, exact));
        emit Proved(gameId, claimId, step, element, claimed, exact);
    }

    /// @dev Seconds that the side to move had left when its turn began, and seconds since then.
    function _clock(GameState memory s) private view returns (uint256 left, uint256 elapsed) {
        left = s.turn == Side.Worker ? s.workerSeconds : s.challengerSeconds;
        elapsed = block.timestamp - s.since;
    }

    /// @dev Returns the mover's time left after this move.
    function _requireTime(GameState memory s) private view returns (uint256) {
        (uint256 left, uint256 elapsed) = _clock(s);
        // INVARIANT: at any moment, either a move or a timeout is possible, never both.
        require(!Clock.isOver(left, elapsed), ClockExpired(s.turn, left, elapsed));
        return left - elapsed;
    }

    /* ---- Prices of moves ---- */

    /// @dev Records the price of a challenger's move, or of an end: at most `most` gas, at the gas price now, capped.
    function _spend(GameState memory s, uint256 most, uint256 start) private view returns (uint256 price) {
        price = GasSchedule.paid(most, start) * GasSchedule.price(block.basefee, _priceCap);
        s.spent = (s.spent + price).toUint96();
    }

    /// @dev Moves the price of a worker's move from the bond to the worker's earnings, with its tip, up to a quarter of
    /// the base fee.
    function _earn(ClaimGames g, GameState memory s, uint256 most, uint256 start) private {
        uint256 unit = GasSchedule.price(Math.min(tx.gasprice, (block.basefee * 5) / 4), _priceCap);
        (uint256 paid, uint256 left) = Payouts.draw(s.bond, GasSchedule.paid(most, start) * unit);
        s.bond = uint96(left);
        _claims[s.claimId] = g.addDues(paid).addEarned(paid);
    }

    /// @dev Returns the amount due to a game's challenger if the claim dies, besides the rest of the bond: the worker's
    /// draws and the challenger's own moves.
    function _due(GameState memory s) private view returns (uint256) {
        return Payouts.due(bond, s.bond, s.spent);
    }

    /* ---- Payouts of an end ---- */

    /// @dev Handles a losing claim. O(1) regardless of open games: each game settles in a separate call.
    /// @param gas The most gas that the caller is paid for this end.
    /// @param start As for `GasSchedule.paid`.
    function _die(
        GameId gameId,
        ClaimKey memory key,
        GameState memory s,
        ClaimGames g,
        uint256 gas,
        uint256 start
    ) private {
        g = g.killed().closed();
        (uint256 collateral, uint256 most) = market.refuted(key, s.claimId);
        // SAFETY: measured after the claim's contract did its part, which is dear for a worker's first refuted claim
        // and cheap for the others of a pledge. Otherwise a stopped worker would be paid for the difference, once for
        // each of its claims, and get its pledge back.
        bool isOther = msg.sender != s.challenger;
        if (gas != 0) {
            if (isOther) start += GasSchedule.PAY;
            if (g.open() != 0) start += GasSchedule.DEATH;
            // What a claim without a bounty leaves goes back to the pledge, which costs less.
            if (most == 0) start -= GasSchedule.SINK_PAY;
        }
        uint256 reward = _spend(s, gas, start);
        g = g.addDues(reward);
        if (isOther) s.spent -= uint96(reward);
        else reward = 0;
        Death memory death;
        // SAFETY: moves come first, because they were paid for. If settlements, priced when the claim dies, ranked
        // equally, sham games opened while gas was cheap would make the pot short at a spike of the base fee.
        uint256 settlements = GasSchedule.settlements(g.open());
        death.price = uint64(
            Payouts.affordable(collateral, most, g.dues(), settlements, GasSchedule.nextPrice(_priceCap))
        );
        death.dues = (g.dues() + settlements * death.price).toUint96();
        (uint256 bounty, uint256 pot, uint256 rest) = Payouts.divide(collateral, most, death.dues);
        death.pot = (pot - rest).toUint96();
        uint256 toCaller = Payouts.share(reward, death.pot, death.dues);
        uint256 toWinner = Payouts.share(_due(s), death.pot, death.dues);
        // INVARIANT: all that was slashed is the winner's, the caller's, the sink's or kept for the other games.
        uint256 kept = death.pot - toCaller - toWinner;
        if (g.open() == 0) {
            // The amount that the shares lost by rounding down.
            rest += kept;
            kept = 0;
        } else {
            _deaths[s.claimId] = death;
        }
        _claims[s.claimId] = g.withDues(kept);
        emit ClaimDied(s.claimId, gameId, death.pot, death.dues, rest);
        if (rest != 0) market.pay(_sink, rest);
        if (toCaller != 0) market.pay(msg.sender, toCaller);
        _close(gameId, s.claimId, Outcome.ChallengerWon, s.challenger, s.bond + bounty + toWinner);
    }

    /// @dev The challenger loses this game and the rest of the bond; other games go on.
    /// @param reward Paid from the bond to the caller, unless the worker calls.
    function _workerWins(GameId gameId, ClaimKey memory key, GameState memory s, ClaimGames g, uint256 reward) private {
        _claims[s.claimId] = g.closed().subtractDues(_due(s));
        // INVARIANT: the bond covers the reward in addition to all the worker's moves (ParameterChecks), and the moves
        // therefore stay paid.
        (uint256 toCaller, uint256 toWorker) = Payouts.forfeit(s.bond, msg.sender == key.worker ? 0 : reward);
        if (toCaller != 0) market.pay(msg.sender, toCaller);
        _close(gameId, s.claimId, Outcome.WorkerWon, key.worker, toWorker);
    }

    /// @dev Marks a game as over and pays the amount due.
    function _close(GameId gameId, ClaimId claimId, Outcome outcome, address to, uint256 paid) private {
        // INVARIANT: a closed game stays closed and pays nothing twice. A dead claim accepts no new games, so its games
        // need no mark.
        if (outcome == Outcome.WorkerWon) stateHash[gameId] = CLOSED;
        else delete stateHash[gameId];
        emit GameClosed(gameId, claimId, outcome, paid);
        if (paid != 0) market.pay(to, paid);
    }
}
