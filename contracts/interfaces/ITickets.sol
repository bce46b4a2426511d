// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ClaimId} from "../types/Ids.sol";
import {ClaimEvidence, SignedClaim, Ticket} from "../types/SignedClaim.sol";
import {IPledgedClaims} from "./IPledgedClaims.sol";

/// @title Signed claims and lottery tickets. A worker signs a claim with each off-chain answer, and the payer then
/// signs a ticket about the claim. A claim goes on chain only for a refutation or with a winning ticket.
/// @dev Two inputs decide whether a ticket wins: a worker's secret, whose hash the claim contains, and the ticket,
/// which is signed after the claim. Neither side knows the draw while still able to choose. Cashing a winner reserves
/// its face from the payer's deposit for the worker; payment follows once the claim is final. Both signatures are
/// EIP-712, for this contract and chain, with s in the lower half. Invariant: this contract holds at least the sum of
/// all deposits, reserved faces and earnings.
interface ITickets {
    error NoCode(address account);
    error DelayTooShort(uint256 given, uint256 least);
    error ZeroAmount();
    error ZeroAddress();
    error WrongSigner(address signer, address expected);
    error WrongClaim(bytes32 given, bytes32 expected);
    error WrongSecret(bytes32 given, bytes32 expected);
    error NotOnChain(bytes32 digest);
    error NotWorker(address account, address worker);
    error AlreadyOnChain(bytes32 digest);
    error TicketExpired(uint256 expiry);
    error TicketLost(uint256 draw, uint256 odds);
    error ZeroFace();
    error FaceTooLarge(uint256 face, uint256 most);
    error AlreadyCashed(bytes32 digest);
    error NotCashed(bytes32 digest);
    error ClaimNotFinal(ClaimId claimId);
    error WorkerStopped(address worker);
    error InsufficientDeposit(address payer, address worker, uint256 deposit, uint256 needed);
    error NothingRequested(address payer, address worker);
    error WithdrawalNotReady(uint256 readyAt);
    error NothingEarned(address worker);

    event SignedClaimSubmitted(bytes32 indexed digest, ClaimId indexed claimId, address indexed worker, address payer);
    event Deposited(address indexed payer, address indexed worker, address from, uint256 amount);
    event WithdrawalRequested(address indexed payer, address indexed worker, uint256 amount, uint256 readyAt);
    event Withdrawn(address indexed payer, address indexed worker, uint256 amount);
    event TicketCashed(bytes32 indexed digest, address indexed payer, address indexed worker, uint256 face);
    event TicketPaid(bytes32 indexed digest, address indexed payer, address indexed worker, uint256 face);
    event TicketReturned(bytes32 indexed digest, address indexed payer, address indexed worker, uint256 face);
    event EarningsWithdrawn(address indexed worker, address indexed to, uint256 amount);

    /* ---- Signed claims ---- */

    /// @notice Puts a signed claim on chain: it is in its window from now on. Anyone who holds it may.
    /// @dev Reverts with `AlreadyOnChain` or `WrongSigner`, with OpenZeppelin's ECDSA errors, and as
    /// `IPledgedClaims.enter`.
    /// @param claim What the worker signed.
    /// @param signature Its signature, 65 bytes.
    /// @param evidence What else the entry needs.
    /// @return claimId The id of the pledged claim.
    function submitSigned(
        SignedClaim calldata claim,
        bytes calldata signature,
        ClaimEvidence calldata evidence
    ) external returns (ClaimId claimId);

    /* ---- Tickets ---- */

    /// @notice Cashes a winning ticket whose claim is on chain: reserves the ticket's face from the payer's deposit for
    /// the worker. Only the worker may call. Among all tickets about a claim, one can be cashed, once.
    /// @dev Reverts with `NotOnChain`, `NotWorker`, `AlreadyCashed`, `WrongClaim`, `TicketExpired`, `ZeroFace`,
    /// `FaceTooLarge`, `WrongSecret`, `TicketLost`, `WrongSigner`, `WorkerStopped` or `InsufficientDeposit`.
    /// @param claim The claim that the worker signed.
    /// @param ticket The ticket that the payer signed.
    /// @param signature The payer's signature, 65 bytes.
    /// @param secret The worker's secret of the claim.
    function cash(
        SignedClaim calldata claim,
        Ticket calldata ticket,
        bytes calldata signature,
        bytes32 secret
    ) external;

    /// @notice Calls `submitSigned`, unless the claim is on chain, and `cash` in one call.
    /// @param claim The claim that the worker signed.
    /// @param claimSignature The worker's signature, 65 bytes.
    /// @param evidence The other data that the entry needs.
    /// @param ticket The ticket that the payer signed.
    /// @param ticketSignature The payer's signature, 65 bytes.
    /// @param secret The worker's secret of the claim.
    /// @return claimId The id of the pledged claim.
    function submitAndCash(
        SignedClaim calldata claim,
        bytes calldata claimSignature,
        ClaimEvidence calldata evidence,
        Ticket calldata ticket,
        bytes calldata ticketSignature,
        bytes32 secret
    ) external returns (ClaimId claimId);

    /// @notice Pays a cashed ticket with a final claim to the worker's earnings. If the worker was stopped because any
    /// of its claims was refuted, the face returns to the payer's deposit. Anyone may call.
    /// @dev Reverts with `NotCashed` or `ClaimNotFinal`.
    /// @param digest EIP-712 digest of the signed claim.
    function collect(bytes32 digest) external;

    /* ---- Money ---- */

    /// @notice Pulls tokens from the caller into the deposit of a payer for a worker.
    /// @dev Reverts with `ZeroAmount` or `ZeroAddress`, and as the token does. All amounts are in smallest units of the
    /// stake asset.
    /// @param payer Whose deposit it is.
    /// @param worker Who may be paid from it.
    /// @param amount What is pulled.
    function deposit(address payer, address worker, uint256 amount) external;

    /// @notice Requests a withdrawal from the caller's deposit. Until withdrawn, the amount still pays winning tickets,
    /// after the rest. A second request adds to the first and restarts the delay.
    /// @dev Reverts with `ZeroAmount` or `InsufficientDeposit`.
    /// @param worker The worker for whom the deposit was made.
    /// @param amount The requested amount.
    function requestWithdrawal(address worker, uint256 amount) external;

    /// @notice Sends the caller the remaining requested amount, after the delay.
    /// @dev Reverts with `NothingRequested` or `WithdrawalNotReady`, and as the token does.
    /// @param worker The worker for whom the deposit was made.
    function withdraw(address worker) external;

    /// @notice Sends all earnings of the caller to any address.
    /// @dev Reverts with `ZeroAddress` or `NothingEarned`, and as the token does.
    /// @param to Who gets them.
    function withdrawEarnings(address to) external;

    /* ---- Views ---- */

    /// @notice What the worker signs: the EIP-712 digest of a claim.
    /// @param claim The claim.
    /// @return The digest.
    function claimDigest(SignedClaim calldata claim) external view returns (bytes32);

    /// @notice What the payer signs: the EIP-712 digest of a ticket.
    /// @param ticket The ticket.
    /// @return The digest.
    function ticketDigest(Ticket calldata ticket) external view returns (bytes32);

    /// @notice The pledged claim that a signed claim became.
    /// @param digest EIP-712 digest of the signed claim.
    /// @return Its id; zero if it is not on chain.
    function claimIdOf(bytes32 digest) external view returns (ClaimId);

    /// @notice A cashed ticket.
    /// @param digest EIP-712 digest of the signed claim.
    /// @return payer Who pays it; zero if none was cashed.
    /// @return worker Whom it pays.
    /// @return face What is reserved for it; 0 once it is paid or returned.
    function cashed(bytes32 digest) external view returns (address payer, address worker, uint256 face);

    /// @notice A payer's deposit for a worker.
    /// @param payer The deposit's owner.
    /// @param worker The worker who may be paid from the deposit.
    /// @return free The amount available for tickets, without requested withdrawals.
    /// @return withdrawing The amount requested for withdrawal.
    /// @return readyAt When the withdrawal is ready (unix time); 0 without a request.
    function depositOf(
        address payer,
        address worker
    ) external view returns (uint256 free, uint256 withdrawing, uint256 readyAt);

    /// @notice What a worker has earned and not withdrawn.
    /// @param worker The worker.
    /// @return Smallest units of the stake asset.
    function earnings(address worker) external view returns (uint256);

    /// @notice Where signed claims are put on chain.
    /// @return Its address.
    function claims() external view returns (IPledgedClaims);

    /// @notice What tickets are paid in: the stake asset.
    /// @return Its address.
    function asset() external view returns (IERC20);

    /// @notice Seconds between asking for a deposit back and having it.
    /// @return Seconds.
    function withdrawalDelay() external view returns (uint256);

    /// @notice Seconds after a claim was issued in which it can be put on chain.
    /// @return Seconds.
    function claimLifetime() external view returns (uint256);
}
