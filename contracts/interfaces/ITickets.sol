// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {Landing, SignedClaim, Ticket} from "../types/SignedClaim.sol";
import {IPledgedClaims} from "./IPledgedClaims.sol";

/// @title Signed claims and lottery tickets. A worker signs a claim with each answer that it gives off chain, and the
/// payer then signs a ticket about it. Only a claim that is to be refuted, or whose ticket wins, is put on chain.
/// @dev Whether a ticket wins depends on a secret of the worker, of which the claim has the hash, and on the ticket,
/// which is signed after the claim: neither side knows the draw while it can choose. The face of a winner is reserved
/// from the payer's deposit for that worker when it is cashed, and paid once the claim is final. Both signatures are
/// EIP-712, of this contract and chain, with s in the lower half.
/// Invariant: this contract holds at least the sum of all deposits, reserved faces and earnings.
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
    error ClaimNotFinal(bytes32 claimId);
    error WorkerStopped(address worker);
    error InsufficientDeposit(address payer, address worker, uint256 deposit, uint256 needed);
    error NothingRequested(address payer, address worker);
    error WithdrawalNotReady(uint256 readyAt);
    error NothingEarned(address worker);

    event SignedClaimSubmitted(bytes32 indexed digest, bytes32 indexed claimId, address indexed worker, address payer);
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
    /// @param landing What else the entry needs.
    /// @return claimId The id of the pledged claim.
    function submitSigned(
        SignedClaim calldata claim,
        bytes calldata signature,
        Landing calldata landing
    ) external returns (bytes32 claimId);

    /* ---- Tickets ---- */

    /// @notice Cashes a ticket that wins, whose claim is on chain: reserves its face from the payer's deposit for the
    /// worker, who alone may. Of all tickets about a claim one is cashed, once.
    /// @dev Reverts with `NotOnChain`, `NotWorker`, `AlreadyCashed`, `WrongClaim`, `TicketExpired`, `ZeroFace`,
    /// `FaceTooLarge`, `WrongSecret`, `TicketLost`, `WrongSigner`, `WorkerStopped` or `InsufficientDeposit`.
    /// @param claim What the worker signed.
    /// @param ticket What the payer signed.
    /// @param signature The payer's signature, 65 bytes.
    /// @param secret The worker's secret of the claim.
    function cash(
        SignedClaim calldata claim,
        Ticket calldata ticket,
        bytes calldata signature,
        bytes32 secret
    ) external;

    /// @notice `submitSigned`, unless the claim is on chain, and `cash` in one call.
    /// @param claim What the worker signed.
    /// @param claimSignature Its signature, 65 bytes.
    /// @param landing What else the entry needs.
    /// @param ticket What the payer signed.
    /// @param ticketSignature The payer's signature, 65 bytes.
    /// @param secret The worker's secret of the claim.
    /// @return claimId The id of the pledged claim.
    function submitAndCash(
        SignedClaim calldata claim,
        bytes calldata claimSignature,
        Landing calldata landing,
        Ticket calldata ticket,
        bytes calldata ticketSignature,
        bytes32 secret
    ) external returns (bytes32 claimId);

    /// @notice Pays a cashed ticket whose claim is final, as earnings of the worker. If the worker was stopped, which
    /// it is once any of its claims is refuted, the face goes back to the payer's deposit. Anyone may call.
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

    /// @notice Asks for a part of the caller's deposit back. Until it is withdrawn, tickets that win are still paid
    /// from it, after the rest. A second request adds to the first and starts its delay anew.
    /// @dev Reverts with `ZeroAmount` or `InsufficientDeposit`.
    /// @param worker For whom the deposit is.
    /// @param amount What is asked for.
    function requestWithdrawal(address worker, uint256 amount) external;

    /// @notice Sends the caller what it asked for and is still there, after the delay.
    /// @dev Reverts with `NothingRequested` or `WithdrawalNotReady`, and as the token does.
    /// @param worker For whom the deposit is.
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
    function claimIdOf(bytes32 digest) external view returns (bytes32);

    /// @notice A cashed ticket.
    /// @param digest EIP-712 digest of the signed claim.
    /// @return payer Who pays it; zero if none was cashed.
    /// @return worker Whom it pays.
    /// @return face What is reserved for it; 0 once it is paid or returned.
    function cashed(bytes32 digest) external view returns (address payer, address worker, uint256 face);

    /// @notice A payer's deposit for a worker.
    /// @param payer Whose it is.
    /// @param worker Who may be paid from it.
    /// @return free What is there for tickets, without what is asked back.
    /// @return withdrawing What is asked back.
    /// @return readyAt When that can be withdrawn (unix time); 0 if nothing is asked back.
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
