// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPanel, PanelOutcome} from "../../../contracts/interfaces/IPanel.sol";
import {IDisputeGame} from "../../../contracts/interfaces/IDisputeGame.sol";
import {ClaimStatus, IMarketEvents, JobRequest, JobStatus} from "../../../contracts/interfaces/IMarketEvents.sol";
import {PackedState} from "../../../contracts/types/GameState.sol";
import {GameId, JobId} from "../../../contracts/types/Ids.sol";
import {Claim, ClaimKey, Job} from "../../../contracts/types/Job.sol";
import {ProgramFacts} from "../../../contracts/types/Program.sol";
import {Terms} from "../../../contracts/types/Terms.sol";
import {ProtocolWorld} from "./ProtocolWorld.t.sol";
import {Shipped} from "./Shipped.sol";
import {vm, Vm} from "./Vm.sol";

/// @notice The protocol with panels of the five actors, and what was done on them.
abstract contract PanelWorld is ProtocolWorld {
    uint256 internal constant CLAIM_SECONDS = 3_600;
    uint32 internal constant WINDOW = 1_800;

    /// @dev A panel as it was posted.
    struct Posted {
        address poster;
        bytes request;
        uint128 fee;
        Terms terms;
        uint40 auditUntil;
        bool added;
        bool resolved;
        bool proved;
        uint256[] seats;
    }

    /// @dev A seat, and what its worker did with it.
    struct Seat {
        uint256 panel;
        Job job;
        Claim claim;
        bytes32 seal;
        bool lie;
    }

    IPanel public immutable panel;
    Posted[] internal _panels;
    Seat[] internal _seats;
    /// @dev Fees that came in, and went out to workers, to who closed seats, and to posters.
    uint256 public feesIn;
    uint256 public paidToWorkers;
    uint256 public paidToOthers;
    uint256 public withdrawn;
    /// @notice What a panel did that it should not, and the last of it.
    uint256 public wrongs;
    string public wrong;

    constructor() {
        panel = IPanel(Shipped.deploy("contracts/extras/panel/Panel.sol:Panel", abi.encode(market)));
        for (uint256 i = 0; i < 5; ++i) {
            _prankAs(actors[i]);
            token.approve(address(panel), type(uint256).max);
        }
    }

    /// @dev What the next panel asks.
    function _request(uint128 fee) internal view returns (JobRequest memory request) {
        request.program = program();
        request.items = 1;
        request.fee = fee;
        request.window = WINDOW;
        request.claimSeconds = uint32(CLAIM_SECONDS);
        request.deadline = uint64(_now + 2 * CLAIM_SECONDS);
        request.salt = bytes32(_panels.length + 1);
        request.answer = _panels.length % 2 == 0;
        request.terms = new Terms[](1);
        Terms memory terms = request.terms[0];
        terms.collateral = _parameters().collateral;
        terms.openFrom = uint40(request.deadline + 2 * CLAIM_SECONDS + 1);
        (terms.maxRefuted, terms.maxLate) = (type(uint16).max, type(uint16).max);
    }

    function _isWrong(string memory what) internal {
        ++wrongs;
        wrong = what;
    }

    function _statusOf(uint256 seat) internal view returns (JobStatus status) {
        (status, , , ) = market.jobOf(market.jobIdOf(_seats[seat].job));
    }

    /// @dev Whether a seat has a final claim, or ended without one.
    function _isOver(uint256 seat) internal view returns (bool) {
        JobStatus status = _statusOf(seat);
        return status == JobStatus.Closed || status == JobStatus.Finalised || status == JobStatus.Complete;
    }

    function _pass(uint256 secondsOn) internal {
        _now += secondsOn;
        vm.warp(_now);
    }

    /// @dev The jobs that were posted since logs are recorded.
    function _takeSeats(uint256 p) internal {
        Vm.Log[] memory logs = vm.getRecordedLogs();
        for (uint256 i = 0; i < logs.length; ++i) {
            bytes32 topic = logs[i].topics[0];
            if (logs[i].emitter != address(market) || topic != IMarketEvents.JobPosted.selector) continue;
            (Job memory job, , ) = abi.decode(logs[i].data, (Job, ProgramFacts, bytes32[]));
            _panels[p].seats.push(_seats.length);
            _seats.push();
            (_seats[_seats.length - 1].panel, _seats[_seats.length - 1].job) = (p, job);
        }
    }

    function _first(uint256 p) internal view returns (Job memory) {
        return _seats[_panels[p].seats[0]].job;
    }

    function _idOf(uint256 p) internal view returns (JobId) {
        return market.jobIdOf(_first(p));
    }

    function _requestOf(uint256 p) internal view returns (JobRequest memory) {
        return abi.decode(_panels[p].request, (JobRequest));
    }

    /// @dev The claim of each seat, as far as it was sealed.
    function _keysOf(uint256 p) internal view returns (ClaimKey[] memory keys) {
        uint256[] memory seats = _panels[p].seats;
        keys = new ClaimKey[](seats.length);
        for (uint256 k = 0; k < seats.length; ++k) {
            Seat storage seat = _seats[seats[k]];
            keys[k] = ClaimKey(market.jobIdOf(seat.job), seat.claim.worker, seat.claim.root, seat.claim.collateral);
        }
    }

    /// @dev Whether all seats have a claim that is not refuted, with one root.
    function _alike(uint256 p) internal view returns (bool alike, bytes32 root) {
        ClaimKey[] memory keys = _keysOf(p);
        (alike, root) = (true, keys[0].root);
        for (uint256 k = 0; k < keys.length; ++k) {
            (ClaimStatus status, , , , ) = market.claimOf(keys[k]);
            bool stands = status == ClaimStatus.Submitted || status == ClaimStatus.Finalised;
            alike = alike && stands && keys[k].root == root;
        }
    }

    /// @dev How a panel must end, by the claims of its seats.
    function _endOf(uint256 p) internal view returns (PanelOutcome outcome, bytes32 root, uint256 finals) {
        ClaimKey[] memory keys = _keysOf(p);
        outcome = PanelOutcome.Failed;
        for (uint256 k = 0; k < keys.length; ++k) {
            (ClaimStatus status, , , , ) = market.claimOf(keys[k]);
            if (status != ClaimStatus.Finalised) continue;
            if (finals++ == 0) (outcome, root) = (PanelOutcome.Survived, keys[k].root);
            else if (keys[k].root != root) outcome = PanelOutcome.Split;
        }
        // All lies of a panel are alike.
        if (outcome == PanelOutcome.Survived && _panels[p].proved && root == claimRoot(_first(p), true))
            outcome = PanelOutcome.Split;
        if (outcome == PanelOutcome.Split) root = 0;
    }

    /// @dev The state that a game was opened with.
    function _stateOf(GameId gameId) internal returns (PackedState memory) {
        Vm.Log[] memory logs = vm.getRecordedLogs();
        for (uint256 i = 0; i < logs.length; ++i) {
            bool isIts = logs[i].emitter == address(game) && logs[i].topics[1] == GameId.unwrap(gameId);
            if (isIts && logs[i].topics[0] == IDisputeGame.Picked.selector)
                return abi.decode(logs[i].data, (PackedState));
        }
        revert("no such game");
    }
}
