// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {PledgeStatus} from "../../../contracts/interfaces/IPledgedClaims.sol";
import {GameState, PackedState, Pick, Side, StepProof} from "../../../contracts/types/GameState.sol";
import {GameId} from "../../../contracts/types/Ids.sol";
import {ClaimKey} from "../../../contracts/types/Job.sol";
import {Ticket} from "../../../contracts/types/SignedClaim.sol";
import {TicketsModel} from "./TicketsModel.t.sol";
import {vm} from "./Vm.sol";

/// @notice Drives signed claims and tickets at random: in pledges, deposits, claims, tickets, games, and time.
contract TicketsHandler is TicketsModel {
    /// @dev The test: only it ends everything.
    address private immutable _test = msg.sender;

    /// @dev Workers are ready and payers have paid in, so that random sequences get far.
    constructor() {
        for (uint8 w = 0; w < WORKERS; ++w) pledge(w);
        for (uint8 who = 0; who < 4; ++who) deposit(who, 2 ether);
    }

    /* ---- What is signed ---- */

    function promiseAnswer(uint8 who, bool lie, uint16 age) external {
        _promise(who % 2, 2 + ((who / 2) % 2), lie, age % 4 == 3 ? age % 1_000 : 0);
    }

    /// @param kind Wins always, mostly; as often as not; never; or is signed by somebody else.
    function signTicket(uint8 which, uint8 kind, uint96 face, uint16 lifetime) external {
        uint256 index = which % _promises.length;
        Promise storage p = _promises[index];
        uint256 odds =
            kind % 8 == 0
                ? 0
                : kind % 8 == 1
                    ? type(uint256).max / 2
                    : type(uint256).max;
        bool real = kind % 8 != 2;
        Ticket memory ticket = Ticket({
            claim: p.digest,
            face: kind % 8 == 3 ? uint128(face) << 32 : face % 3 ether,
            odds: odds,
            expiry: uint64(_now + (lifetime % (2 * LIFETIME))),
            nonce: keccak256(abi.encode("nonce", _tickets.length))
        });
        bytes memory signature = _sign(real ? p.payer : 4, tickets.ticketDigest(ticket));
        _tickets.push(SignedTicket(index, ticket, signature, real));
    }

    /* ---- Signed claims on chain ---- */

    /// @param twist Mostly nothing; or another root than was signed.
    function land(uint8 which, uint8 who, uint8 twist) public {
        uint256 index = which % _promises.length;
        Promise memory p = _promises[index];
        bool may = !p.landed && _isBacked(index) && twist % 8 != 1;
        if (twist % 8 == 1) p.claim.root = claimRoot(_answered(), !p.lie);
        bool lie = twist % 8 == 1 ? !p.lie : p.lie;
        bytes memory data = abi.encodeCall(tickets.submitSigned, (p.claim, p.signature, _evidence(lie)));
        vm.recordLogs();
        _did(may, _send(actors[who % ACTORS], address(tickets), data), "a claim is put on chain");
        if (may) _landed(index);
    }

    /// @param twist Mostly nothing; or by somebody else, with another secret, another face, another claim.
    function cash(uint8 which, uint8 twist, bool landsToo) public {
        uint256 t = which % _tickets.length;
        SignedTicket memory signed = _tickets[t];
        Promise memory p = _promises[signed.index];
        uint8 how = twist % 16;
        bool may = how > 3 && _canCash(t, landsToo);
        address by = how == 0 ? actors[(p.worker + 1 + twist / 16) % ACTORS] : p.claim.worker;
        if (how == 0 && by == p.claim.worker) return;
        bytes32 secret = how == 1 ? p.digest : p.secret;
        if (how == 2) signed.ticket.face += 1;
        if (how == 3) p.claim.number += 1;
        bytes memory data =
            landsToo
                ? abi.encodeCall(
                    tickets.submitAndCash,
                    (p.claim, p.signature, _evidence(p.lie), signed.ticket, signed.signature, secret)
                )
                : abi.encodeCall(tickets.cash, (p.claim, signed.ticket, signed.signature, secret));
        vm.recordLogs();
        _did(may, _send(by, address(tickets), data), "a ticket is cashed");
        if (!may) return;
        if (!p.landed) _landed(signed.index);
        Deposit storage d = _deposits[p.payer][p.worker];
        uint256 face = signed.ticket.face;
        uint256 ofFree = face < d.free ? face : d.free;
        d.free -= ofFree;
        d.withdrawing -= face - ofFree;
        (_promises[signed.index].cashed, _promises[signed.index].face) = (true, face);
        // The same again, at once.
        _did(false, _send(by, address(tickets), data), "a ticket is cashed twice");
    }

    function collect(uint8 which) public {
        uint256 index = which % _promises.length;
        Promise storage p = _promises[index];
        bool isStopped = _pledge[p.worker] == PledgeStatus.Stopped;
        bool may = p.cashed && !p.collected && (isStopped || p.isFinal);
        bytes memory data = abi.encodeCall(tickets.collect, (p.digest));
        _did(may, _send(actors[which % ACTORS], address(tickets), data), "a ticket is collected");
        if (!may) return;
        p.collected = true;
        if (isStopped) {
            _deposits[p.payer][p.worker].free += p.face;
            ++returnedTickets;
            return;
        }
        _earned[p.worker] += p.face;
        _paidBy[p.payer] += p.face;
        ++paidTickets;
    }

    function finalise(uint8 which) public {
        uint256 index = which % _promises.length;
        Promise storage p = _promises[index];
        if (!p.landed) return;
        (uint256 games, , , ) = game.claimGames(_claimId(index));
        bool may = !p.refuted && !p.isFinal && _now > p.windowEnd && games == 0;
        may = may && _pledge[p.worker] != PledgeStatus.Stopped;
        bytes memory data = abi.encodeCall(claims.finalise, (_claimOf(index)));
        _did(may, _send(actors[which % ACTORS], address(claims), data), "a claim is final");
        if (may) p.isFinal = true;
    }

    /* ---- Games ---- */

    function open(uint8 which, uint8 who) public {
        uint256 index = which % _promises.length;
        Promise storage p = _promises[index];
        if (!p.landed) return;
        Pick memory pick = _openingOf(_answered(), p.lie);
        uint32 number = uint32(_games.length);
        bool may = _isDisputable(index) && _now <= p.windowEnd && _pledge[p.worker] != PledgeStatus.Stopped;
        bytes memory data = abi.encodeCall(game.open, (_claimOf(index), number, pick));
        vm.recordLogs();
        _did(may, _send(actors[who % ACTORS], address(game), data), "a game is opened");
        if (!may) return;
        GameId gameId = _follow(index);
        _challenged[who % ACTORS] = true;
        _games.push(gameId);
        _promiseOf[gameId] = index;
    }

    /// @notice A move or an end of a game: what cannot be then reverts.
    /// @param how The worker's reveal, or else the challenger's proof, or either gives up, or time is over, or a
    /// settlement.
    function play(uint8 which, uint8 how) external {
        GameId id = _games[which % _games.length];
        uint256 index = _promiseOf[id];
        GameState memory s = this.unpack(_states[id]);
        bool lie = _promises[index].lie;
        address worker = actors[_promises[index].worker];
        if (how % 8 < 3 && s.turn == Side.Worker) {
            bytes memory shown = _revealOf(s, lie);
            vm.recordLogs();
            _prankAs(worker);
            game.reveal(_states[id], shown);
            _follow(index);
        } else if (how % 8 < 5) {
            _prove(id, s, lie);
        } else {
            endGame(which, how);
        }
        _sync(index);
    }

    function _prove(GameId id, GameState memory s, bool lie) private {
        uint256 index = _promiseOf[id];
        StepProof memory proof = _proofOf(s, lie);
        bool isFirst = _pledge[_promises[index].worker] != PledgeStatus.Stopped;
        uint256 before = _creditOf(s.challenger);
        _prankAs(s.challenger);
        game.prove(_states[id], _claimOf(index), proof);
        if (!lie) ++honestDied;
        // The bond and what its moves cost; of a worker's refutations the first pays a bounty too.
        uint256 gain = _creditOf(s.challenger) - before;
        uint256 most = game.bond() + s.spent + MAX_PROOF * block.basefee;
        if (gain > most + (isFirst ? _parameters().bounty : 0)) _note("a winner gets too much");
        if (gain < s.bond + (isFirst ? _parameters().bounty : 0)) _note("a winner gets too little");
    }

    function endGame(uint8 which, uint8 how) public {
        GameId id = _games[which % _games.length];
        uint256 index = _promiseOf[id];
        PackedState memory packed = _states[id];
        GameState memory s = this.unpack(packed);
        ClaimKey memory key = _key(index);
        _prankAs(how % 8 == 5 ? actors[_promises[index].worker] : s.challenger);
        if (how % 8 < 6) game.concede(packed, key);
        else if (how % 8 == 6) game.timeout(packed, key);
        else game.settle(packed);
        _sync(index);
    }

    function collectGames(uint8 which) external {
        game.collect(_key(which % _promises.length));
    }

    /* ---- Pledges ---- */

    function pledge(uint8 who) public {
        uint256 w = who % WORKERS;
        (, uint256 staked, uint256 locked, , ) = vault.accountOf(actors[w]);
        bool may = _pledge[w] == PledgeStatus.None && staked - locked >= _parameters().collateral;
        _did(may, _send(actors[w], address(claims), abi.encodeCall(claims.pledge, ())), "a worker pledges");
        if (may) (_pledge[w], _since[w]) = (PledgeStatus.Active, _now);
    }

    /// @notice Asks a pledge back, in one of four calls.
    function askRelease(uint8 who) public {
        uint256 w = who % WORKERS;
        if ((who / 2) % 4 != 0) return;
        bool may = _pledge[w] == PledgeStatus.Active;
        bytes memory data = abi.encodeCall(claims.requestRelease, ());
        _did(may, _send(actors[w], address(claims), data), "a pledge is asked back");
        if (may) (_pledge[w], _since[w]) = (PledgeStatus.Releasing, _now);
    }

    function release(uint8 who) public {
        uint256 w = who % WORKERS;
        bool may = _pledge[w] == PledgeStatus.Releasing && _now > _since[w] + LIFETIME && openClaims(w) == 0;
        _did(may, _send(actors[w], address(claims), abi.encodeCall(claims.release, ())), "a pledge comes back");
        if (may) (_pledge[w], _since[w]) = (PledgeStatus.None, 0);
    }

    function sweep(uint8 who) public {
        uint256 w = who % WORKERS;
        (, , , uint256 left) = claims.pledgeOf(actors[w]);
        bool may = _pledge[w] == PledgeStatus.Stopped && _now > _since[w] + longestDispute() && left != 0;
        bytes memory data = abi.encodeCall(claims.sweep, (actors[w]));
        _did(may, _send(actors[4], address(claims), data), "the rest of a pledge is swept");
    }

    /* ---- Deposits and earnings ---- */

    function deposit(uint8 who, uint96 amount) public {
        (uint256 payer, uint256 w) = (2 + (who % 2), (who / 2) % 2);
        uint256 sum = amount % 3 ether;
        bytes memory data = abi.encodeCall(tickets.deposit, (actors[payer], actors[w], sum));
        bool may = sum != 0 && token.balanceOf(actors[payer]) >= sum;
        _did(may, _send(actors[payer], address(tickets), data), "a deposit is made");
        if (may) _deposits[payer][w].free += sum;
    }

    function askBack(uint8 who, uint96 amount) public {
        (uint256 payer, uint256 w) = (2 + (who % 2), (who / 2) % 2);
        Deposit storage d = _deposits[payer][w];
        uint256 sum = amount % 2 ether;
        bool may = sum != 0 && sum <= d.free;
        bytes memory data = abi.encodeCall(tickets.requestWithdrawal, (actors[w], sum));
        _did(may, _send(actors[payer], address(tickets), data), "a deposit is asked back");
        if (!may) return;
        d.free -= sum;
        d.withdrawing += sum;
        d.readyAt = _now + DELAY;
    }

    function takeBack(uint8 who) public {
        (uint256 payer, uint256 w) = (2 + (who % 2), (who / 2) % 2);
        Deposit storage d = _deposits[payer][w];
        bool may = d.withdrawing != 0 && _now >= d.readyAt;
        uint256 before = token.balanceOf(actors[payer]);
        bytes memory data = abi.encodeCall(tickets.withdraw, (actors[w]));
        _did(may, _send(actors[payer], address(tickets), data), "a deposit comes back");
        if (!may) return;
        if (token.balanceOf(actors[payer]) != before + d.withdrawing) _note("a deposit comes back changed");
        (d.withdrawing, d.readyAt) = (0, 0);
    }

    function takeEarnings(uint8 who) public {
        uint256 w = who % ACTORS;
        uint256 before = token.balanceOf(SINK);
        bytes memory data = abi.encodeCall(tickets.withdrawEarnings, (SINK));
        _did(_earned[w] != 0, _send(actors[w], address(tickets), data), "earnings are withdrawn");
        if (token.balanceOf(SINK) != before + _earned[w]) _note("earnings are withdrawn changed");
        _earned[w] = 0;
    }

    /* ---- Time, and many steps at once ---- */

    function pass(uint16 secondsOn, uint8 chance) external {
        _pass(chance % 8 == 0 ? uint256(secondsOn) : secondsOn % 700);
    }

    /// @notice The usual life of an answer: signed, paid, cashed, so that random sequences get far.
    function serve(uint8 who, bool lie, uint96 face) external {
        uint8 next = uint8(_promises.length);
        this.promiseAnswer(who, lie, 0);
        this.signTicket(next, 7, face, 2 * uint16(LIFETIME) - 1);
        cash(uint8(_tickets.length - 1), 15, true);
    }

    /* ---- Everybody leaves ---- */

    /// @notice Nothing new happens, and all that is open ends. A call that fails here is a state without exit.
    function windDown() external {
        require(msg.sender == _test);
        _pass(longestDispute());
        for (uint256 i = 0; i < _games.length; ++i) {
            if (uint256(game.stateHash(_games[i])) <= 1) continue;
            endGame(uint8(i), _promises[_promiseOf[_games[i]]].refuted ? 7 : 6);
        }
        for (uint256 i = 0; i < _promises.length; ++i) {
            Promise storage p = _promises[i];
            finalise(uint8(i));
            collect(uint8(i));
            require(!p.cashed || p.collected, "a reserved face is stuck");
            if (!p.landed) continue;
            (, , , uint256 earned) = game.claimGames(_claimId(i));
            if (earned != 0) this.collectGames(uint8(i));
        }
        for (uint8 w = 0; w < WORKERS; ++w) {
            takeEarnings(w);
            askRelease(w);
        }
        for (uint8 who = 0; who < 4; ++who) _askAllBack(2 + (who % 2), who / 2);
        _pass(longestDispute() + 1);
        for (uint8 w = 0; w < WORKERS; ++w) {
            release(w);
            sweep(w);
            sweep(w);
        }
        for (uint8 who = 0; who < 4; ++who) takeBack(who);
        require(token.balanceOf(address(tickets)) == 0, "tickets keep what is nobody's");
        require(vault.custody() == 0, "something is left in custody");
        _leaveVault();
        require(token.balanceOf(address(vault)) == _holdings(SINK), "the vault keeps what is nobody's");
        // Payers play no games that they lose here: they have paid the tickets that won, and nothing else.
        for (uint256 payer = WORKERS; payer < 4; ++payer) {
            if (_challenged[payer]) continue;
            require(token.balanceOf(actors[payer]) == START - _paidBy[payer], "a payer has lost or gained");
        }
    }

    function _askAllBack(uint256 payer, uint256 w) private {
        uint256 free = _deposits[payer][w].free;
        if (free == 0) return;
        _prankAs(actors[payer]);
        tickets.requestWithdrawal(actors[w], free);
        _deposits[payer][w] = Deposit(0, _deposits[payer][w].withdrawing + free, _now + DELAY);
    }

    function _leaveVault() private {
        for (uint256 i = 0; i < ACTORS; ++i) {
            (, uint256 staked, uint256 locked, , ) = vault.accountOf(actors[i]);
            require(locked == 0, "locked for nothing");
            if (staked == 0) continue;
            _prankAs(actors[i]);
            vault.requestWithdraw(staked);
        }
        _pass(vault.withdrawalDelay());
        for (uint256 i = 0; i < ACTORS; ++i) {
            (uint256 credit, , , uint256 withdrawing, ) = vault.accountOf(actors[i]);
            if (withdrawing != 0) {
                _prankAs(actors[i]);
                vault.unstake();
            }
            if (credit + withdrawing == 0) continue;
            _prankAs(actors[i]);
            vault.withdraw(credit + withdrawing, actors[i]);
        }
    }
}
