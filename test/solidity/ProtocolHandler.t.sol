// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {JobMarket} from "../../contracts/JobMarket.sol";
import {JobRequest, JobStatus, ClaimStatus, Delivery} from "../../contracts/interfaces/IJobMarket.sol";
import {IDisputeGame} from "../../contracts/interfaces/IDisputeGame.sol";
import {IProvisioning} from "../../contracts/interfaces/IProvisioning.sol";
import {IStakeVault} from "../../contracts/interfaces/IStakeVault.sol";
import {OnesVerifier, OpenProvisioning} from "../../contracts/test/ProtocolMocks.sol";
import {TestToken} from "../../contracts/test/TestTokens.sol";
import {GameState, PackedState, Pick, StepProof, Side} from "../../contracts/types/GameState.sol";
import {States} from "../../contracts/lib/States.sol";
import {Claim, ClaimKey, Job, JobIds} from "../../contracts/types/Job.sol";
import {Parameters} from "../../contracts/types/Parameters.sol";
import {ProgramFacts} from "../../contracts/types/Program.sol";
import {vm, Vm} from "./Vm.sol";

/// @notice Drives the protocol at random with five actors. The program has one step of 2,048 bytes, each of which should be 1.
abstract contract ProtocolHandler {
    uint256 internal constant CLOCK = 3_600;
    address public constant SINK = address(0xdead);

    TestToken public token = new TestToken();
    OpenProvisioning public provisioning = new OpenProvisioning();
    JobMarket public market;
    IStakeVault public vault;
    IDisputeGame public game;
    address[5] public actors;
    /// @notice What each actor would have if nobody ever owed anybody anything.
    uint256 public minted;
    uint256 public opened;
    uint256 public died;
    /// @notice Honest claims that died by a proof: none may.
    uint256 public honestDied;
    uint256 public finalisedCount;
    /// @notice Games whose end paid the sides something else than the rules say (pots are never short here).
    uint256 public wrongPayouts;
    /// @notice Moves after which the clocks were not what was left.
    uint256 public wrongClocks;

    Job[] internal _jobs;
    Claim[] internal _claims;
    bytes32[] internal _games;
    mapping(bytes32 gameId => PackedState) internal _states;
    mapping(bytes32 gameId => PackedState) internal _before;
    mapping(bytes32 gameId => uint256) internal _openedAt;
    mapping(bytes32 gameId => uint256) internal _claimOf;
    mapping(uint256 claim => uint256) internal _windowEnd;
    mapping(uint256 job => uint256) internal _until;
    mapping(address account => uint256) internal _readyAt;
    mapping(bytes32 claimId => bool) internal _lie;
    uint256 private _salt;
    uint256 internal _now = 1_000_000;

    constructor() {
        vm.warp(_now);
        vm.fee(10 gwei);
        market = new JobMarket(IERC20(token), IProvisioning(address(provisioning)), new OnesVerifier(), _parameters());
        vault = market.vault();
        game = market.game();
        for (uint160 i = 0; i < 5; ++i) {
            actors[i] = address(0x1000 + i);
            token.mint(actors[i], 100 ether);
            minted += 100 ether;
            _prankAs(actors[i]);
            token.approve(address(vault), type(uint256).max);
            _prankAs(actors[i]);
            vault.deposit(actors[i], 50 ether);
            _prankAs(actors[i]);
            vault.stake(20 ether);
        }
    }

    function move(uint16 secondsOn, uint8 baseFeeGwei) external {
        _now += secondsOn % 7_200;
        vm.warp(_now);
        vm.fee(uint256(baseFeeGwei) * 1 gwei);
    }

    function depositOrWithdraw(uint8 who, uint96 amount, bool out) external {
        address actor = actors[who % 5];
        _prankAs(actor);
        if (out) vault.withdraw(amount % 5 ether, actor);
        else vault.deposit(actors[(who / 5) % 5], amount % 5 ether);
    }

    function stakeOrUnstake(uint8 who, uint96 amount, uint8 what) external {
        _prankAs(actors[who % 5]);
        if (what % 3 == 0) {
            vault.stake(amount % 5 ether);
        } else if (what % 3 == 1) {
            vault.requestWithdraw(amount % 10 ether);
            _readyAt[actors[who % 5]] = _now + 172_800;
        } else {
            vault.unstake();
        }
    }

    function postJob(uint8 who, uint64 fee, bool undelivered) external {
        JobRequest memory request;
        request.program = program();
        request.fee = fee % 1 ether;
        request.window = 1_800;
        request.claimSeconds = 3_600;
        request.deadline = uint64(_now + 30_000);
        request.maxOutputBytes = undelivered ? 0 : 4_096;
        request.salt = bytes32(++_salt);
        vm.recordLogs();
        _prankAs(actors[who % 5]);
        market.post(request);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        for (uint256 i = 0; i < logs.length; ++i) {
            if (logs[i].topics[0] != keccak256(_JOB_POSTED)) continue;
            (Job memory job, , ) = abi.decode(logs[i].data, (Job, ProgramFacts, bytes32[]));
            _jobs.push(job);
        }
    }

    function claimJob(uint8 who, uint8 which) public {
        _prankAs(actors[who % 5]);
        market.claim(_jobs[which % _jobs.length]);
        _until[which % _jobs.length] = _now + 3_600;
    }

    function submitJob(uint8 which, bool lie) public {
        Job memory job = _jobs[which % _jobs.length];
        (, address worker, , ) = market.jobOf(market.jobIdOf(job));
        bytes32 root = traceRoot(lie);
        _prankAs(worker);
        bytes32 claimId = market.submit(job, abi.encodePacked(root));
        _lie[claimId] = lie;
        _windowEnd[_claims.length] = _now + job.window;
        _claims.push(Claim(job, worker, root));
    }

    /// @notice The next step of a job's usual life, so that random sequences get far.
    function advance(uint8 who, uint8 which, bool lie) external {
        bytes32 jobId = market.jobIdOf(_jobs[which % _jobs.length]);
        (JobStatus status, , , ) = market.jobOf(jobId);
        if (status == JobStatus.Open) claimJob(who, which);
        else if (status == JobStatus.Claimed) submitJob(which, lie);
        else if (status == JobStatus.Submitted) openGame(who, uint8(_claims.length - 1), true);
    }

    function endJob(uint8 which, uint8 how) external {
        Job memory job = _jobs[which % _jobs.length];
        if (how % 2 == 0) {
            _prankAs(actors[how % 5]);
            market.expire(job);
        } else {
            _prankAs(job.requester);
            market.cancel(job);
        }
    }

    function finaliseClaim(uint8 which) external {
        market.finalise(_claims[which % _claims.length]);
        ++finalisedCount;
    }

    function payClaim(uint8 which, bool accept) external {
        Claim memory claim = _claims[which % _claims.length];
        if (accept) {
            _prankAs(claim.job.requester);
            market.accept(claim);
            return;
        }
        bytes32 claimId = _claimId(claim);
        market.deliver(claim, Delivery(program(), 0, _tensor(_lie[claimId]), new bytes32[](0)));
    }

    function openGame(uint8 who, uint8 which, bool direct) public {
        uint256 c = which % _claims.length;
        bool lie = _lie[_claimId(_claims[c])];
        Pick memory pick = _openingOf(lie);
        // Another index is refused.
        pick.index = direct ? 0 : 1;
        vm.recordLogs();
        _prankAs(actors[who % 5]);
        bytes32 gameId = game.open(_claims[c], pick);
        ++opened;
        _games.push(gameId);
        _claimOf[gameId] = c;
        _openedAt[gameId] = _now;
        _follow(gameId);
    }

    /// @dev The next call is a plain account's transaction.
    function _prankAs(address account) internal {
        vm.prank(account, account);
    }

    function playGame(uint8 which, uint8 leaf) external {
        bytes32 id = _games[which % _games.length];
        GameState memory s = this.unpack(_states[id]);
        PackedState memory packed = _states[id];
        bool lie = _lie[_claimId(_claims[_claimOf[id]])];
        vm.recordLogs();
        if (s.turn == Side.Worker) {
            // A precompile's call would take the prank.
            bytes memory data = _revealOf(s, lie);
            _prankAs(_claims[_claimOf[id]].worker);
            game.reveal(packed, data);
        } else if (s.depth != 0) {
            Pick memory pick = _pickOf(lie, leaf);
            _prankAs(s.challenger);
            game.pick(packed, pick);
        } else {
            _prove(id, s, lie);
            return;
        }
        _follow(id);
    }

    function endGame(uint8 which, uint8 how, bool worker) external {
        bytes32 id = _games[which % _games.length];
        PackedState memory packed = _states[id];
        ClaimKey memory key = _key(_claims[_claimOf[id]]);
        GameState memory s = this.unpack(packed);
        (uint256 workers, uint256 theirs) = (_creditOf(key.worker), _creditOf(s.challenger));
        if (how % 3 == 0) {
            _prankAs(worker ? key.worker : s.challenger);
            game.concede(packed, key);
            if (worker) ++died;
            if (key.worker == s.challenger) return;
            uint256 won = game.bond() + s.spent + _parameters().bounty;
            if (_creditOf(s.challenger) != theirs + (worker ? won : 0)) ++wrongPayouts;
            if (_creditOf(key.worker) != workers + (worker ? 0 : s.bond)) ++wrongPayouts;
        } else if (how % 3 == 1) {
            address by = actors[how % 5];
            uint256 callers = _creditOf(by);
            _prankAs(by);
            game.timeout(packed, key);
            // The caller's reward is a part of the bond, or beside what the winner gets.
            uint256 lost = by == key.worker ? 2 * s.bond : s.bond;
            bool paid =
                s.turn == Side.Challenger
                    ? _creditOf(key.worker) + _creditOf(by) == workers + callers + lost
                    : _creditOf(s.challenger) >= theirs + game.bond() + s.spent + _parameters().bounty;
            if (!paid) ++wrongPayouts;
        } else {
            _prankAs(actors[how % 5]);
            game.settle(packed);
            if (_creditOf(s.challenger) < theirs + game.bond() + s.spent) ++wrongPayouts;
        }
    }

    function collectEarnings(uint8 which) external {
        game.collect(_key(_claims[which % _claims.length]));
    }

    function barWorker(uint8 who, bool barred) external {
        provisioning.bar(actors[who % 5], barred);
    }

    /// @notice The time, which a contract must not read twice from the block around a `warp`.
    function time() external view returns (uint256) {
        return _now;
    }

    /// @notice How many jobs, claims and games there were.
    function counts() external view returns (uint256 jobs, uint256 claims, uint256 games) {
        return (_jobs.length, _claims.length, _games.length);
    }

    function jobAt(uint256 index) external view returns (Job memory job, JobStatus status, address worker) {
        job = _jobs[index];
        (status, worker, , ) = market.jobOf(market.jobIdOf(job));
    }

    function claimAt(uint256 index) external view returns (Claim memory claim, bool lie) {
        claim = _claims[index];
        lie = _lie[_claimId(claim)];
    }

    /// @notice Until when the worker of a claimed job may submit.
    function untilOf(uint256 job) external view returns (uint256) {
        return _until[job];
    }

    /// @notice What the market and the game say about a claim.
    function fateOf(
        uint256 index
    ) external view returns (ClaimStatus status, uint256 windowEnd, bool paid, uint256 earned) {
        (status, windowEnd, , , paid) = market.claimOf(_key(_claims[index]));
        (, , , earned) = game.claimGames(_claimId(_claims[index]));
    }

    function gameAt(uint256 index) external view returns (GameState memory state, uint256 claim, bool over) {
        bytes32 id = _games[index];
        return (this.unpack(_states[id]), _claimOf[id], uint256(game.stateHash(id)) <= 1);
    }

    /// @notice What the vault owes everybody.
    function owed() external view returns (uint256 sum) {
        sum = vault.custody() + _holdings(SINK);
        for (uint256 i = 0; i < 5; ++i) sum += _holdings(actors[i]);
    }

    /// @notice Collateral that ought to be locked for an actor: one for each of its claimed or submitted jobs.
    function mustBeLocked(address actor) external view returns (uint256 sum) {
        for (uint256 i = 0; i < _jobs.length; ++i) {
            (JobStatus status, address worker, , ) = market.jobOf(market.jobIdOf(_jobs[i]));
            if (worker == actor && status == JobStatus.Claimed) sum += market.parameters().collateral;
        }
        for (uint256 i = 0; i < _claims.length; ++i) {
            if (_claims[i].worker != actor) continue;
            (ClaimStatus status, , , , ) = market.claimOf(_key(_claims[i]));
            if (status == ClaimStatus.Submitted) sum += market.parameters().collateral;
        }
    }

    /// @notice What custody must hold, no more and no less: fees not paid or returned, bonds and shares of games not closed, earnings not collected.
    function promised() external view returns (uint256 sum) {
        for (uint256 i = 0; i < _jobs.length; ++i) {
            (JobStatus status, , , ) = market.jobOf(market.jobIdOf(_jobs[i]));
            if (status != JobStatus.None && status < JobStatus.Finalised) sum += _jobs[i].fee;
        }
        for (uint256 i = 0; i < _claims.length; ++i) {
            bytes32 claimId = _claimId(_claims[i]);
            (ClaimStatus status, , , , bool paid) = market.claimOf(_key(_claims[i]));
            if (status == ClaimStatus.Finalised && !paid) sum += _claims[i].job.fee;
            (, bool dead, uint256 left, uint256 earned) = game.claimGames(claimId);
            sum += earned + (dead ? left : 0);
        }
        for (uint256 i = 0; i < _games.length; ++i) {
            if (uint256(game.stateHash(_games[i])) > 1) sum += this.unpack(_states[_games[i]]).bond;
        }
    }

    /// @notice Whether what is kept of each dead claim's collateral is at least what its games are due beside their settlements (these pots are never short), and
    /// nothing if none is left.
    function deadArePaidFor() external view returns (bool) {
        for (uint256 c = 0; c < _claims.length; ++c) {
            (uint256 open, bool dead, uint256 left, ) = game.claimGames(_claimId(_claims[c]));
            if (!dead) continue;
            uint256 due;
            for (uint256 i = 0; i < _games.length; ++i) {
                if (_claimOf[_games[i]] != c || uint256(game.stateHash(_games[i])) <= 1) continue;
                GameState memory s = this.unpack(_states[_games[i]]);
                due += game.bond() - s.bond + s.spent;
            }
            if (open == 0 ? left != 0 : left < due) return false;
        }
        return true;
    }

    /// @dev From calldata, as the game reads it.
    function unpack(PackedState calldata packed) external pure returns (GameState memory) {
        return States.unpack(packed);
    }

    function program() public pure returns (ProgramFacts memory facts) {
        facts.header = abi.encodePacked(uint16(1), uint32(1_000_000), uint64(2_048), uint32(1), uint32(1));
        facts.header = abi.encodePacked(facts.header, uint16(0), uint16(1), uint32(0), uint8(2), uint64(2_048));
        facts.stepsRoot = sha256(abi.encodePacked(bytes1(0), uint8(2), uint64(2_048), sha256(hex"00")));
        facts.checkpointsRoot = sha256(abi.encodePacked(bytes1(0), uint32(0), uint32(0)));
    }

    function traceRoot(bool lie) public pure returns (bytes32) {
        bytes32 leaf = sha256(_chunk(lie));
        bytes32 pair = sha256(abi.encodePacked(leaf, leaf));
        return sha256(abi.encodePacked(pair, pair));
    }

    bytes private constant _JOB_POSTED =
        "JobPosted(bytes32,address,bytes32,(address,bytes32,bytes32,uint64,uint32,uint128,uint32,uint32,uint64,uint32,uint32,uint64,bool,bytes32),(bytes,bytes32,bytes32),bytes32[])";

    function _prove(bytes32 id, GameState memory s, bool lie) private {
        StepProof memory proof;
        proof.pick.program = program();
        proof.pick.step.dtype = 2;
        proof.pick.step.count = 2_048;
        proof.pick.step.bodyHash = sha256(hex"00");
        proof.body = hex"00";
        proof.element = uint64(512 * uint256(s.index));
        proof.chunk = _chunk(lie);
        _prankAs(s.challenger);
        game.prove(_states[id], _claims[_claimOf[id]], proof);
        ++died;
        if (!lie) ++honestDied;
    }

    /// @dev Takes the new state from the event.
    function _follow(bytes32 gameId) private {
        Vm.Log[] memory logs = vm.getRecordedLogs();
        for (uint256 i = 0; i < logs.length; ++i) {
            if (logs[i].emitter != address(game) || logs[i].topics[1] != gameId) continue;
            // The first seven words of both events are the state.
            _before[gameId] = _states[gameId];
            (bytes32 topic, bytes memory data) = (logs[i].topics[0], logs[i].data);
            if (topic == IDisputeGame.Picked.selector) _states[gameId] = abi.decode(data, (PackedState));
            else if (topic == IDisputeGame.Moved.selector) (_states[gameId], ) = abi.decode(data, (PackedState, bytes));
        }
        // Both sides' time since the game was opened, and what is left of it: neither more, which would delay, nor less.
        GameState memory s = this.unpack(_states[gameId]);
        uint256 left = uint256(s.workerSeconds) + s.challengerSeconds;
        if (s.since != _now || s.since + left != _openedAt[gameId] + 2 * CLOCK) ++wrongClocks;
    }

    function _openingOf(bool lie) internal pure returns (Pick memory pick) {
        pick.node = traceRoot(lie);
        pick.program = program();
        pick.step.dtype = 2;
        pick.step.count = 2_048;
        pick.step.bodyHash = sha256(hex"00");
    }

    function _revealOf(GameState memory s, bool lie) internal pure returns (bytes memory) {
        bytes32 l = sha256(_chunk(lie));
        return s.depth == 0 ? _chunk(lie) : abi.encodePacked(l, l, l, l);
    }

    function _pickOf(bool lie, uint8 leaf) internal pure returns (Pick memory pick) {
        bytes32 l = sha256(_chunk(lie));
        pick.index = leaf % 4;
        pick.node = l;
        pick.siblings = new bytes32[](2);
        pick.siblings[0] = l;
        pick.siblings[1] = sha256(abi.encodePacked(l, l));
    }

    function _key(Claim memory claim) internal view returns (ClaimKey memory) {
        return ClaimKey(market.jobIdOf(claim.job), claim.worker, claim.traceRoot);
    }

    function _claimId(Claim memory claim) internal view returns (bytes32) {
        return JobIds.claimId(market.jobIdOf(claim.job), claim.worker, claim.traceRoot);
    }

    function _creditOf(address account) private view returns (uint256 credit) {
        (credit, , , , ) = vault.accountOf(account);
    }

    function _holdings(address account) private view returns (uint256) {
        (uint256 credit, uint256 staked, , uint256 withdrawing, ) = vault.accountOf(account);
        return credit + staked + withdrawing;
    }

    function _chunk(bool lie) private pure returns (bytes memory chunk) {
        bytes32 word =
            lie
                ? bytes32(0x0202020202020202020202020202020202020202020202020202020202020202)
                : bytes32(0x0101010101010101010101010101010101010101010101010101010101010101);
        chunk = abi.encodePacked(word, word, word, word);
        chunk = abi.encodePacked(chunk, chunk, chunk, chunk);
    }

    function _tensor(bool lie) internal pure returns (bytes memory) {
        bytes memory chunk = _chunk(lie);
        return abi.encodePacked(chunk, chunk, chunk, chunk);
    }

    function _parameters() private pure returns (Parameters memory) {
        return
            Parameters({
                baseWindow: 1_800,
                maxWindow: 86_400,
                baseClock: uint32(CLOCK),
                withdrawalDelay: 172_800,
                rate: 100_000_000,
                maxWork: 1_000_000_000_000,
                arityBits: 4,
                maxStepGas: 12_000_000,
                bondGas: 1_000_000,
                priceCap: 50 gwei,
                bounty: 0.02 ether,
                collateral: 1.8 ether,
                penaltyBps: 500,
                sink: SINK
            });
    }
}
