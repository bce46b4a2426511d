// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {IDisputeGame, Outcome} from "./interfaces/IDisputeGame.sol";
import {IJobMarket} from "./interfaces/IJobMarket.sol";
import {Descent} from "./lib/Descent.sol";
import {GasSchedule} from "./lib/GasSchedule.sol";
import {ProgramHeader} from "./lib/ProgramHeader.sol";
import {ProgramProofs} from "./lib/ProgramProofs.sol";
import {StepProofs} from "./lib/StepProofs.sol";
import {GameState, Level, Move, Pick, Side, StepProof} from "./types/GameState.sol";
import {Claim, Job, JobIds} from "./types/Job.sol";
import {Parameters} from "./types/Parameters.sol";
import {ProgramFacts} from "./types/Program.sol";
import {IStepVerifier} from "./verifier/IStepVerifier.sol";
import {PositionalMerkle} from "./verifier/PositionalMerkle.sol";

/// @title The dispute game. See IDisputeGame.
contract DisputeGame is IDisputeGame {
    using Descent for GameState;
    using ProgramHeader for bytes;
    using ProgramProofs for ProgramFacts;
    using SafeCast for uint256;

    /// @dev What the contract keeps of a claim: one word.
    struct ClaimGames {
        uint24 open;
        bool dead;
        uint112 dues;
        uint112 earned;
    }

    /// @dev What there was for the games that were alive when a claim died, and what they were due.
    struct Death {
        uint128 pot;
        uint128 dues;
    }

    bytes32 private constant CLOSED = bytes32(uint256(1));

    IJobMarket public immutable market;
    IStepVerifier public immutable verifier;
    /// @inheritdoc IDisputeGame
    uint256 public immutable bond;

    uint256 private immutable _arityBits;
    uint256 private immutable _baseClock;
    uint256 private immutable _rate;
    uint256 private immutable _priceCap;
    uint256 private immutable _bounty;
    address private immutable _sink;

    /// @inheritdoc IDisputeGame
    mapping(bytes32 gameId => bytes32) public stateHash;
    mapping(bytes32 claimId => ClaimGames) private _claims;
    mapping(bytes32 claimId => Death) private _deaths;

    /// @dev Created by the market.
    constructor(IStepVerifier verifier_, Parameters memory p) {
        market = IJobMarket(msg.sender);
        verifier = verifier_;
        bond = uint256(p.bondGas) * p.priceCap;
        _arityBits = p.arityBits;
        _baseClock = p.baseClock;
        _rate = p.rate;
        _priceCap = p.priceCap;
        _bounty = p.bounty;
        _sink = p.sink;
    }

    /// @inheritdoc IDisputeGame
    function open(Claim calldata claim, Pick calldata pick_) external returns (bytes32 gameId) {
        bytes32 programRoot = pick_.program.root();
        require(programRoot == claim.job.programRoot, WrongProgram(claim.job.programRoot, programRoot));
        GameState memory s;
        s.jobId = JobIds.jobId(claim.job, address(market));
        s.traceRoot = claim.traceRoot;
        s.programRoot = programRoot;
        s.worker = claim.worker;
        s.challenger = msg.sender;
        s.node = claim.traceRoot;
        s.width = uint64(pick_.program.header.checkpointCount());
        s.depth = uint8(PositionalMerkle.depth(s.width));
        uint256 clock = _baseClock + (2 * uint256(claim.job.work)) / _rate;
        s.workerSeconds = clock.toUint32();
        s.challengerSeconds = clock.toUint32();
        s.since = uint40(block.timestamp);
        s.bond = bond.toUint128();
        s.descend(pick_);
        bool crossed = s.depth == 0 || s.level != Level.Trace;
        _spend(s, GasSchedule.OPEN + (crossed ? GasSchedule.PICK_SEAM : 0));

        bytes32 claimId = _claimId(s);
        gameId = keccak256(abi.encode(claimId, msg.sender, pick_.index, s.depth, pick_.node));
        require(stateHash[gameId] == 0, GameExists(gameId));
        ClaimGames storage g = _alive(claimId);
        g.open += 1;
        g.dues += uint256(s.spent).toUint112();
        _store(gameId, claimId, s, Move.Open, msg.data[:0]);
        market.gameOpened(claimId, msg.sender, bond);
    }

    /// @inheritdoc IDisputeGame
    function reveal(bytes32 gameId, GameState calldata state, bytes calldata data) external {
        (GameState memory s, bytes32 claimId, ClaimGames storage g) = _begin(gameId, state, Side.Worker);
        uint256 gas;
        if (s.depth != 0) {
            uint256 hop = hopOf(s.depth);
            bytes32 node = Descent.checkChildren(s.index, s.width, s.depth, hop, data);
            require(node == s.node, NotTheNode(s.node, node));
            gas = GasSchedule.reveal(hop);
        } else {
            require(s.level == Level.Tensor, NothingToReveal(s.level));
            s.checkChunk(data);
            gas = GasSchedule.CHUNK;
        }
        _earn(g, s, gas);
        _store(gameId, claimId, s, Move.Reveal, data);
    }

    /// @inheritdoc IDisputeGame
    function pick(bytes32 gameId, GameState calldata state, Pick calldata pick_) external {
        (GameState memory s, bytes32 claimId, ClaimGames storage g) = _begin(gameId, state, Side.Challenger);
        require(msg.sender == s.challenger, NotChallenger(msg.sender, s.challenger));
        require(s.depth != 0, NothingToPick(s.level));
        uint256 hop = hopOf(s.depth);
        // INVARIANT: what was revealed is not asked for again: the worker's moves, and so their gas and time, are as many as were prepaid.
        require(pick_.siblings.length >= hop, PickShortOfReveal(pick_.siblings.length, hop));
        Level before = s.level;
        s.descend(pick_);
        bool crossed = s.level != before || (s.level == Level.Trace && s.depth == 0);
        uint256 gas = GasSchedule.PICK + (crossed ? GasSchedule.PICK_SEAM : 0);
        uint256 price = _spend(s, gas);
        g.dues += price.toUint112();
        _store(gameId, claimId, s, Move.Pick, msg.data[:0]);
    }

    /// @inheritdoc IDisputeGame
    function expand(
        bytes32 gameId,
        GameState calldata state,
        bytes calldata children,
        bytes32[] calldata siblings
    ) external {
        (GameState memory s, bytes32 claimId, ClaimGames storage g) = _begin(gameId, state, Side.Worker);
        // SAFETY: only the worker binds itself to an interior; a stranger's would convict it.
        require(msg.sender == s.worker, NotWorker(msg.sender, s.worker));
        require(s.level == Level.Trace && s.depth == 0, NothingToExpand(s.level, s.depth));
        uint256 hop = hopOf(uint8(PositionalMerkle.depth(uint256(s.last) - s.first + 1)));
        s.enterInterior(hop, children, siblings);
        _earn(g, s, GasSchedule.expand(hop));
        _store(gameId, claimId, s, Move.Expand, children);
    }

    /// @inheritdoc IDisputeGame
    function prove(bytes32 gameId, GameState calldata state, Job calldata job, StepProof calldata proof) external {
        uint256 gasAtStart = gasleft();
        (GameState memory s, bytes32 claimId, ) = _load(gameId, state);
        require(msg.sender == s.challenger, NotChallenger(msg.sender, s.challenger));
        require(s.level == Level.Tensor, NotAtTensor(s.level));
        if (s.turn == Side.Challenger) _requireTime(s);
        bytes32 jobId = JobIds.jobId(job, address(market));
        require(jobId == s.jobId, WrongJob(s.jobId, jobId));
        (uint256 claimed, uint256 mask) = StepProofs.claimedElement(state, proof);
        bytes32[] memory roots = StepProofs.inputRoots(state, job, proof);
        uint256 exact = verifier.evaluate(proof.body, proof.element, roots, proof.openings) & mask;
        require(claimed != exact, ProofFails(claimed, exact));
        emit Proved(gameId, claimId, s.step, proof.element, claimed, exact);
        uint256 most = uint256(proof.program.header.maxStepGas()) + GasSchedule.PROVE_MARGIN;
        uint256 price = _spend(s, Math.min(GasSchedule.transactionGas(gasAtStart) + GasSchedule.CLOSE, most));
        _claims[claimId].dues += price.toUint112();
        _die(gameId, claimId, s);
    }

    /// @inheritdoc IDisputeGame
    function concede(bytes32 gameId, GameState calldata state) external {
        (GameState memory s, bytes32 claimId, ) = _load(gameId, state);
        if (msg.sender == s.worker) {
            _die(gameId, claimId, s);
        } else {
            require(msg.sender == s.challenger, NotAParty(msg.sender));
            _workerWins(gameId, claimId, s);
        }
    }

    /// @inheritdoc IDisputeGame
    function timeout(bytes32 gameId, GameState calldata state) external {
        (GameState memory s, bytes32 claimId, ClaimGames storage g) = _load(gameId, state);
        (uint256 left, uint256 elapsed) = _clock(s);
        require(elapsed > left, ClockRunning(s.turn, left, elapsed));
        if (s.turn == Side.Worker) {
            uint256 price = _spend(s, GasSchedule.CLOSE);
            g.dues += price.toUint112();
            _die(gameId, claimId, s);
        } else {
            _workerWins(gameId, claimId, s);
        }
    }

    /// @inheritdoc IDisputeGame
    function settle(bytes32 gameId, GameState calldata state) external {
        GameState memory s = state;
        _requireCurrent(gameId, s);
        bytes32 claimId = _claimId(s);
        ClaimGames storage g = _claims[claimId];
        require(g.dead, ClaimAlive(claimId));
        Death storage death = _deaths[claimId];
        uint256 paid = s.bond + _share(_due(s), death.pot, death.dues);
        g.open -= 1;
        _close(gameId, claimId, Outcome.Settled, s.challenger, paid);
    }

    /// @inheritdoc IDisputeGame
    function collect(bytes32 jobId, address worker, bytes32 traceRoot) external {
        bytes32 claimId = JobIds.claimId(jobId, worker, traceRoot);
        ClaimGames storage g = _claims[claimId];
        uint256 amount = g.earned;
        require(amount != 0, NothingEarned(claimId));
        g.earned = 0;
        emit EarningsCollected(claimId, worker, amount);
        market.pay(worker, amount);
    }

    /// @inheritdoc IDisputeGame
    function claimGames(
        bytes32 claimId
    ) external view returns (uint256 open_, bool dead, uint256 dues, uint256 earned) {
        ClaimGames storage g = _claims[claimId];
        return (g.open, g.dead, g.dues, g.earned);
    }

    /// @inheritdoc IDisputeGame
    function hashState(GameState calldata state) external pure returns (bytes32) {
        return _hash(state);
    }

    /// @inheritdoc IDisputeGame
    function hopOf(uint8 depth) public view returns (uint8) {
        // Balanced: 11 levels in reveals of at most 4 are 4 + 4 + 3.
        if (depth == 0) return 0;
        unchecked {
            uint256 reveals = (depth + _arityBits - 1) / _arityBits;
            return uint8((depth + reveals - 1) / reveals);
        }
    }

    /// @dev What every move but `open` and `settle` begins with: the state is current and the claim alive.
    function _load(
        bytes32 gameId,
        GameState calldata state
    ) private view returns (GameState memory s, bytes32 claimId, ClaimGames storage g) {
        s = state;
        _requireCurrent(gameId, s);
        claimId = _claimId(s);
        g = _alive(claimId);
    }

    /// @dev A move that hands over the turn: takes the time used from the mover's clock.
    function _begin(
        bytes32 gameId,
        GameState calldata state,
        Side mover
    ) private view returns (GameState memory s, bytes32 claimId, ClaimGames storage g) {
        (s, claimId, g) = _load(gameId, state);
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

    function _requireCurrent(bytes32 gameId, GameState memory s) private view {
        bytes32 stored = stateHash[gameId];
        bytes32 given = _hash(s);
        // SAFETY: a move answers one state, whole; after a reorg or a race it is refused, not misapplied.
        require(stored == given, StaleState(gameId, stored, given));
    }

    function _alive(bytes32 claimId) private view returns (ClaimGames storage g) {
        g = _claims[claimId];
        // INVARIANT: a dead claim's games only settle; nobody wins or loses them any more.
        require(!g.dead, ClaimDead(claimId));
    }

    function _clock(GameState memory s) private view returns (uint256 left, uint256 elapsed) {
        left = s.turn == Side.Worker ? s.workerSeconds : s.challengerSeconds;
        elapsed = block.timestamp - s.since;
    }

    /// @dev What is left of the mover's time after this move.
    function _requireTime(GameState memory s) private view returns (uint256) {
        (uint256 left, uint256 elapsed) = _clock(s);
        // INVARIANT: exactly one of a move and a timeout is possible at any moment.
        require(elapsed <= left, ClockExpired(s.turn, left, elapsed));
        return left - elapsed;
    }

    /// @dev Notes the price of a challenger's own move, at what gas costs now, capped.
    function _spend(GameState memory s, uint256 gas) private view returns (uint256 price) {
        price = gas * _gasPrice(block.basefee);
        s.spent += price.toUint128();
    }

    /// @dev Moves the price of a worker's move from the bond to the worker's earnings; a quarter above the base fee, for the tip.
    function _earn(ClaimGames storage g, GameState memory s, uint256 gas) private {
        uint256 price = Math.min(gas * _gasPrice((block.basefee * 5) / 4), s.bond);
        s.bond -= uint128(price);
        g.earned += price.toUint112();
        g.dues += price.toUint112();
    }

    /// @dev Capped; at least 1, because eth_estimateGas runs with a base fee of 0, and must see the same storage written.
    function _gasPrice(uint256 wanted) private view returns (uint256) {
        return Math.max(Math.min(wanted, _priceCap), 1);
    }

    /// @dev What a game's challenger gets beside the rest of its bond if the claim dies: what the worker drew, and its own moves.
    function _due(GameState memory s) private view returns (uint256) {
        return bond - s.bond + s.spent;
    }

    /// @dev A due, or its part pro rata if the pot is short.
    function _share(uint256 due, uint256 pot, uint256 dues) private pure returns (uint256) {
        return pot >= dues ? due : Math.mulDiv(due, pot, dues);
    }

    /// @dev The claim loses. O(1) however many games are open: they settle by themselves.
    function _die(bytes32 gameId, bytes32 claimId, GameState memory s) private {
        ClaimGames storage g = _claims[claimId];
        g.dead = true;
        g.open -= 1;
        uint256 dues = g.dues;
        uint256 collateral = market.refuted(s.jobId, claimId, s.worker);
        uint256 bounty = Math.min(_bounty, collateral);
        uint256 pot = collateral - bounty;
        uint256 rest = pot > dues ? pot - dues : 0;
        // INVARIANT: the winner's share, the others' shares and the rest are at most the pot: a settled game never pays from another claim's money.
        if (g.open != 0) _deaths[claimId] = Death((pot - rest).toUint128(), dues.toUint128());
        emit ClaimDied(claimId, gameId, pot - rest, dues, rest);
        if (rest != 0) market.pay(_sink, rest);
        uint256 paid = s.bond + bounty + _share(_due(s), pot, dues);
        _close(gameId, claimId, Outcome.ChallengerWon, s.challenger, paid);
    }

    /// @dev The challenger loses this game, with what is left of its bond; other games go on.
    function _workerWins(bytes32 gameId, bytes32 claimId, GameState memory s) private {
        ClaimGames storage g = _claims[claimId];
        g.open -= 1;
        g.dues -= _due(s).toUint112();
        _close(gameId, claimId, Outcome.WorkerWon, s.worker, s.bond);
    }

    function _close(bytes32 gameId, bytes32 claimId, Outcome outcome, address to, uint256 paid) private {
        // INVARIANT: a closed game stays closed: nothing is paid twice.
        stateHash[gameId] = CLOSED;
        emit GameClosed(gameId, claimId, outcome, paid);
        if (paid != 0) market.pay(to, paid);
    }

    function _store(bytes32 gameId, bytes32 claimId, GameState memory s, Move move, bytes calldata data) private {
        stateHash[gameId] = _hash(s);
        emit Moved(gameId, claimId, move, s, data);
    }

    function _claimId(GameState memory s) private pure returns (bytes32) {
        return JobIds.claimId(s.jobId, s.worker, s.traceRoot);
    }

    /// @dev keccak256(abi.encode(s)): the state's 21 words lie in memory as they are encoded.
    function _hash(GameState memory s) private pure returns (bytes32 hash) {
        assembly ("memory-safe") {
            hash := keccak256(s, 672)
        }
    }
}
