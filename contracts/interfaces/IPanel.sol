// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ClaimKey, Job} from "../types/Job.sol";
import {Delivery, JobRequest, JobStatus} from "./IMarketEvents.sol";
import {IJobMarket} from "./IJobMarket.sol";
import {IStakeVault} from "./IStakeVault.sol";

/// @notice None: no such panel. Open: seats are sealed and opened. Agreed: all seats were opened with one root; their
/// windows go on. Survived: all seats are over, and all final claims have one root. Split: there are final claims with
/// different roots, so that there is no result. Failed: no claim became final.
enum PanelOutcome {
    None,
    Open,
    Agreed,
    Survived,
    Split,
    Failed
}

/// @title Panels: one question, asked of several workers that cannot see each other's answers.
/// @dev The seats of a panel are jobs of the market with sealed submissions and one group, so that a worker takes one
/// seat. Nothing is voted on: a claim that is wrong is refuted on the market, by anybody, whatever the panel says.
/// A panel's id is that of its first seat's job. The jobs of all other seats follow from that job's content, so calls
/// bring it. Invariant: what this contract has in the vault is at least what it owes and holds for added seats.
interface IPanel {
    error SeatsOutOfRange(uint256 given, uint256 most);
    error UnfitRequest();
    error AuditOutOfRange(uint256 auditUntil, uint256 earliest, uint256 latest);
    error WrongOutcome(bytes32 panelId, PanelOutcome actual);
    error NotPoster(address caller, address poster);
    error NoSeatToAdd(bytes32 panelId);
    error TooSoonToAdd(uint256 from);
    error OtherRequest(bytes32 jobId, bytes32 expected);
    error WrongClaimCount(uint256 given, uint256 seats);
    error NotTheSeat(uint256 seat, bytes32 jobId, bytes32 expected);
    error SeatNotOpened(uint256 seat);
    error SeatDisagrees(uint256 seat, bytes32 root, bytes32 first);
    error SeatNotOver(uint256 seat, JobStatus status);
    error NotTheFinalClaim(uint256 seat, bytes32 root);
    error NothingOwed(address account);

    event PanelPosted(bytes32 indexed panelId, address indexed poster, bytes32[] jobs, uint256 auditUntil);
    event SeatAdded(bytes32 indexed panelId, bytes32 indexed jobId);
    event PanelAgreed(bytes32 indexed panelId, bytes32 root);
    event PanelResolved(bytes32 indexed panelId, PanelOutcome outcome, bytes32 root, uint256 refund);
    event Withdrawn(address indexed account, uint256 amount);

    /// @notice Posts a panel. The fees of all seats, and of one more if a seat may be added, are taken from the caller
    /// in the stake asset, which it must have approved to this contract.
    /// @dev Reverts with `SeatsOutOfRange`, `UnfitRequest` or `AuditOutOfRange`, with `FeeNotArrived`, and as the asset
    /// and the market's `post` do.
    /// @param request What is asked for, with sealed terms (`openFrom`). No callback, no deliverable outputs, no early
    /// acceptance and no reservation: anybody proves outputs by `requireOutput`. The salt is replaced by a hash of it
    /// and the caller, and the terms' group by that hash. Input bytes are posted with the first seat only.
    /// @param seats Workers that are asked, 1 to `MAX_SEATS`.
    /// @param auditUntil Unix time by which an added seat is sealed, between the request's deadline and `openFrom`; 0:
    /// none is added.
    /// @return panelId The panel's id.
    function post(JobRequest calldata request, uint8 seats, uint40 auditUntil) external returns (bytes32 panelId);

    /// @notice The poster adds a seat once the others are sealed: a worker that seals does not know whether it is
    /// alone. The fee was taken when the panel was posted.
    /// @dev Reverts with `WrongOutcome`, `NotPoster`, `NoSeatToAdd`, `TooSoonToAdd` or `OtherRequest`, and as the
    /// market's `post`.
    /// @param first The job of the first seat.
    /// @param request The request as it was posted.
    /// @return jobId The job of the added seat.
    function addSeat(Job calldata first, JobRequest calldata request) external returns (bytes32 jobId);

    /// @notice Notes that all seats were opened with one root. Anyone may call. The claims can still be refuted.
    /// @dev Reverts with `WrongOutcome`, `WrongClaimCount`, `NotTheSeat`, `SeatNotOpened` or `SeatDisagrees`.
    /// @param first The job of the first seat.
    /// @param claims The claim of each seat, in the seats' order.
    function agree(Job calldata first, ClaimKey[] calldata claims) external;

    /// @notice Notes how a panel ended, once all its seats are over, and what of the fees is the poster's. Closes seats
    /// that nobody took. Anyone may call.
    /// @dev Reverts with `WrongOutcome`, `WrongClaimCount`, `NotTheSeat`, `NotTheFinalClaim` or `SeatNotOver`, and
    /// with the market's `TimeNotUp` while a seat may still be taken.
    /// @param first The job of the first seat.
    /// @param claims The final claim of each seat, in the seats' order; of a seat without one, anything.
    /// @return outcome How it ended.
    function resolve(Job calldata first, ClaimKey[] calldata claims) external returns (PanelOutcome outcome);

    /// @notice Sends the caller what it is owed of the fees.
    /// @dev Reverts with `NothingOwed`.
    /// @return amount Smallest units of the stake asset.
    function withdraw() external returns (uint256 amount);

    /// @notice Requires that an output is part of the panel's result: for contracts that read it.
    /// @dev Reverts with `WrongOutcome`, and as the market's `checkOutput`.
    /// @param first The job of the first seat.
    /// @param orAgreed Whether `Agreed` is taken: at once, before anybody had the time to refute it.
    /// @param item Number of the item, from 0.
    /// @param delivery The output, and its opening.
    function requireOutput(Job calldata first, bool orAgreed, uint256 item, Delivery calldata delivery) external view;

    /// @notice What is kept of a panel.
    /// @param panelId The panel.
    /// @return poster Who posted it.
    /// @return seats Its seats, with one that was added.
    /// @return added Whether one was added.
    /// @return auditUntil Until when one may be; 0: none.
    /// @return outcome How far it is.
    /// @return root The result's root, if it is agreed or survived.
    function panelOf(
        bytes32 panelId
    )
        external
        view
        returns (address poster, uint256 seats, bool added, uint256 auditUntil, PanelOutcome outcome, bytes32 root);

    /// @notice The job of a seat, as the market knows it.
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
