// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {PanelOutcome} from "../../../contracts/interfaces/IPanel.sol";
import {JobRequest, JobStatus} from "../../../contracts/interfaces/IMarketEvents.sol";
import {PackedState, Pick, StepProof} from "../../../contracts/types/GameState.sol";
import {JobId} from "../../../contracts/types/Ids.sol";
import {Claim, ClaimKey, Job} from "../../../contracts/types/Job.sol";
import {Terms} from "../../../contracts/types/Terms.sol";
import {PanelTrespasses} from "./PanelTrespasses.t.sol";
import {vm} from "./Vm.sol";

/// @notice Drives panels at random: five actors post them, take seats, lie, do not open, dispute, and end what is over.
contract PanelHandler is PanelTrespasses {
    /// @notice How a panel ended.
    function endOf(uint256 p) external view returns (PanelOutcome outcome, uint256 finals) {
        (, , , , outcome, ) = panel.panelOf(_idOf(p));
        (, , finals) = _endOf(p);
    }

    /* ---- Moves ---- */

    function post(uint8 who, uint8 seats, uint64 fee, bool audited) external {
        JobRequest memory request = _request(uint128(fee % 1 ether) + 1);
        Terms memory terms = request.terms[0];
        uint40 auditUntil = audited ? terms.openFrom - 1 : 0;
        address poster = actors[who % 5];
        uint8 count = (seats % 4) + 1;
        vm.recordLogs();
        _prankAs(poster);
        panel.post(request, count, auditUntil);
        feesIn += uint256(request.fee) * (count + (audited ? 1 : 0));
        uint256 p = _panels.length;
        _panels.push();
        Posted storage posted = _panels[p];
        (posted.poster, posted.auditUntil) = (poster, auditUntil);
        (posted.request, posted.fee) = (abi.encode(request), request.fee);
        _takeSeats(p);
        posted.terms = terms;
        posted.terms.group = keccak256(abi.encode(poster, request.salt));
        if (_first(p).salt != posted.terms.group || posted.seats.length != count) _isWrong("a panel is posted changed");
    }

    function addSeat(uint8 which) external {
        uint256 p = which % _panels.length;
        Posted storage posted = _panels[p];
        (Job memory first, JobRequest memory request) = (_first(p), _requestOf(p));
        vm.recordLogs();
        _prankAs(posted.poster);
        panel.addSeat(first, request);
        posted.added = true;
        _takeSeats(p);
    }

    function claimSeat(uint8 who, uint8 which) public {
        Seat storage seat = _seats[which % _seats.length];
        _prankAs(actors[who % 5]);
        market.claimOnTerms(seat.job, _panels[seat.panel].terms);
        seat.claim.worker = actors[who % 5];
    }

    function sealSeat(uint8 which, bool lie) public {
        Seat storage seat = _seats[which % _seats.length];
        JobId jobId = market.jobIdOf(seat.job);
        address worker = seat.claim.worker;
        bytes32 root = claimRoot(seat.job, lie);
        bytes32 sealed_ = keccak256(abi.encode(jobId, worker, root, bytes32(uint256(7))));
        _prankAs(worker);
        market.seal(seat.job, _panels[seat.panel].terms, sealed_);
        seat.claim = Claim(seat.job, worker, root, _parameters().collateral);
        (seat.seal, seat.lie) = (sealed_, lie);
    }

    function openSeal(uint8 which, uint8 who) public {
        Seat storage seat = _seats[which % _seats.length];
        bytes memory nodes = nodesOf(seat.job, seat.lie);
        _prankAs(actors[who % 5]);
        market.openSeal(seat.job, _panels[seat.panel].terms, seat.claim.worker, bytes32(uint256(7)), nodes);
    }

    /// @notice The next step of a seat's life, so that random sequences get far.
    function advance(uint8 who, uint8 which, bool lie) external {
        JobStatus status = _statusOf(which % _seats.length);
        if (status == JobStatus.Open) claimSeat(who, which);
        else if (status == JobStatus.Claimed) sealSeat(which, lie);
        else if (status == JobStatus.Sealed) openSeal(which, who);
        else if (status == JobStatus.Submitted) who % 2 == 0 ? refute(which, who) : prove(which, who);
    }

    /// @notice A lie is disputed, and its worker gives up.
    function refute(uint8 which, uint8 who) public {
        (Claim memory claim, PackedState memory state) = _dispute(which, who);
        ClaimKey memory key = _key(claim);
        _prankAs(claim.worker);
        game.concede(state, key);
    }

    /// @notice A lie is disputed, and an element of the lie is proved wrong.
    function prove(uint8 which, uint8 who) public {
        (Claim memory claim, PackedState memory state) = _dispute(which, who);
        StepProof memory proof = _proofOf(this.unpack(state), true);
        _prankAs(actors[who % 5]);
        game.prove(state, claim, proof);
        if (claim.job.answers == 0) _panels[_seats[which % _seats.length].panel].proved = true;
    }

    function finalise(uint8 which) public {
        Seat storage seat = _seats[which % _seats.length];
        market.finalise(seat.claim);
        paidToWorkers += seat.job.fee;
    }

    function endSeat(uint8 which, uint8 who) external {
        Seat storage seat = _seats[which % _seats.length];
        JobStatus status = _statusOf(which % _seats.length);
        Terms memory terms = _panels[seat.panel].terms;
        if (status == JobStatus.Sealed) {
            _prankAs(actors[who % 5]);
            market.breakSeal(seat.job, terms, seat.claim.worker, seat.seal);
        } else if (status == JobStatus.Claimed) {
            _prankAs(actors[who % 5]);
            market.expireOnTerms(seat.job, terms);
        } else {
            // Whoever closes a job that nobody took is paid from its fee.
            uint256 credit = _creditOf(actors[who % 5]);
            _prankAs(actors[who % 5]);
            market.expire(seat.job);
            paidToOthers += _creditOf(actors[who % 5]) - credit;
        }
    }

    function agree(uint8 which) external {
        uint256 p = which % _panels.length;
        panel.agree(_first(p), _keysOf(p));
        (bool alike, bytes32 root) = _alike(p);
        (, , , , PanelOutcome outcome, bytes32 told) = panel.panelOf(_idOf(p));
        if (!alike || outcome != PanelOutcome.Agreed || told != root) _isWrong("a panel agrees that does not");
    }

    function resolve(uint8 which) public {
        uint256 p = which % _panels.length;
        PanelOutcome outcome = panel.resolve(_first(p), _keysOf(p));
        _panels[p].resolved = true;
        for (uint256 k = 0; k < _panels[p].seats.length; ++k)
            if (!_isOver(_panels[p].seats[k])) _isWrong("a panel is resolved before its seats are over");
        (PanelOutcome expected, bytes32 root, ) = _endOf(p);
        (, , , , PanelOutcome kept, bytes32 told) = panel.panelOf(_idOf(p));
        if (outcome != expected || kept != expected || told != root) _isWrong("a panel ends otherwise than its seats");
    }

    function withdraw(uint8 who) public {
        address poster = actors[who % 5];
        uint256 before = token.balanceOf(poster);
        _prankAs(poster);
        uint256 amount = panel.withdraw();
        if (token.balanceOf(poster) != before + amount || panel.owed(poster) != 0) _isWrong("fees come back changed");
        withdrawn += amount;
    }

    function pass(uint16 secondsOn) external {
        _pass(secondsOn % 7_200);
    }

    /* ---- What must hold ---- */

    /// @notice What the contract must have: what it owes, what it keeps for seats that may be added, and the fees that
    /// came back of seats whose panels are not resolved.
    function promised() external view returns (uint256 sum) {
        for (uint256 i = 0; i < 5; ++i) sum += panel.owed(actors[i]);
        for (uint256 p = 0; p < _panels.length; ++p) {
            Posted storage posted = _panels[p];
            if (posted.resolved) continue;
            if (posted.auditUntil != 0 && !posted.added) sum += posted.fee;
            for (uint256 k = 0; k < posted.seats.length; ++k) {
                (, uint256 amount) = market.refundOf(_seats[posted.seats[k]].job);
                sum += amount;
            }
        }
    }

    /// @notice What the market must have in custody: the fees of seats that are neither paid nor returned.
    function inCustody() external view returns (uint256 sum) {
        for (uint256 s = 0; s < _seats.length; ++s) {
            if (!_isOver(s)) sum += _seats[s].job.fee;
        }
    }

    /// @notice Nothing new happens, and everything ends. Any call that fails here is a state without exit.
    function windDown() external {
        _pass(8 * CLAIM_SECONDS);
        for (uint256 s = 0; s < _seats.length; ++s) {
            Seat storage seat = _seats[s];
            JobStatus status = _statusOf(s);
            Terms memory terms = _panels[seat.panel].terms;
            if (status == JobStatus.Claimed) market.expireOnTerms(seat.job, terms);
            else if (status == JobStatus.Sealed) market.breakSeal(seat.job, terms, seat.claim.worker, seat.seal);
            else if (status == JobStatus.Submitted) finalise(uint8(s));
        }
        for (uint256 p = 0; p < _panels.length; ++p) if (!_panels[p].resolved) resolve(uint8(p));
        for (uint8 i = 0; i < 5; ++i) if (panel.owed(actors[i]) != 0) withdraw(i);
        require(_creditOf(address(panel)) == 0, "the panel's contract keeps something");
        require(vault.custody() == 0, "something is left in custody");
        require(feesIn == paidToWorkers + paidToOthers + withdrawn, "fees are lost, or paid twice");
    }

    /// @dev An actor opens a game about a seat's lie. @return claim The lie. @return state The game's.
    function _dispute(uint8 which, uint8 who) private returns (Claim memory claim, PackedState memory state) {
        Seat storage seat = _seats[which % _seats.length];
        require(seat.lie);
        claim = seat.claim;
        Pick memory opening = _openingOf(claim.job, true);
        vm.recordLogs();
        _prankAs(actors[who % 5]);
        state = _stateOf(game.open(claim, 0, opening));
    }
}
