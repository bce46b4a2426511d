// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {JobStatus, ClaimStatus, Delivery} from "../../../contracts/interfaces/IMarketEvents.sol";
import {IDisputeGame} from "../../../contracts/interfaces/IDisputeGame.sol";
import {GameState, PackedState, Pick, StepProof, Side} from "../../../contracts/types/GameState.sol";
import {ClaimId, GameId, JobId} from "../../../contracts/types/Ids.sol";
import {Claim, ClaimKey, Job} from "../../../contracts/types/Job.sol";
import {Terms} from "../../../contracts/types/Terms.sol";
import {ProtocolTerms} from "./ProtocolTerms.t.sol";
import {vm, Vm} from "./Vm.sol";

/// @notice Drives the protocol at random.
abstract contract ProtocolHandler is ProtocolTerms {
    uint256 public opened;
    /// @notice Honest claims that died by a proof: none may.
    uint256 public honestDied;
    uint256 public finalisedCount;
    /// @notice Moves after which the clocks were not what was left.
    uint256 public wrongClocks;

    function move(uint16 secondsOn, uint8 baseFeeGwei) external {
        _now += secondsOn % 7_200;
        vm.warp(_now);
        vm.fee(uint256(baseFeeGwei) * 1 gwei);
        vm.txGasPrice(uint256(baseFeeGwei) * 1 gwei);
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
        _post(actors[who % 5], fee, undelivered ? 0 : 2_048, 0, _now + 30_000, new Terms[](0));
    }

    /// @notice A job whose results a contract takes.
    function postForConsumer(uint64 fee) external {
        _post(address(consumer), fee, 2_048, 300_000, _now + 30_000, new Terms[](0));
    }

    function claimJob(uint8 who, uint8 which) public {
        uint256 j = which % _jobs.length;
        bytes memory call = _claimCall(j);
        _prankAs(actors[who % 5]);
        _call(address(market), call);
        _until[j] = _now + 3_600;
        _tookOfGroup[_groupKey(j, actors[who % 5])] = true;
    }

    /// @notice Submits, or of a job whose submissions are sealed, seals.
    function submitJob(uint8 which, bool lie) public {
        uint256 j = which % _jobs.length;
        (, address worker, , ) = market.jobOf(market.jobIdOf(_jobs[j]));
        bytes memory call = _isSealed(j) ? _sealCall(j, worker, lie) : _submitCall(j, lie);
        _prankAs(worker);
        bytes memory result = _call(address(market), call);
        if (_isSealed(j)) _seals[j] = Seal(worker, lie, _saltOf(j));
        else _noteClaim(j, abi.decode(result, (ClaimId)), worker, lie);
    }

    /// @notice The next step of a job's usual life, so that random sequences get far.
    function advance(uint8 who, uint8 which, bool lie) external {
        JobId jobId = market.jobIdOf(_jobs[which % _jobs.length]);
        (JobStatus status, , , ) = market.jobOf(jobId);
        if (status == JobStatus.Open) claimJob(who, which);
        else if (status == JobStatus.Claimed) submitJob(which, lie);
        else if (status == JobStatus.Submitted) openGame(who, uint8(_claims.length - 1), true);
    }

    function endJob(uint8 which, uint8 how) external {
        uint256 j = which % _jobs.length;
        (JobStatus status, address worker, , ) = market.jobOf(market.jobIdOf(_jobs[j]));
        bool claimed = status == JobStatus.Claimed;
        bytes memory call = how % 2 == 0 ? _expireCall(j, claimed) : abi.encodeCall(market.cancel, (_jobs[j]));
        _prankAs(how % 2 == 0 ? actors[how % 5] : _jobs[j].requester);
        _call(address(market), call);
        if (claimed) ++_lates[worker];
    }

    function finaliseClaim(uint8 which) external {
        market.finalise(_claims[which % _claims.length]);
        ++finalisedCount;
    }

    function payClaim(uint8 which, bool accept) external {
        if (accept) {
            _accept(which % _claims.length);
            return;
        }
        for (uint8 output = 0; output < OUTPUTS; ++output) {
            if ((DELIVERABLES >> output) & 1 == 1) deliverOutput(which, output, 0);
        }
    }

    /// @notice Lets a week pass, in one of sixteen calls: after it all that was open is late.
    function waitAWeek(uint8 chance) external {
        if (chance % 16 != 0) return;
        _now += 7 days;
        vm.warp(_now);
    }

    /// @notice Takes back the fee of a claim whose outputs were not all delivered in the week since it is final.
    function reclaimFee(uint8 which) external {
        uint256 c = which % _claims.length;
        Claim memory claim = _claims[c];
        uint256 credit = _creditOf(claim.job.requester);
        (, uint256 finalSince, , , ) = market.claimOf(_key(claim));
        market.reclaim(claim);
        bool due = _now > finalSince + 7 days && finalSince > _windowEnd[c] && !_isPaid[c] && !_refuted(c);
        if (!due || _creditOf(claim.job.requester) != credit + claim.job.fee) ++wrongDeliveries;
        _isPaid[c] = true;
    }

    /// @notice Delivers one output, at first or again.
    /// @param behaviour What the consumer does when it is called, see there.
    function deliverOutput(uint8 which, uint8 output, uint8 behaviour) public {
        uint256 c = which % _claims.length;
        Claim memory claim = _claims[c];
        uint256 k = output % OUTPUTS;
        Delivery memory delivery = _delivery(c, k);
        consumer.prepare(behaviour, claim, _delivery(c, OUTPUTS - 1 - k));
        uint256 credit = _creditOf(claim.worker);
        vm.recordLogs();
        market.deliver(claim, delivery);
        uint256 released = _takeDelivery(c, k);
        if (_creditOf(claim.worker) != credit + released * claim.job.fee) ++wrongDeliveries;
    }

    function openGame(uint8 who, uint8 which, bool direct) public {
        _openBy(actors[who % 5], which % _claims.length, direct);
    }

    function playGame(uint8 which, uint8 leaf) external {
        GameId id = _games[which % _games.length];
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
        GameId id = _games[which % _games.length];
        PackedState memory packed = _states[id];
        ClaimKey memory key = _key(_claims[_claimOf[id]]);
        GameState memory s = this.unpack(packed);
        uint256 c = _claimOf[id];
        (uint256 workers, uint256 theirs) = (_creditOf(key.worker), _creditOf(s.challenger));
        if (how % 3 == 0) {
            Death memory death = _deathOf(c, 0);
            _prankAs(worker ? key.worker : s.challenger);
            game.concede(packed, key);
            // A worker that plays against itself speaks for itself.
            if (worker || key.worker == s.challenger) _die(c, death);
            if (key.worker == s.challenger) return;
            if (_creditOf(s.challenger) != theirs + (worker ? _wonBy(s, death, 0) : 0)) ++wrongPayouts;
            if (_creditOf(key.worker) != workers + (worker ? 0 : s.bond)) ++wrongPayouts;
        } else if (how % 3 == 1) {
            address by = actors[how % 5];
            uint256 most = TIMEOUT * _price(block.basefee, _parameters().priceCap);
            Death memory death = _deathOf(c, 0);
            uint256 callers = _creditOf(by);
            vm.recordLogs();
            _prankAs(by);
            game.timeout(packed, key);
            if (s.turn == Side.Challenger) {
                // The caller's reward is a part of the bond.
                uint256 lost = by == key.worker ? 2 * s.bond : s.bond;
                if (_creditOf(key.worker) + _creditOf(by) != workers + callers + lost) ++wrongPayouts;
                return;
            }
            bool isOther = by != s.challenger;
            uint256 usual = isOther ? callers : theirs + _wonInFull(s);
            uint256 reward = _priceOfEnd(death, _minus(_creditOf(by), usual));
            if (reward == 0 || reward > most) ++wrongPayouts;
            _die(c, death);
            if (isOther && _creditOf(by) != callers + _share(reward, death)) ++wrongPayouts;
            if (_creditOf(s.challenger) != theirs + _wonBy(s, death, isOther ? 0 : reward)) ++wrongPayouts;
        } else {
            _settle(id, c, actors[how % 5]);
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
        GameId id = _games[index];
        return (this.unpack(_states[id]), _claimOf[id], uint256(game.stateHash(id)) <= 1);
    }

    /// @notice What the vault owes everybody.
    function owed() external view returns (uint256 sum) {
        sum = vault.custody() + _holdings(SINK);
        for (uint256 i = 0; i < 5; ++i) sum += _holdings(actors[i]);
        for (uint256 i = 0; i < _swarm.length; ++i) sum += _holdings(_swarm[i]);
        sum += _holdings(address(consumer));
    }

    /// @notice Collateral that ought to be locked for an actor: that of each of its claimed, sealed or submitted jobs.
    function mustBeLocked(address actor) external view returns (uint256 sum) {
        for (uint256 i = 0; i < _jobs.length; ++i) {
            (JobStatus status, address worker, , ) = market.jobOf(market.jobIdOf(_jobs[i]));
            if (status == JobStatus.Sealed) worker = _seals[i].worker;
            bool taken = status == JobStatus.Claimed || status == JobStatus.Sealed;
            if (taken && worker == actor) sum += _collateralOf(i);
        }
        for (uint256 i = 0; i < _claims.length; ++i) {
            if (_claims[i].worker != actor) continue;
            (ClaimStatus status, , , , ) = market.claimOf(_key(_claims[i]));
            if (status == ClaimStatus.Submitted) sum += _claims[i].collateral;
        }
    }

    /// @notice What custody must hold, no more and no less: fees not paid or returned, bonds and shares of games not
    /// closed, earnings not collected.
    function promised() external view returns (uint256 sum) {
        for (uint256 i = 0; i < _jobs.length; ++i) {
            (JobStatus status, , , ) = market.jobOf(market.jobIdOf(_jobs[i]));
            bool waits = status != JobStatus.None && status < JobStatus.Finalised;
            if (waits || status == JobStatus.Sealed) sum += _jobs[i].fee;
        }
        for (uint256 i = 0; i < _claims.length; ++i) {
            ClaimId claimId = _claimId(_claims[i]);
            (ClaimStatus status, , , , bool paid) = market.claimOf(_key(_claims[i]));
            if (status == ClaimStatus.Finalised && !paid) sum += _claims[i].job.fee;
            (, bool dead, uint256 left, uint256 earned) = game.claimGames(claimId);
            sum += earned + (dead ? left : 0);
        }
        for (uint256 i = 0; i < _games.length; ++i) {
            if (uint256(game.stateHash(_games[i])) > 1) sum += this.unpack(_states[_games[i]]).bond;
        }
    }

    /// @notice Whether what is kept of each dead claim's collateral is at least the parts of its games, beside their
    /// settlements, and nothing if none is left.
    function deadArePaidFor() external view returns (bool) {
        for (uint256 c = 0; c < _claims.length; ++c) {
            (uint256 open, bool dead, uint256 left, ) = game.claimGames(_claimId(_claims[c]));
            if (!dead) continue;
            uint256 due;
            for (uint256 i = 0; i < _games.length; ++i) {
                if (!_isOpen(i, c)) continue;
                due += _share(_due(this.unpack(_states[_games[i]])), _deaths[c]);
            }
            if (open == 0 ? left != 0 : left < due) return false;
        }
        return true;
    }

    /// @notice Whether every output was taken by the consumer at most once, and what the market says was delivered and
    /// paid is so.
    function deliveriesAreExact() external view returns (bool) {
        for (uint256 c = 0; c < _claims.length; ++c) {
            Claim memory claim = _claims[c];
            (ClaimStatus status, , uint256 delivered, uint256 calledBack, bool paid) = market.claimOf(_key(claim));
            if (status != ClaimStatus.Finalised) continue;
            (JobStatus job, , , ) = market.jobOf(market.jobIdOf(claim.job));
            // What is complete is forgotten.
            if (job != JobStatus.Complete && (delivered != _delivered[c] || calledBack != _calledBack[c])) return false;
            if (paid != (_isPaid[c] || claim.job.deliverables == 0)) return false;
            if (claim.job.requester != address(consumer)) continue;
            for (uint256 k = 0; k < OUTPUTS; ++k) {
                if (consumer.taken(market.jobIdOf(claim.job), k) != (_calledBack[c] >> k) & 1) return false;
            }
        }
        return true;
    }

    function _openBy(address by, uint256 c, bool direct) internal {
        bool lie = _lie[_claimId(_claims[c])];
        Pick memory pick = _openingOf(_claims[c].job, lie);
        // Another index is refused.
        pick.index = direct ? 0 : 4;
        // Sometimes one that the account has played.
        uint32 number = uint32(_games.length % 3);
        vm.recordLogs();
        _prankAs(by);
        GameId gameId = game.open(_claims[c], number, pick);
        ++opened;
        _games.push(gameId);
        _claimOf[gameId] = c;
        _openedAt[gameId] = _now;
        _follow(gameId);
    }

    function _prove(GameId id, GameState memory s, bool lie) private {
        StepProof memory proof = _proofOf(s, lie);
        uint256 c = _claimOf[id];
        Death memory death = _deathOf(c, 0);
        uint256 before = _creditOf(s.challenger);
        _prankAs(s.challenger);
        game.prove(_states[id], _claims[c], proof);
        if (!lie) ++honestDied;
        uint256 price = _priceOfEnd(death, _minus(_creditOf(s.challenger), before + _wonInFull(s)));
        if (price == 0 || price > MAX_PROOF * _price(block.basefee, _parameters().priceCap)) ++wrongPayouts;
        _die(c, death);
        if (_creditOf(s.challenger) != before + _wonBy(s, death, price)) ++wrongPayouts;
    }

    function _settle(GameId id, uint256 c, address by) internal {
        GameState memory s = this.unpack(_states[id]);
        (uint256 open, bool dead, , ) = game.claimGames(_claimId(_claims[c]));
        uint256 before = _creditOf(s.challenger);
        bool may = dead && uint256(game.stateHash(id)) > 1;
        _prankAs(by);
        try game.settle(_states[id]) {
            Death memory death = _deaths[c];
            uint256 unit = _price(block.basefee, death.price);
            uint256 most = (open == 1 ? SETTLE + LAST_SETTLE : SETTLE) * unit;
            uint256 got = _creditOf(s.challenger) - before - s.bond;
            bool isRight = got >= _share(_due(s) + LEAST_SETTLE * unit, death) && got <= _share(_due(s) + most, death);
            if (!may || !isRight) ++wrongPayouts;
        } catch {
            if (may) ++unsettled;
        }
    }

    function _refuted(uint256 c) private view returns (bool dead) {
        (, dead, , ) = game.claimGames(_claimId(_claims[c]));
    }

    function _accept(uint256 c) private {
        Claim memory claim = _claims[c];
        uint256 credit = _creditOf(claim.worker);
        _prankAs(claim.job.requester);
        market.accept(claim);
        if (_isPaid[c] || _creditOf(claim.worker) != credit + claim.job.fee) ++wrongDeliveries;
        _isPaid[c] = true;
    }

    /// @dev Takes the new state from the event.
    function _follow(GameId gameId) private {
        Vm.Log[] memory logs = vm.getRecordedLogs();
        for (uint256 i = 0; i < logs.length; ++i) {
            if (logs[i].emitter != address(game) || logs[i].topics[1] != GameId.unwrap(gameId)) continue;
            // The first seven words of both events are the state.
            _before[gameId] = _states[gameId];
            (bytes32 topic, bytes memory data) = (logs[i].topics[0], logs[i].data);
            if (topic == IDisputeGame.Picked.selector) _states[gameId] = abi.decode(data, (PackedState));
            else if (topic == IDisputeGame.Moved.selector) (_states[gameId], ) = abi.decode(data, (PackedState, bytes));
        }
        // Both sides' time since the game was opened, and what is left of it: neither more, which would delay, nor
        // less.
        GameState memory s = this.unpack(_states[gameId]);
        uint256 left = uint256(s.workerSeconds) + s.challengerSeconds;
        if (s.since != _now || s.since + left != _openedAt[gameId] + 2 * CLOCK) ++wrongClocks;
    }
}
