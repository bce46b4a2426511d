// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {PanelOutcome} from "../../../contracts/interfaces/IPanel.sol";
import {Delivery, JobRequest, JobStatus} from "../../../contracts/interfaces/IMarketEvents.sol";
import {ClaimKey, Job} from "../../../contracts/types/Job.sol";
import {PanelWorld} from "./PanelWorld.t.sol";

/// @notice What nobody may do with panels: each such call must revert.
abstract contract PanelTrespasses is PanelWorld {
    /// @notice A panel whose seats are not sealed, are given away or end by themselves, or that could be checked after
    /// its seats are opened; or too many seats.
    function postWrongly(uint8 who, uint8 how) external {
        JobRequest memory request = _request(1);
        (uint8 seats, uint40 auditUntil, uint8 what) = (2, 0, how % 8);
        if (what == 0) request.terms[0].openFrom = 0;
        else if (what == 1) request.terms[0].earlyAccept = true;
        else if (what == 2) request.terms[0].reservedFor = actors[0];
        else if (what == 3) auditUntil = request.terms[0].openFrom;
        else if (what == 4) auditUntil = uint40(request.deadline) + request.claimSeconds;
        else if (what == 5) seats = 17;
        else if (what == 6) request.callbackGas = 100_000;
        else request.maxOutputBytes = 2_048;
        _refused(actors[who % 5], abi.encodeCall(panel.post, (request, seats, auditUntil)), "an unfit panel is posted");
    }

    /// @notice A seat that is added by a stranger, too early or too late, or that asks something else.
    function addWrongly(uint8 which, uint8 who) external {
        uint256 p = which % _panels.length;
        Posted storage posted = _panels[p];
        (Job memory first, JobRequest memory request) = (_first(p), _requestOf(p));
        bytes memory call = abi.encodeCall(panel.addSeat, (first, request));
        if (actors[who % 5] != posted.poster) _refused(actors[who % 5], call, "a stranger adds a seat");
        bool may = posted.auditUntil != 0 && !posted.added && !posted.resolved && _now > first.deadline;
        if (!may) _refused(posted.poster, call, "a seat is added that may not be");
        ++request.window;
        _refused(posted.poster, abi.encodeCall(panel.addSeat, (first, request)), "another question is added");
    }

    /// @notice Ends by too few claims, by those of other seats, by others than became final; and a second end.
    function endWrongly(uint8 which) external {
        uint256 p = which % _panels.length;
        (Job memory first, ClaimKey[] memory keys) = (_first(p), _keysOf(p));
        if (_panels[p].resolved) {
            _endsBy(first, keys, "a panel ends again");
            return;
        }
        ClaimKey[] memory fewer = new ClaimKey[](keys.length - 1);
        for (uint256 k = 0; k < fewer.length; ++k) fewer[k] = keys[k];
        _endsBy(first, fewer, "a panel ends by the claims of some seats");
        if (_isFinal(_panels[p].seats[0])) {
            bytes32 root = keys[0].root;
            keys[0].root = ~root;
            _endsBy(first, keys, "a panel ends by a claim that is not final");
            keys[0].root = root;
        }
        if (keys.length == 1) return;
        keys[1] = keys[0];
        bytes memory call = abi.encodeCall(panel.agree, (first, keys));
        _refused(SINK, call, "a panel agrees by one seat's claim for two");
        call = abi.encodeCall(panel.resolve, (first, keys));
        if (_isFinal(_panels[p].seats[1])) _refused(SINK, call, "a panel ends by one seat's claim for two");
    }

    /// @notice Reads an output of a panel: of one that survived, or that agrees for who takes that.
    function readOutput(uint8 which) external {
        uint256 p = which % _panels.length;
        Job memory first = _first(p);
        (, , , , PanelOutcome outcome, bytes32 root) = panel.panelOf(_idOf(p));
        bool lie = root == claimRoot(first, true);
        Delivery memory output = Delivery(program(), 0, _tensor(lie), _pathOf(first, 0, lie));
        for (uint256 i = 0; i < 2; ++i) {
            // What was agreed holds as long as no seat's claim is refuted.
            (bool alike, ) = _alike(p);
            bool may = outcome == PanelOutcome.Survived || (i == 1 && outcome == PanelOutcome.Agreed && alike);
            (bool taken, ) = address(panel).call(abi.encodeCall(panel.requireOutput, (first, i == 1, 0, output)));
            if (taken != may) _isWrong("an output is read that is no result, or is not");
        }
    }

    function _isFinal(uint256 seat) private view returns (bool) {
        JobStatus status = _statusOf(seat);
        return status == JobStatus.Finalised || status == JobStatus.Complete;
    }

    function _endsBy(Job memory first, ClaimKey[] memory keys, string memory what) private {
        _refused(SINK, abi.encodeCall(panel.resolve, (first, keys)), what);
        _refused(SINK, abi.encodeCall(panel.agree, (first, keys)), what);
    }

    function _refused(address by, bytes memory call, string memory what) private {
        _prankAs(by);
        (bool taken, ) = address(panel).call(call);
        if (taken) _isWrong(what);
    }
}
