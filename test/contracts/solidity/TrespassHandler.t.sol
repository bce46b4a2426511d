// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {JobStatus, ClaimStatus, Delivery} from "../../../contracts/interfaces/IMarketEvents.sol";
import {ClaimId, GameId} from "../../../contracts/types/Ids.sol";
import {Claim, ClaimKey, Job} from "../../../contracts/types/Job.sol";
import {GameState, PackedState, Pick, Side} from "../../../contracts/types/GameState.sol";
import {TermsHandler} from "./TermsHandler.t.sol";

/// @notice As TermsHandler, and tries what nobody may: each such call must revert. What may be is decided here, from
/// what was done and when, and not asked of the contracts.
abstract contract TrespassHandler is TermsHandler {
    /// @notice On a game: by strangers, with other states, with other claims, out of time, after its end.
    function intrude(uint8 which, uint8 who) external {
        GameId id = _games[which % _games.length];
        uint256 c = _claimOf[id];
        GameState memory s = this.unpack(_states[id]);
        ClaimKey memory key = _key(_claims[c]);
        if (uint256(game.stateHash(id)) <= 1) {
            _endWith(_states[id], key, s.challenger, "a game that is over ends again");
            return;
        }
        if (ClaimId.unwrap(_before[id].claimId) != 0)
            _endWith(_before[id], key, s.challenger, "an older state ends a game");
        if (_isDead(c)) return;
        address stranger = actors[who % 5];
        if (stranger != s.challenger && stranger != key.worker)
            _concede(_states[id], key, stranger, "a stranger concedes");
        if (stranger != s.challenger) _pick(id, s, stranger, "a stranger picks");
        ClaimKey memory other = _key(_claims[who % _claims.length]);
        if (!(_claimId(_claims[who % _claims.length]) == s.claimId)) {
            _concede(_states[id], other, s.challenger, "a game of another claim is lost");
            _concede(_states[id], other, other.worker, "a game kills another claim");
        }
        _settle(_states[id], "a game on a living claim is settled");
        if (_now <= s.since + (s.turn == Side.Worker ? s.workerSeconds : s.challengerSeconds)) {
            _timeout(_states[id], key, stranger, "time is over too early");
            if (s.turn == Side.Worker) _reveal(id, s, !_lie[s.claimId], "something else is revealed");
        } else if (s.turn == Side.Worker) {
            _reveal(id, s, _lie[s.claimId], "a reveal comes too late");
        } else {
            _pick(id, s, s.challenger, "a pick comes too late");
        }
    }

    /// @notice On a claim: games too late, finality too early, payment twice.
    function meddle(uint8 which, uint8 who) external {
        uint256 c = which % _claims.length;
        Claim memory claim = _claims[c];
        address stranger = actors[who % 5];
        (ClaimStatus status, , bool paid, ) = this.fateOf(c);
        if ((status == ClaimStatus.Accepted) != _isAccepted[c]) {
            ++trespasses;
            trespass = "a claim is accepted that was not, or no more";
        }
        paid = paid || _isAccepted[c];
        _meddleOnTerms(c, stranger, status, _openGames(c));
        _undervalue(c, stranger);
        if (_now > _windowEnd[c] || status != ClaimStatus.Submitted) _open(c, stranger, "a game is opened too late");
        if (_now <= _windowEnd[c] || status != ClaimStatus.Submitted || _openGames(c) != 0) {
            _finalise(claim, "a claim is final too early");
        }
        if (paid || _now <= _windowEnd[c] + 7 days) _reclaim(claim, "a fee is taken back too early, or a second time");
        if (paid || stranger != claim.job.requester)
            _accept(claim, stranger, "a fee is paid again, or by a stranger's word");
        bool ready = status == ClaimStatus.Submitted && _now > _windowEnd[c] && _openGames(c) == 0;
        if (!ready && status != ClaimStatus.Finalised) _deliver(claim, "a claim that is not final is delivered");
        if (_delivered[c] & 1 == 1 && (claim.job.callbackGas == 0 || _calledBack[c] & 1 == 1)) {
            _deliver(claim, "an output is delivered again");
        }
        if (status == ClaimStatus.Finalised) {
            Claim memory lie = claim;
            lie.root = claimRoot(claim.job, !_lie[_claimId(claim)]);
            _deliver(lie, "another claim is delivered");
        }
    }

    /// @dev A claim with something else behind it than is locked is no claim.
    function _undervalue(uint256 c, address by) private {
        Claim memory claim = _claims[c];
        uint128 least = _parameters().collateral;
        claim.collateral = claim.collateral == least ? least - 1 : least;
        _finalise(claim, "a claim is final with something else behind it");
        _deliver(claim, "a claim is delivered with something else behind it");
        _accept(claim, claim.job.requester, "a claim is accepted with something else behind it");
        Pick memory pick = _openingOf(claim.job, claim.root == claimRoot(claim.job, true));
        bytes memory call = abi.encodeCall(game.open, (claim, 99, pick));
        _mustRevert(by, address(game), call, "a claim is disputed with something else behind it");
    }

    /// @notice On a job: claims and submissions of whom they are not, expiry while there is time, a fee taken back
    /// while there is a claim.
    function squat(uint8 which, uint8 who) external {
        uint256 j = which % _jobs.length;
        Job memory job = _jobs[j];
        (JobStatus status, address worker, , ) = market.jobOf(market.jobIdOf(job));
        address stranger = actors[who % 5];
        bytes memory claiming = _claimCall(j);
        if (status == JobStatus.Open) {
            provisioning.bar(stranger, true);
            _mustRevert(stranger, address(market), claiming, "a worker that is not live claims");
            provisioning.bar(stranger, false);
        } else {
            _mustRevert(stranger, address(market), claiming, "a job is claimed twice");
        }
        bool late = status == JobStatus.Claimed && _now > _until[j];
        if (status != JobStatus.Claimed || stranger != worker || late) {
            _mustRevert(stranger, address(market), _submitCall(j, true), "a stranger submits, or too late");
        }
        if (status == JobStatus.Claimed && !late) _resubmit(j, worker);
        bool closes = status == JobStatus.Open && _now + job.claimSeconds > job.deadline;
        if (!late && !closes) {
            bytes memory expiry = _expireCall(j, status == JobStatus.Claimed);
            _mustRevert(stranger, address(market), expiry, "a job expires too early");
        }
        if (_hasTerms(j)) _squatOnTerms(j, stranger, status, worker);
        if (status != JobStatus.Open || stranger != job.requester) _cancel(job, stranger, "a job is taken back");
    }

    /// @dev What was refuted is not claimed again by the same worker: its games are over.
    function _resubmit(uint256 j, address worker) private {
        for (uint256 c = 0; c < _claims.length; ++c) {
            if (_jobOf[c] != j || _claims[c].worker != worker || !_isDead(c)) continue;
            bool lie = _claims[c].root == claimRoot(_jobs[j], true);
            _mustRevert(worker, address(market), _submitCall(j, lie), "a refuted claim comes back under its name");
        }
    }

    /// @notice On the vault: more than there is, what is locked, before its time.
    function plunder(uint8 who) external {
        address actor = actors[who % 5];
        (uint256 credit, uint256 staked, uint256 locked, uint256 withdrawing, ) = vault.accountOf(actor);
        _mustRevert(
            actor,
            address(vault),
            abi.encodeCall(vault.withdraw, (credit + 1, actor)),
            "more than the credit is withdrawn"
        );
        _mustRevert(
            actor,
            address(vault),
            abi.encodeCall(vault.requestWithdraw, (staked - locked + 1)),
            "locked stake is asked back"
        );
        if (withdrawing == 0 || _now < _readyAt[actor]) {
            _mustRevert(actor, address(vault), abi.encodeCall(vault.unstake, ()), "stake comes back before its time");
        }
    }

    /// @notice Whether a living claim's dues are what its games are due, and its number of games is right.
    function duesAreExact() external view returns (bool) {
        for (uint256 c = 0; c < _claims.length; ++c) {
            (uint256 open, bool dead, uint256 dues, ) = game.claimGames(_claimId(_claims[c]));
            if (open != _openGames(c)) return false;
            if (!dead && dues != _duesOf(c)) return false;
        }
        return true;
    }

    function _duesOf(uint256 c) private view returns (uint256 dues) {
        for (uint256 i = 0; i < _games.length; ++i) {
            if (_claimOf[_games[i]] != c || uint256(game.stateHash(_games[i])) <= 1) continue;
            GameState memory s = this.unpack(_states[_games[i]]);
            dues += game.bond() - s.bond + s.spent;
        }
    }

    function _openGames(uint256 c) private view returns (uint256 count) {
        for (uint256 i = 0; i < _games.length; ++i) {
            if (_claimOf[_games[i]] == c && uint256(game.stateHash(_games[i])) > 1) ++count;
        }
    }

    function _isDead(uint256 c) private view returns (bool dead) {
        (, dead, , ) = game.claimGames(_claimId(_claims[c]));
    }

    function _endWith(PackedState memory packed, ClaimKey memory key, address by, string memory what) private {
        _concede(packed, key, by, what);
        _timeout(packed, key, by, what);
        _settle(packed, what);
    }

    function _concede(PackedState memory packed, ClaimKey memory key, address by, string memory what) private {
        _mustRevert(by, address(game), abi.encodeCall(game.concede, (packed, key)), what);
    }

    function _timeout(PackedState memory packed, ClaimKey memory key, address by, string memory what) private {
        _mustRevert(by, address(game), abi.encodeCall(game.timeout, (packed, key)), what);
    }

    function _settle(PackedState memory packed, string memory what) private {
        _mustRevert(actors[0], address(game), abi.encodeCall(game.settle, (packed)), what);
    }

    function _reveal(GameId id, GameState memory s, bool lie, string memory what) private {
        bytes memory data = _revealOf(s, lie);
        _mustRevert(actors[0], address(game), abi.encodeCall(game.reveal, (_states[id], data)), what);
    }

    function _pick(GameId id, GameState memory s, address by, string memory what) private {
        if (s.turn != Side.Challenger || s.depth == 0) return;
        Pick memory pick = _pickOf(_lie[s.claimId], 0);
        _mustRevert(by, address(game), abi.encodeCall(game.pick, (_states[id], pick)), what);
    }

    function _open(uint256 c, address by, string memory what) private {
        Pick memory pick = _openingOf(_claims[c].job, _lie[_claimId(_claims[c])]);
        _mustRevert(by, address(game), abi.encodeCall(game.open, (_claims[c], 0, pick)), what);
    }

    function _finalise(Claim memory claim, string memory what) private {
        _mustRevert(address(market), abi.encodeCall(market.finalise, (claim)), what);
    }

    function _accept(Claim memory claim, address by, string memory what) private {
        _mustRevert(by, address(market), abi.encodeCall(market.accept, (claim)), what);
    }

    function _reclaim(Claim memory claim, string memory what) private {
        _mustRevert(address(market), abi.encodeCall(market.reclaim, (claim)), what);
    }

    function _deliver(Claim memory claim, string memory what) private {
        bool lie = claim.root == claimRoot(claim.job, true);
        Delivery memory delivery = Delivery(program(), 0, _tensor(lie), _pathOf(claim.job, 0, lie));
        _mustRevert(address(market), abi.encodeCall(market.deliver, (claim, delivery)), what);
    }

    function _cancel(Job memory job, address by, string memory what) private {
        _mustRevert(by, address(market), abi.encodeCall(market.cancel, (job)), what);
    }
}
