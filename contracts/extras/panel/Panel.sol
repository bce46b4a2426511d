// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {Fees} from "../../consumer/Fees.sol";
import {IJobMarket} from "../../interfaces/IJobMarket.sol";
import {ClaimStatus, Delivery, JobRequest, JobStatus} from "../../interfaces/IMarketEvents.sol";
import {IPanel, PanelOutcome} from "../../interfaces/IPanel.sol";
import {IStakeVault} from "../../interfaces/IStakeVault.sol";
import {JobId} from "../../types/Ids.sol";
import {Claim, ClaimKey, Job, JobIds} from "../../types/Job.sol";
import {Terms} from "../../types/Terms.sol";
import {PanelFees} from "./PanelFees.sol";

/**
 * @title Panels. See IPanel.
 * @dev The states of a panel:
 *
 *   from         | call     | caller, when                         | to        | money
 *   -------------|----------|--------------------------------------|-----------|-------------------------------------
 *   None         | post     | anyone                               | Open      | fees to the seats, one kept for a seat
 *                |          |                                      |           | that may be added
 *   Open         | addSeat  | the poster, between seals and        | Open      | the kept fee to the added seat
 *                |          | openings                             |           |
 *   Open         | agree    | anyone, all seats opened alike       | Agreed    |
 *   Open, Agreed | resolve  | anyone, all seats over               | Survived, | fees of closed seats, and a kept one,
 *                |          |                                      | Split,    | are owed to the poster
 *                |          |                                      | Failed    |
 */
contract Panel is IPanel {
    using JobIds for Job;

    /// @notice The maximum number of seats on a panel, without an added seat. All calls stay below 12 M gas.
    uint256 public constant MAX_SEATS = 16;

    /// @dev The stored state of a panel, in one word. `seats` counts the posted seats.
    struct Record {
        address poster;
        uint40 auditUntil;
        uint8 seats;
        bool added;
        PanelOutcome outcome;
    }

    /// @inheritdoc IPanel
    IJobMarket public immutable market;
    /// @inheritdoc IPanel
    IStakeVault public immutable vault;
    /// @inheritdoc IPanel
    IERC20 public immutable asset;

    mapping(JobId panelId => Record) private _panels;
    mapping(JobId panelId => bytes32) private _roots;
    /// @inheritdoc IPanel
    mapping(address account => uint256) public owed;

    /// @param market_ The market whose jobs the seats are.
    constructor(IJobMarket market_) {
        market = market_;
        vault = market_.vault();
        asset = vault.asset();
    }

    /* ---- Calls ---- */

    /// @inheritdoc IPanel
    function post(JobRequest calldata request, uint8 seats, uint40 auditUntil) external returns (JobId panelId) {
        require(seats != 0 && seats <= MAX_SEATS, SeatsOutOfRange(seats, MAX_SEATS));
        require(_isFit(request), UnfitRequest());
        if (auditUntil != 0) {
            uint256 earliest = uint256(request.deadline) + request.claimSeconds + 1;
            uint256 latest = request.terms[0].openFrom - 1;
            // INVARIANT: an added seat is sealed before the first seat opens.
            require(auditUntil >= earliest && auditUntil <= latest, AuditOutOfRange(auditUntil, earliest, latest));
        }
        Fees.collect(vault, asset, msg.sender, PanelFees.total(request.fee, seats, auditUntil));
        JobRequest memory seat = request;
        // SAFETY: nobody can post another's panel first, and groups of different panels exclude nobody.
        seat.salt = keccak256(abi.encode(msg.sender, request.salt));
        seat.terms[0].group = seat.salt;
        JobId[] memory jobs = new JobId[](seats);
        panelId = market.post(seat);
        // SAFETY: later seats are open without bytes. Nobody could judge their claims if the first one's were withheld.
        (JobStatus status, , , ) = market.jobOf(panelId);
        require(status == JobStatus.Open, UnfitRequest());
        jobs[0] = panelId;
        _panels[panelId] = Record(msg.sender, auditUntil, seats, false, PanelOutcome.Open);
        for (uint256 k = 1; k < seats; ++k) jobs[k] = _postLater(seat, panelId, k);
        emit PanelPosted(panelId, msg.sender, jobs, auditUntil);
    }

    /// @inheritdoc IPanel
    function addSeat(Job calldata first, JobRequest calldata request) external returns (JobId jobId) {
        (JobId panelId, Record storage record) = _panel(first);
        require(record.outcome == PanelOutcome.Open, WrongOutcome(panelId, record.outcome));
        require(msg.sender == record.poster, NotPoster(msg.sender, record.poster));
        require(record.auditUntil != 0 && !record.added, NoSeatToAdd(panelId));
        // SAFETY: a worker who saw the seat before sealing would know about the check.
        require(block.timestamp > first.deadline, TooSoonToAdd(uint256(first.deadline) + 1));
        record.added = true;
        JobId expected = _seat(panelId, record, first, record.seats).newJobId(address(market));
        require(request.terms.length == 1, OtherRequest(JobId.wrap(0), expected));
        JobRequest memory seat = request;
        seat.terms[0].group = first.salt;
        seat.deadline = record.auditUntil;
        jobId = _postLater(seat, panelId, record.seats);
        // INVARIANT: the seat asks the panel's question, for the fee that was kept.
        require(jobId == expected, OtherRequest(jobId, expected));
        emit SeatAdded(panelId, jobId);
    }

    /// @inheritdoc IPanel
    function agree(Job calldata first, ClaimKey[] calldata claims) external {
        (JobId panelId, Record storage record) = _panel(first);
        require(record.outcome == PanelOutcome.Open, WrongOutcome(panelId, record.outcome));
        _requireCount(record, claims);
        bytes32 root = claims[0].root;
        for (uint256 k = 0; k < claims.length; ++k) {
            _requireSeat(panelId, record, first, k, claims[k]);
            (ClaimStatus status, , , , ) = market.claimOf(claims[k]);
            require(status == ClaimStatus.Submitted || status == ClaimStatus.Finalised, SeatNotOpened(k));
            require(claims[k].root == root, SeatDisagrees(k, claims[k].root, root));
        }
        record.outcome = PanelOutcome.Agreed;
        _roots[panelId] = root;
        emit PanelAgreed(panelId, root);
    }

    /// @inheritdoc IPanel
    function resolve(Job calldata first, ClaimKey[] calldata claims) external returns (PanelOutcome outcome) {
        (JobId panelId, Record storage record) = _panel(first);
        bool isLive = record.outcome == PanelOutcome.Open || record.outcome == PanelOutcome.Agreed;
        require(isLive, WrongOutcome(panelId, record.outcome));
        _requireCount(record, claims);
        // The fee kept for a seat that was not added. INVARIANT: a resolved panel gets no added seat.
        uint256 refund = PanelFees.kept(first.fee, record.auditUntil, record.added);
        bytes32 root = 0;
        outcome = PanelOutcome.Failed;
        for (uint256 k = 0; k < claims.length; ++k) {
            Job memory job = _seat(panelId, record, first, k);
            (bool closed, uint256 amount) = _closed(job, k);
            refund += amount;
            if (closed) continue;
            _requireSeat(panelId, record, first, k, claims[k]);
            (ClaimStatus status, , , , ) = market.claimOf(claims[k]);
            require(status == ClaimStatus.Finalised, NotTheFinalClaim(k, claims[k].root));
            if (outcome == PanelOutcome.Failed) (outcome, root) = (PanelOutcome.Survived, claims[k].root);
            else if (claims[k].root != root) outcome = PanelOutcome.Split;
        }
        // SAFETY: seats that nobody disputed do not save a root that a proof refuted on another seat.
        if (outcome == PanelOutcome.Survived && market.game().provedWrong(first.questionId(), root))
            outcome = PanelOutcome.Split;
        if (outcome == PanelOutcome.Split) root = 0;
        record.outcome = outcome;
        _roots[panelId] = root;
        owed[record.poster] += refund;
        emit PanelResolved(panelId, outcome, root, refund);
    }

    /// @inheritdoc IPanel
    function withdraw() external returns (uint256 amount) {
        amount = owed[msg.sender];
        require(amount != 0, NothingOwed(msg.sender));
        // SAFETY: forgotten before the asset can call back in: each fee goes out once.
        owed[msg.sender] = 0;
        emit Withdrawn(msg.sender, amount);
        vault.withdraw(amount, msg.sender);
    }

    /* ---- Views ---- */

    /// @inheritdoc IPanel
    function requireOutput(Job calldata first, bool orAgreed, uint256 item, Delivery calldata delivery) external view {
        (JobId panelId, Record storage record) = _panel(first);
        PanelOutcome outcome = record.outcome;
        bool holds = outcome == PanelOutcome.Survived || (orAgreed && outcome == PanelOutcome.Agreed);
        require(holds, WrongOutcome(panelId, outcome));
        // SAFETY: an agreement ends when a claim of a seat is refuted, also before anybody records that.
        if (outcome == PanelOutcome.Agreed) _requireClaims(panelId, record, first);
        market.checkOutput(Claim(first, address(0), _roots[panelId], 0), item, delivery);
    }

    /// @inheritdoc IPanel
    function panelOf(
        JobId panelId
    )
        external
        view
        returns (address poster, uint256 seats, bool added, uint256 auditUntil, PanelOutcome outcome, bytes32 root)
    {
        Record storage record = _panels[panelId];
        seats = _seatsOf(record);
        return (record.poster, seats, record.added, record.auditUntil, record.outcome, _roots[panelId]);
    }

    /// @inheritdoc IPanel
    function seatOf(Job calldata first, uint256 seat) external view returns (Job memory job) {
        (JobId panelId, Record storage record) = _panel(first);
        return _seat(panelId, record, first, seat);
    }

    /* ---- Helpers ---- */

    /// @dev Whether the jobs of a request can be seats: sealed, and ended by nobody but the market.
    function _isFit(JobRequest calldata request) private pure returns (bool) {
        if (request.terms.length != 1 || request.callbackGas != 0 || request.maxOutputBytes != 0) return false;
        Terms calldata terms = request.terms[0];
        return terms.openFrom != 0 && !terms.earlyAccept && terms.reservedFor == address(0);
    }

    /// @dev Returns the panel of a first job, and the panel's id.
    function _panel(Job calldata first) private view returns (JobId panelId, Record storage record) {
        panelId = first.jobId(address(market));
        record = _panels[panelId];
    }

    /// @dev Posts a seat after the first: the later seat uses the first seat's input bytes.
    function _postLater(JobRequest memory seat, JobId panelId, uint256 k) private returns (JobId) {
        seat.salt = _saltOf(panelId, k);
        seat.inputs = new bytes[](0);
        seat.rootOnly = true;
        return market.post(seat);
    }

    /// @dev Returns the job of a seat. An added seat comes last and has a different deadline.
    function _seat(
        JobId panelId,
        Record storage record,
        Job calldata first,
        uint256 k
    ) private view returns (Job memory job) {
        job = first;
        if (k == 0) return job;
        job.salt = _saltOf(panelId, k);
        job.rootOnly = true;
        if (k == record.seats) job.deadline = record.auditUntil;
    }

    /// @dev The number of seats, with an added one.
    function _seatsOf(Record storage record) private view returns (uint256) {
        return record.seats + (record.added ? 1 : 0);
    }

    function _saltOf(JobId panelId, uint256 k) private pure returns (bytes32) {
        return keccak256(abi.encode(panelId, k));
    }

    /// @dev Returns whether a seat ended without a claim, and the returned part of its fee. Ends a seat that nobody
    /// took.
    function _closed(Job memory job, uint256 k) private returns (bool closed, uint256 amount) {
        (JobStatus status, , , ) = market.jobOf(job.newJobId(address(market)));
        if (status == JobStatus.Open || status == JobStatus.AwaitingInput) {
            market.expire(job);
            status = JobStatus.Closed;
        }
        bool isFinal = status == JobStatus.Finalised || status == JobStatus.Complete;
        require(isFinal || status == JobStatus.Closed, SeatNotOver(k, status));
        (, amount) = market.refundOf(job);
        return (!isFinal, amount);
    }

    /// @dev Requires that no seat's claim was refuted, once all seats had claims.
    function _requireClaims(JobId panelId, Record storage record, Job calldata first) private view {
        uint256 seats = _seatsOf(record);
        for (uint256 k = 0; k < seats; ++k) {
            (JobStatus status, , , ) = market.jobOf(_seat(panelId, record, first, k).newJobId(address(market)));
            // A refuted claim's job is open or closed again.
            bool isClaimed =
                status == JobStatus.Submitted || status == JobStatus.Finalised || status == JobStatus.Complete;
            require(isClaimed, SeatNotOpened(k));
        }
    }

    /// @dev Requires a claim for each seat.
    function _requireCount(Record storage record, ClaimKey[] calldata claims) private view {
        uint256 seats = _seatsOf(record);
        require(claims.length == seats, WrongClaimCount(claims.length, seats));
    }

    /// @dev Reverts unless a claim belongs to a seat's job.
    function _requireSeat(
        JobId panelId,
        Record storage record,
        Job calldata first,
        uint256 k,
        ClaimKey calldata key
    ) private view {
        JobId jobId = _seat(panelId, record, first, k).newJobId(address(market));
        require(key.jobId == jobId, NotTheSeat(k, key.jobId, jobId));
    }
}
