// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IDisputeGame} from "../../../contracts/interfaces/IDisputeGame.sol";
import {ExamResult} from "../../../contracts/interfaces/IExams.sol";
import {Enrolment} from "../../../contracts/interfaces/IExamClaims.sol";
import {ClaimStatus} from "../../../contracts/interfaces/IMarketEvents.sol";
import {PledgeStatus} from "../../../contracts/interfaces/IPledgedClaims.sol";
import {StatementScope} from "../../../contracts/interfaces/IProvisioning.sol";
import {GameState, PackedState, Pick, Side, StepProof} from "../../../contracts/types/GameState.sol";
import {GameId} from "../../../contracts/types/Ids.sol";
import {ClaimKey} from "../../../contracts/types/Job.sol";
import {ExamTrespasses} from "./ExamTrespasses.t.sol";
import {vm, Vm} from "./Vm.sol";

/// @notice Reports, statements, exams, pledges, challenges, games and time, at random.
contract ExamHandler is ExamTrespasses {
    /// @dev No game has as many moves.
    uint256 private constant MOST_MOVES = 16;

    /// @notice Right results that died by a proof: none may.
    uint256 public honestDied;
    /// @notice Wrong results that a pledge backs and that could not be refuted: none may be.
    uint256 public immortal;
    uint256 public refutedLies;
    /// @notice Honest reports that came in time and were refused: none may be.
    uint256 public voided;
    /// @notice Honest reports that came in time, after others tried to number later blocks.
    uint256 public heard;
    /// @notice Workers that were stopped and were not any more, or whose claims were taken or became final then.
    uint256 public risen;
    uint256 public died;

    mapping(address worker => bool) private _wasStopped;

    /* ---- The registry ---- */

    function attestWorker(uint8 who, uint8 device, uint8 maker, uint8 ahead, bool enrols) external {
        _attest(actors[who % 5], device % DEVICES, maker % MAKERS, ahead, enrols, _now);
    }

    function makeStatement(uint8 maker, uint8 scope, uint8 device, bool frozen) external {
        _state(maker % MAKERS, StatementScope(scope % 3), device % DEVICES, frozen);
    }

    function releaseWorker(uint8 who) external {
        _prankAs(actors[who % 5]);
        registry.release();
    }

    function retireKey(uint8 which) external {
        _retire(which % DEVICES);
    }

    /* ---- Pledges ---- */

    function pledge(uint8 who) public {
        _prankAs(actors[who % 5]);
        claims.pledge();
    }

    function requestRelease(uint8 who) external {
        _prankAs(actors[who % 5]);
        claims.requestRelease();
    }

    function releasePledge(uint8 who) external {
        _prankAs(actors[who % 5]);
        claims.release();
    }

    function enrol(uint8 who, uint8 by) public {
        _prankAs(actors[by % 5]);
        examClaims.enrol(actors[who % 5]);
    }

    function sweep(uint8 who) external {
        claims.sweep(actors[who % 5]);
    }

    function stakeOrUnstake(uint8 who, uint96 amount, uint8 what) external {
        _prankAs(actors[who % 5]);
        if (what % 3 == 0) vault.stake(amount % 5 ether);
        else if (what % 3 == 1) vault.requestWithdraw(amount % 20 ether);
        else vault.unstake();
    }

    /* ---- Exams and claims ---- */

    /// @param fresh In an exam that nobody sat yet; else in the last one.
    function sitExam(uint8 who, uint8 class, bool lie, bool fresh) public {
        if (fresh) _nextExam();
        (address worker, uint8 k) = (actors[who % 5], class % CLASSES);
        bool may = _maySit(worker, k);
        _sit(worker, k, lie);
        if (!may) _trespassed("an exam is sat twice, or after its blocks");
    }

    function numberExam() external {
        _nextExam();
        exams.numberExam(uint64(_examBlock));
    }

    /// @notice A new exam, whose later candidates others try to number until an honest worker reports it.
    function sitLate(uint8 who, uint8 class, uint8 blocks) external {
        // Reverts for a worker without a device.
        _deviceOf(actors[who % 5]);
        _nextExam();
        for (uint256 i = 0; i < blocks % BLOCKS; ++i) {
            _nextBlock();
            try exams.numberExam(uint64(_height - 1)) {
                _trespassed("a candidate after the exam is numbered");
            } catch {}
        }
        try this.sitExam(who, class, false, false) {
            ++heard;
        } catch {
            ++voided;
        }
    }

    function challenge(uint8 by, uint8 which) public {
        uint256 result = which % _results.length;
        _enter(actors[by % 5], result);
    }

    /// @notice The next step of an actor's usual life, so that random sequences get far.
    function advance(uint8 who, uint8 by, bool lie) external {
        address worker = actors[who % 5];
        PledgeStatus status = _pledgeOf(worker);
        if (status == PledgeStatus.None) pledge(who);
        Enrolment memory enrolment = examClaims.enrolmentOf(worker);
        (, uint256 since, , ) = claims.pledgeOf(worker);
        if (enrolment.pledged != since) enrol(who, by);
        sitExam(who, 0, lie, true);
        _enter(actors[by % 5], _results.length - 1);
        openGame(by, uint8(_claims.length - 1));
    }

    function finalise(uint8 which) external {
        uint256 c = which % _claims.length;
        claims.finalise(_claims[c]);
        if (_pledgeOf(_claims[c].worker) == PledgeStatus.Stopped) ++risen;
    }

    /* ---- Games ---- */

    function openGame(uint8 who, uint8 which) public {
        _open(actors[who % 5], which % _claims.length);
    }

    function playGame(uint8 which, uint8 leaf) public {
        _play(which % _games.length, leaf);
    }

    /// @param how 0: a side concedes; 1: by the clock; 2: the claim died before.
    function endGame(uint8 which, uint8 how, bool worker) external {
        uint256 g = which % _games.length;
        uint256 c = _claimOf[_games[g]];
        PackedState memory packed = _states[_games[g]];
        ClaimKey memory key = _claimKey(c);
        address challenger = _stateOf(g).challenger;
        if (how % 3 == 0) {
            _prankAs(worker ? key.worker : challenger);
            game.concede(packed, key);
        } else {
            _prankAs(actors[how % 5]);
            if (how % 3 == 1) game.timeout(packed, key);
            else game.settle(packed);
        }
        _note(c);
    }

    function collect(uint8 which) external {
        game.collect(_claimKey(which % _claims.length));
    }

    /* ---- Time ---- */

    function move(uint16 secondsOn, uint8 baseFeeGwei) external {
        _pass(secondsOn % 7_200);
        vm.fee(uint256(baseFeeGwei) * 1 gwei);
        vm.txGasPrice(uint256(baseFeeGwei) * 1 gwei);
    }

    /// @notice In one of four calls, time in which reports and challenges end.
    function waitADay(uint8 chance) external {
        if (chance % 4 == 0) _pass(LIFETIME + 1);
    }

    /* ---- What the invariants ask ---- */

    /// @notice Refutes what can be refuted: each wrong result that a pledge backs, on chain or not.
    function refuteLies() external {
        for (uint256 i = 0; i < _results.length; ++i) {
            if (!_isRefutable(i)) continue;
            try this.refute(i) {
                ++refutedLies;
            } catch {
                ++immortal;
            }
        }
    }

    /// @notice Puts a result on chain if it is not there, and plays a game about it to its end.
    function refute(uint256 result) external {
        uint256 c = _claimOfResult(result);
        if (c == _claims.length) _enter(_judge, result);
        _open(_judge, c);
        uint256 g = _games.length - 1;
        for (uint256 moves = 0; _isOpen(g); ++moves) {
            require(moves < MOST_MOVES, "the game does not end");
            _play(g, 3);
        }
        (ClaimStatus status, ) = _statusOf(c);
        require(status == ClaimStatus.Refuted, "the lie lives");
    }

    /// @notice Nothing new happens, and all that is open ends. A call that fails here is a state without exit.
    function windDown() external {
        _pass(CHALLENGE + WINDOW + 2 * CLOCK + 1);
        for (uint256 g = 0; g < _games.length; ++g) {
            if (!_isOpen(g)) continue;
            uint256 c = _claimOf[_games[g]];
            (ClaimStatus status, ) = _statusOf(c);
            PackedState memory packed = _states[_games[g]];
            ClaimKey memory key = _claimKey(c);
            _prankAs(_judge);
            if (status == ClaimStatus.Refuted) game.settle(packed);
            else game.timeout(packed, key);
            _note(c);
        }
        for (uint256 c = 0; c < _claims.length; ++c) {
            (ClaimStatus status, ) = _statusOf(c);
            bool stopped = _pledgeOf(_claims[c].worker) == PledgeStatus.Stopped;
            if (status == ClaimStatus.Submitted && !stopped) claims.finalise(_claims[c]);
            (, , , uint256 earned) = game.claimGames(_idOfClaim(c));
            if (earned != 0) game.collect(_claimKey(c));
        }
        _pass(CHALLENGE + 86_400 + 2 * (CLOCK + 20_000));
        for (uint256 i = 0; i < 5; ++i) {
            (PledgeStatus status, , , uint256 left) = claims.pledgeOf(actors[i]);
            if (status == PledgeStatus.Stopped && left != 0) claims.sweep(actors[i]);
            if (status == PledgeStatus.Active) {
                _prankAs(actors[i]);
                claims.requestRelease();
            }
        }
        _pass(CHALLENGE + 1);
        for (uint256 i = 0; i < 5; ++i) {
            if (_pledgeOf(actors[i]) != PledgeStatus.Releasing) continue;
            _prankAs(actors[i]);
            claims.release();
        }
    }

    /// @notice What custody must hold: bonds of open games, shares and earnings that are due, what is left of the
    /// pledges of workers that were stopped.
    function promised() external view returns (uint256 sum) {
        for (uint256 g = 0; g < _games.length; ++g) if (_isOpen(g)) sum += _bondOf(g);
        for (uint256 c = 0; c < _claims.length; ++c) {
            (, bool dead, uint256 dues, uint256 earned) = game.claimGames(_idOfClaim(c));
            sum += earned + (dead ? dues : 0);
        }
        for (uint256 i = 0; i < 5; ++i) {
            (, , , uint256 left) = claims.pledgeOf(actors[i]);
            sum += left;
        }
    }

    /// @notice What the vault owes everybody.
    function owed() external view returns (uint256 sum) {
        sum = vault.custody() + _holdings(SINK) + _holdings(_judge);
        for (uint256 i = 0; i < 5; ++i) sum += _holdings(actors[i]);
    }

    /// @notice Whether a worker's stake is locked as its pledge says, and its open claims are counted.
    function pledgesAreExact() external view returns (bool) {
        for (uint256 i = 0; i < 5; ++i) {
            (PledgeStatus status, , uint256 count, uint256 left) = claims.pledgeOf(actors[i]);
            (, uint256 staked, uint256 locked, , ) = vault.accountOf(actors[i]);
            bool backs = status == PledgeStatus.Active || status == PledgeStatus.Releasing;
            if (locked != (backs ? COLLATERAL : 0) || locked > staked) return false;
            if (status != PledgeStatus.Stopped && left != 0) return false;
            uint256 open;
            for (uint256 c = 0; c < _claims.length; ++c) {
                (ClaimStatus claim, ) = _statusOf(c);
                if (_claims[c].worker == actors[i] && claim == ClaimStatus.Submitted) ++open;
            }
            if (open != count) return false;
        }
        return true;
    }

    /// @notice Whether each class that is held has an enrolled pledge behind it, and after the enrolment 12 results of
    /// the last exams.
    function heldClassesAreBacked() external view returns (bool) {
        for (uint256 i = 0; i < 5; ++i) {
            for (uint8 k = 0; k < CLASSES; ++k) {
                if (!examClaims.classHeld(actors[i], k)) continue;
                Enrolment memory enrolment = examClaims.enrolmentOf(actors[i]);
                (PledgeStatus status, uint256 since, , ) = claims.pledgeOf(actors[i]);
                if (status != PledgeStatus.Active || enrolment.pledged != since) return false;
                (uint32 last, ) = exams.lastExam();
                uint256 count;
                for (uint256 s = 0; s < _results.length; ++s) {
                    ExamResult memory sat = _results[s];
                    if (sat.worker != actors[i] || sat.class != k || sat.number <= enrolment.number) continue;
                    // Of the last 16 exams, and of one that is open.
                    if (sat.number + 16 < last) continue;
                    // Such a result can be challenged as long as its time is not over.
                    if (sat.time < since) return false;
                    ++count;
                }
                if (count < 12) return false;
            }
        }
        return true;
    }

    /// @dev A wrong result that somebody could refute now: it can be challenged, or its claim is in its window.
    function _isRefutable(uint256 i) private view returns (bool) {
        ExamResult memory s = _results[i];
        if (!_isLie[i]) return false;
        (PledgeStatus status, uint256 since, , ) = claims.pledgeOf(s.worker);
        if (status == PledgeStatus.Stopped) return false;
        uint256 c = _claimOfResult(i);
        if (c != _claims.length) {
            (ClaimStatus claim, uint256 windowEnd) = _statusOf(c);
            return claim == ClaimStatus.Submitted && _now <= windowEnd;
        }
        if (_now > s.time + CHALLENGE || !exams.isResult(s)) return false;
        return status == PledgeStatus.Active || (status == PledgeStatus.Releasing && s.time < since);
    }

    /// @dev The claim that a result became; as many as there are if it did not.
    function _claimOfResult(uint256 result) private view returns (uint256 c) {
        for (c = 0; c < _claims.length; ++c) if (_resultOf[c] == result) return c;
    }

    function _enter(address by, uint256 result) private {
        bool stopped = _pledgeOf(_results[result].worker) == PledgeStatus.Stopped;
        bool late = _now > _results[result].time + CHALLENGE;
        bool again = _claimOfResult(result) != _claims.length;
        _challenge(by, result);
        if (stopped) ++risen;
        if (late) _trespassed("a result is challenged too late");
        if (again) _trespassed("a result becomes two claims");
    }

    function _open(address by, uint256 c) private {
        Pick memory pick = _openingOf(_claims[c].job, _isLie[_resultOf[c]]);
        // Sometimes one that the account has played.
        uint32 number = uint32(_games.length % 3);
        vm.recordLogs();
        _prankAs(by);
        GameId gameId = game.open(_claims[c], number, pick);
        _games.push(gameId);
        _claimOf[gameId] = c;
        _follow(gameId);
    }

    function _play(uint256 g, uint8 leaf) private {
        GameId id = _games[g];
        uint256 c = _claimOf[id];
        bool lie = _isLie[_resultOf[c]];
        GameState memory s = _stateOf(g);
        PackedState memory packed = _states[id];
        vm.recordLogs();
        if (s.turn == Side.Worker) {
            bytes memory data = _revealOf(s, lie);
            _prankAs(_claims[c].worker);
            game.reveal(packed, data);
            _follow(id);
        } else if (s.depth != 0) {
            Pick memory pick = _pickOf(lie, leaf);
            _prankAs(s.challenger);
            game.pick(packed, pick);
            _follow(id);
        } else {
            StepProof memory proof = _proofOf(s, lie);
            _prankAs(s.challenger);
            game.prove(packed, _claims[c], proof);
            if (!lie) ++honestDied;
            _note(c);
        }
    }

    /// @dev Takes the new state from the event.
    function _follow(GameId gameId) private {
        Vm.Log[] memory logs = vm.getRecordedLogs();
        for (uint256 i = 0; i < logs.length; ++i) {
            if (logs[i].emitter != address(game) || logs[i].topics[1] != GameId.unwrap(gameId)) continue;
            (bytes32 topic, bytes memory data) = (logs[i].topics[0], logs[i].data);
            if (topic == IDisputeGame.Picked.selector) _states[gameId] = abi.decode(data, (PackedState));
            else if (topic == IDisputeGame.Moved.selector) (_states[gameId], ) = abi.decode(data, (PackedState, bytes));
        }
    }

    /// @dev A worker whose claim died is stopped, and stays so.
    function _note(uint256 c) private {
        (ClaimStatus status, ) = _statusOf(c);
        address worker = _claims[c].worker;
        bool stopped = _pledgeOf(worker) == PledgeStatus.Stopped;
        if (status == ClaimStatus.Refuted) {
            ++died;
            _wasStopped[worker] = true;
        }
        if (_wasStopped[worker] && !stopped) ++risen;
    }

    function _pass(uint256 secondsOn) private {
        _now += secondsOn;
        vm.warp(_now);
    }
}
