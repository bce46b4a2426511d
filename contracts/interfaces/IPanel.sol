// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {JobId} from "../types/Ids.sol";
import {ClaimKey, Job} from "../types/Job.sol";
import {Delivery, JobRequest, JobStatus} from "./IMarketEvents.sol";
import {IJobMarket} from "./IJobMarket.sol";
import {IStakeVault} from "./IStakeVault.sol";

/// @notice None: no such panel. Open: seats are being sealed and opened. Agreed: all seats were opened with one root;
/// their windows go on, and the agreement holds until a claim is refuted (`requireOutput`). Survived: all seats are
/// over, all final claims have one root, and no proof refuted that root on another seat. Split: final claims have
/// different roots, or a root that a proof refuted, and no result exists. Failed: no claim became final.
enum PanelOutcome {
    None,
    Open,
    Agreed,
    Survived,
    Split,
    Failed
}

/// @title Panels: one question, asked of several workers that cannot see each other's answers.
/// @dev A panel's seats are market jobs with sealed submissions and one group, which limits a worker to one seat.
/// Nothing is voted on: anybody can refute a wrong claim on the market, whatever the panel reports. A panel's id equals
/// the id of its first seat's job. The jobs of all other seats follow from the first job's content, and calls therefore
/// include this content. Invariant: this contract's vault credit covers at least its debts and its holdings for added
/// seats.
interface IPanel {
    error SeatsOutOfRange(uint256 given, uint256 most);
    error UnfitRequest();
    error AuditOutOfRange(uint256 auditUntil, uint256 earliest, uint256 latest);
    error WrongOutcome(JobId panelId, PanelOutcome actual);
    error NotPoster(address caller, address poster);
    error NoSeatToAdd(JobId panelId);
    error TooSoonToAdd(uint256 from);
    error OtherRequest(JobId jobId, JobId expected);
    error WrongClaimCount(uint256 given, uint256 seats);
    error NotTheSeat(uint256 seat, JobId jobId, JobId expected);
    error SeatNotOpened(uint256 seat);
    error SeatDisagrees(uint256 seat, bytes32 root, bytes32 first);
    error SeatNotOver(uint256 seat, JobStatus status);
    error NotTheFinalClaim(uint256 seat, bytes32 root);
    error NothingOwed(address account);

    event PanelPosted(JobId indexed panelId, address indexed poster, JobId[] jobs, uint256 auditUntil);
    event SeatAdded(JobId indexed panelId, JobId indexed jobId);
    event PanelAgreed(JobId indexed panelId, bytes32 root);
    event PanelResolved(JobId indexed panelId, PanelOutcome outcome, bytes32 root, uint256 refund);
    event Withdrawn(address indexed account, uint256 amount);

    /// @notice Posts a panel. The fees of all seats, including a seat that may be added later, are taken from the
    /// caller in the stake asset. The caller must have approved them to this contract.
    /// @dev Reverts with `SeatsOutOfRange`, `UnfitRequest` or `AuditOutOfRange`, with `FeeNotArrived`, and as the asset
    /// and the market's `post` do.
    /// @param request The request, with sealed terms (`openFrom`). No callback, no deliverable outputs, no early
    /// acceptance and no reservation: anybody proves outputs by `requireOutput`. A hash of salt and caller replaces the
    /// salt, and the same hash replaces the terms' group. Input bytes are posted with the first seat only.
    /// @param seats Number of workers asked, 1 to `MAX_SEATS`.
    /// @param auditUntil Unix time by which an added seat must be sealed, between the request's deadline and
    /// `openFrom`; 0: no seat is added.
    /// @return panelId The panel's id.
    function post(JobRequest calldata request, uint8 seats, uint40 auditUntil) external returns (JobId panelId);

    /// @notice The poster adds a seat once the other seats are sealed: a worker that seals does not know whether
    /// another seat will be added. The fee was taken when the panel was posted.
    /// @dev Reverts with `WrongOutcome`, `NotPoster`, `NoSeatToAdd`, `TooSoonToAdd` or `OtherRequest`, and as the
    /// market's `post`.
    /// @param first The job of the first seat.
    /// @param request The request as posted.
    /// @return jobId The job of the added seat.
    function addSeat(Job calldata first, JobRequest calldata request) external returns (JobId jobId);

    /// @notice Records that all seats were opened with one root. Anyone may call. The claims can still be refuted.
    /// @dev Reverts with `WrongOutcome`, `WrongClaimCount`, `NotTheSeat`, `SeatNotOpened` or `SeatDisagrees`.
    /// @param first The job of the first seat.
    /// @param claims The claim of each seat, in the seats' order.
    function agree(Job calldata first, ClaimKey[] calldata claims) external;

    /// @notice Records a panel's outcome once all seats are over, and the fees returned to the poster. Closes seats
    /// that nobody took. Anyone may call.
    /// @dev Reverts with `WrongOutcome`, `WrongClaimCount`, `NotTheSeat`, `NotTheFinalClaim` or `SeatNotOver`, and with
    /// the market's `TimeNotUp` while a seat may still be taken.
    /// @param first The job of the first seat.
    /// @param claims The final claim of each seat, in the seats' order; for a seat without a final claim, any value.
    /// @return outcome The panel's outcome.
    function resolve(Job calldata first, ClaimKey[] calldata claims) external returns (PanelOutcome outcome);

    /// @notice Sends the caller all owed fees.
    /// @dev Reverts with `NothingOwed`.
    /// @return amount Smallest units of the stake asset.
    function withdraw() external returns (uint256 amount);

    /// @notice Requires that an output belongs to the panel's result: for contracts that read results. An agreed result
    /// ends when the claim of a seat is refuted.
    /// @dev Who posts a panel chooses its terms: classes, manufacturers and the age of stake may admit the poster's own
    /// workers only. A contract that reads panels of strangers requires a `first.termsHash` that it knows.
    /// Reverts with `WrongOutcome`, with `SeatNotOpened` for an agreed panel with a refuted claim, and as the market's
    /// `checkOutput`.
    /// @param first The job of the first seat.
    /// @param orAgreed Whether `Agreed` suffices: at once, before anybody had time for a refutation.
    /// @param item Number of the item, from 0.
    /// @param delivery The output, and its opening.
    function requireOutput(Job calldata first, bool orAgreed, uint256 item, Delivery calldata delivery) external view;

    /// @notice The stored state of a panel.
    /// @param panelId The panel.
    /// @return poster The account that posted the panel.
    /// @return seats Number of seats, including an added seat.
    /// @return added Whether a seat was added.
    /// @return auditUntil Until when a seat may be added; 0: none.
    /// @return outcome The panel's current outcome.
    /// @return root The result's root, for an agreed or survived panel.
    function panelOf(
        JobId panelId
    )
        external
        view
        returns (address poster, uint256 seats, bool added, uint256 auditUntil, PanelOutcome outcome, bytes32 root);

    /// @notice The job of a seat, in the market's format.
    /// @param first The job of the first seat.
    /// @param seat Number of the seat, from 0.
    /// @return job The whole job.
    function seatOf(Job calldata first, uint256 seat) external view returns (Job memory job);

    /// @notice What an account can withdraw.
    /// @param account The account.
    /// @return amount Smallest units of the stake asset.
    function owed(address account) external view returns (uint256 amount);

    /// @notice The market whose jobs the seats are.
    /// @return Its address.
    function market() external view returns (IJobMarket);

    /// @notice The market's vault.
    /// @return Its address.
    function vault() external view returns (IStakeVault);

    /// @notice The stake asset, in which fees are paid.
    /// @return Its address.
    function asset() external view returns (IERC20);
}
