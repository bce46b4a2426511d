// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Clock} from "../../../contracts/game/Clock.sol";
import {ClaimStatus} from "../../../contracts/interfaces/IMarketEvents.sol";
import {PledgeStatus} from "../../../contracts/interfaces/IPledgedClaims.sol";
import {ClaimId, JobId} from "../../../contracts/types/Ids.sol";
import {ClaimKey} from "../../../contracts/types/Job.sol";
import {Parameters} from "../../../contracts/types/Parameters.sol";
import {TicketsWorld} from "./TicketsWorld.t.sol";
import {vm} from "./Vm.sol";

/// @notice What tickets and pledges must say. Of each call it is decided here, from what was signed and done and when,
/// whether it may succeed: it must then, and else it must not.
abstract contract TicketsModel is TicketsWorld {
    /// @dev Gas of a step proof that is paid at most, as the game's schedule has it.
    uint256 internal constant MAX_PROOF = 1_000_000 + 200_000;

    struct Deposit {
        uint256 free;
        uint256 withdrawing;
        uint256 readyAt;
    }

    /// @notice Calls that did what they should not, or did not what they should, and the last of them.
    uint256 public wrongs;
    string public wrong;
    /// @notice Honest claims that died by a proof.
    uint256 public honestDied;
    uint256 public paidTickets;
    uint256 public returnedTickets;

    mapping(uint256 payer => mapping(uint256 worker => Deposit)) internal _deposits;
    mapping(uint256 worker => uint256) internal _earned;
    /// @dev Faces that were paid to workers and not returned.
    mapping(uint256 payer => uint256) internal _paidBy;
    mapping(uint256 worker => PledgeStatus) internal _pledge;
    /// @dev When it was asked back, or the worker stopped.
    mapping(uint256 worker => uint256) internal _since;
    /// @dev Whoever has opened a game may have lost or won a bond.
    mapping(uint256 who => bool) internal _challenged;

    /// @notice Claims of a worker that are in their windows or disputed.
    function openClaims(uint256 w) public view returns (uint256 count) {
        for (uint256 i = 0; i < _promises.length; ++i) {
            if (_promises[i].worker == w && _isDisputable(i)) ++count;
        }
    }

    /// @notice Whether the contracts say of deposits, tickets, claims and pledges what was done.
    function booksAreRight() external view returns (bool) {
        for (uint256 w = 0; w < WORKERS; ++w) {
            if (tickets.earnings(actors[w]) != _earned[w]) return false;
            (PledgeStatus status, uint256 time, uint256 open_, uint256 left) = claims.pledgeOf(actors[w]);
            if (status != _pledge[w] || time != _since[w] || open_ != openClaims(w)) return false;
            if (left != 0 && status != PledgeStatus.Stopped) return false;
            bool isLocked = status == PledgeStatus.Active || status == PledgeStatus.Releasing;
            (, , uint256 locked, , ) = vault.accountOf(actors[w]);
            if (locked != (isLocked ? _parameters().collateral : 0)) return false;
            for (uint256 payer = WORKERS; payer < 4; ++payer) {
                Deposit memory d = _deposits[payer][w];
                (uint256 free, uint256 withdrawing, uint256 readyAt) = tickets.depositOf(actors[payer], actors[w]);
                if (free != d.free || withdrawing != d.withdrawing || readyAt != d.readyAt) return false;
            }
        }
        for (uint256 i = 0; i < _promises.length; ++i) if (!_isBooked(i)) return false;
        return true;
    }

    /// @notice What the tickets owe: deposits, reserved faces and earnings, as they say themselves.
    function owedByTickets() external view returns (uint256 sum) {
        for (uint256 w = 0; w < WORKERS; ++w) {
            sum += tickets.earnings(actors[w]);
            for (uint256 payer = WORKERS; payer < 4; ++payer) {
                (uint256 free, uint256 withdrawing, ) = tickets.depositOf(actors[payer], actors[w]);
                sum += free + withdrawing;
            }
        }
        for (uint256 i = 0; i < _promises.length; ++i) {
            (, , uint256 face) = tickets.cashed(_promises[i].digest);
            sum += face;
        }
    }

    /// @notice What the vault owes everybody.
    function owedByVault() external view returns (uint256 sum) {
        sum = vault.custody() + _holdings(SINK);
        for (uint256 i = 0; i < ACTORS; ++i) sum += _holdings(actors[i]);
    }

    /// @notice What the vault's custody must be: bonds of games, what dead claims keep, earnings of games, pledges of
    /// stopped workers.
    function promised() external view returns (uint256 sum) {
        for (uint256 i = 0; i < _promises.length; ++i) {
            if (!_promises[i].landed) continue;
            (, bool dead, uint256 left, uint256 earned) = game.claimGames(_claimId(i));
            sum += earned + (dead ? left : 0);
        }
        for (uint256 i = 0; i < _games.length; ++i) {
            if (uint256(game.stateHash(_games[i])) > 1) sum += this.unpack(_states[_games[i]]).bond;
        }
        for (uint256 w = 0; w < WORKERS; ++w) {
            (, , , uint256 left) = claims.pledgeOf(actors[w]);
            sum += left;
        }
    }

    function longestDispute() public pure returns (uint256) {
        Parameters memory p = _parameters();
        return Clock.longestDispute(p.maxWindow, Clock.budget(p.baseClock, p.maxWork, p.rate));
    }

    function _did(bool may, bool did, string memory what) internal {
        if (may != did) _note(what);
    }

    function _note(string memory what) internal {
        ++wrongs;
        wrong = what;
    }

    function _pass(uint256 secondsOn) internal {
        _now += secondsOn;
        vm.warp(_now);
    }

    /// @dev A claim is on chain since this call.
    function _landed(uint256 index) internal {
        _follow(index);
        _promises[index].landed = true;
        _promises[index].windowEnd = _now + _jobs[index].window;
    }

    /// @dev Takes over whether a claim died: games are judged by their own invariants. The first one stops its worker.
    function _sync(uint256 index) internal {
        Promise storage p = _promises[index];
        (ClaimStatus status, , ) = claims.statusOf(_claimId(index));
        if (p.refuted || status != ClaimStatus.Refuted) return;
        p.refuted = true;
        if (_pledge[p.worker] == PledgeStatus.Stopped) return;
        (_pledge[p.worker], _since[p.worker]) = (PledgeStatus.Stopped, _now);
    }

    /// @dev Whether a signed claim that is not on chain can be put there.
    function _isBacked(uint256 index) internal view returns (bool) {
        Promise storage p = _promises[index];
        uint256 issued = p.claim.issued;
        if (_now > issued + LIFETIME) return false;
        PledgeStatus status = _pledge[p.worker];
        return status == PledgeStatus.Active || (status == PledgeStatus.Releasing && issued < _since[p.worker]);
    }

    function _isDisputable(uint256 index) internal view returns (bool) {
        Promise storage p = _promises[index];
        return p.landed && !p.refuted && !p.isFinal;
    }

    function _canCash(uint256 t, bool landsToo) internal view returns (bool) {
        SignedTicket storage signed = _tickets[t];
        Promise storage p = _promises[signed.index];
        if (p.cashed || !(p.landed || (landsToo && _isBacked(signed.index)))) return false;
        if (!signed.real || _now > signed.ticket.expiry || _pledge[p.worker] == PledgeStatus.Stopped) return false;
        uint256 drawn = uint256(keccak256(abi.encode(p.secret, tickets.ticketDigest(signed.ticket))));
        if (drawn >= signed.ticket.odds) return false;
        Deposit storage d = _deposits[p.payer][p.worker];
        uint256 face = signed.ticket.face;
        return face != 0 && face <= d.free + d.withdrawing;
    }

    function _key(uint256 index) internal view returns (ClaimKey memory) {
        Promise storage p = _promises[index];
        JobId jobId = claims.jobIdOf(_jobs[index]);
        return ClaimKey(jobId, p.claim.worker, p.claim.root, _parameters().collateral);
    }

    function _isBooked(uint256 i) private view returns (bool) {
        Promise storage p = _promises[i];
        (address payer, address worker, uint256 face) = tickets.cashed(p.digest);
        if (payer != (p.cashed ? p.claim.payer : address(0)) || worker != (p.cashed ? p.claim.worker : address(0)))
            return false;
        if (face != (p.cashed && !p.collected ? p.face : 0)) return false;
        ClaimId claimId = tickets.claimIdOf(p.digest);
        if (!p.landed) return claimId == ClaimId.wrap(0);
        (ClaimStatus status, , ) = claims.statusOf(claimId);
        if (!(claimId == _claimId(i))) return false;
        if (p.refuted) return status == ClaimStatus.Refuted;
        return status == (p.isFinal ? ClaimStatus.Finalised : ClaimStatus.Submitted);
    }
}
