// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ReentrancyGuard} from "@openzeppelin/contracts/utils/ReentrancyGuard.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {ClaimStatus} from "../../interfaces/IMarketEvents.sol";
import {IPledgedClaims, PledgeStatus} from "../../interfaces/IPledgedClaims.sol";
import {ITickets} from "../../interfaces/ITickets.sol";
import {ClaimId} from "../../types/Ids.sol";
import {ClaimEvidence, SignedClaim, Ticket} from "../../types/SignedClaim.sol";
import {SignedClaims} from "./SignedClaims.sol";
import {TicketAccounts} from "./TicketAccounts.sol";

/// @title Lottery tickets. See ITickets.
contract Tickets is SignedClaims, ReentrancyGuard {
    using SafeERC20 for IERC20;
    using SafeCast for uint256;

    /// @dev Of a payer for a worker; `readyAt` is a unix time.
    struct Deposit {
        uint128 free;
        uint128 withdrawing;
        uint64 readyAt;
    }

    /// @dev A cashed ticket. `payer` is never cleared, so no other ticket about the claim can be cashed.
    struct Cashed {
        address payer;
        uint96 face;
        address worker;
    }

    // Hashed by the compiler.
    // solhint-disable gas-small-strings
    bytes32 private constant TICKET_TYPE = keccak256(
        "Ticket(bytes32 claim,uint128 face,uint256 odds,uint64 expiry,bytes32 nonce)"
    );
    // solhint-enable gas-small-strings

    /// @inheritdoc ITickets
    IERC20 public immutable asset;
    /// @inheritdoc ITickets
    uint256 public immutable withdrawalDelay;
    /// @inheritdoc ITickets
    uint256 public immutable claimLifetime;

    mapping(address payer => mapping(address worker => Deposit)) private _deposits;
    mapping(bytes32 digest => Cashed) private _cashed;
    /// @inheritdoc ITickets
    mapping(address worker => uint256) public earnings;

    /// @dev Reverts with `NoCode` or `DelayTooShort`.
    /// @param claims_ The pledged claims, which receive signed claims. They are deployed after this contract and name
    /// it with the same lifetime.
    /// @param asset_ The stake asset.
    /// @param claimLifetime_ Seconds after issue during which a claim can be put on chain.
    /// @param withdrawalDelay_ Seconds between a withdrawal request and the payout of a deposit.
    constructor(
        IPledgedClaims claims_,
        IERC20 asset_,
        uint256 claimLifetime_,
        uint256 withdrawalDelay_
    ) SignedClaims(claims_) {
        require(address(asset_).code.length != 0, NoCode(address(asset_)));
        // INVARIANT: a ticket about a claim that was signed before the deposit was asked back can still be cashed.
        require(withdrawalDelay_ >= 2 * claimLifetime_, DelayTooShort(withdrawalDelay_, 2 * claimLifetime_));
        asset = asset_;
        claimLifetime = claimLifetime_;
        withdrawalDelay = withdrawalDelay_;
    }

    /* ---- Tickets ---- */

    /// @inheritdoc ITickets
    function submitAndCash(
        SignedClaim calldata claim,
        bytes calldata claimSignature,
        ClaimEvidence calldata evidence,
        Ticket calldata ticket,
        bytes calldata ticketSignature,
        bytes32 secret
    ) external returns (ClaimId claimId) {
        claimId = claimIdOf[claimDigest(claim)];
        // SAFETY: a payer that is first with the claim does not keep the worker from cashing.
        if (claimId == ClaimId.wrap(0)) claimId = submitSigned(claim, claimSignature, evidence);
        cash(claim, ticket, ticketSignature, secret);
    }

    /// @inheritdoc ITickets
    function collect(bytes32 digest) external {
        Cashed memory record = _cashed[digest];
        uint256 face = record.face;
        require(face != 0, NotCashed(digest));
        _cashed[digest].face = 0;
        // INVARIANT: a refuted worker's claims are never paid.
        if (_isStopped(record.worker)) {
            _deposits[record.payer][record.worker].free += uint128(face);
            emit TicketReturned(digest, record.payer, record.worker, face);
            return;
        }
        ClaimId claimId = claimIdOf[digest];
        (ClaimStatus status, , ) = claims.statusOf(claimId);
        require(status == ClaimStatus.Finalised, ClaimNotFinal(claimId));
        earnings[record.worker] += face;
        emit TicketPaid(digest, record.payer, record.worker, face);
    }

    /// @inheritdoc ITickets
    function cash(SignedClaim calldata claim, Ticket calldata ticket, bytes calldata signature, bytes32 secret) public {
        bytes32 digest = claimDigest(claim);
        require(ClaimId.unwrap(claimIdOf[digest]) != 0, NotOnChain(digest));
        // SAFETY: a payer who sees the secret in the pool would cash another ticket of nearly nothing first.
        require(msg.sender == claim.worker, NotWorker(msg.sender, claim.worker));
        // INVARIANT: a claim is paid once, however many tickets its payer signs.
        require(_cashed[digest].payer == address(0), AlreadyCashed(digest));
        require(ticket.claim == digest, WrongClaim(ticket.claim, digest));
        require(block.timestamp <= ticket.expiry, TicketExpired(ticket.expiry));
        uint256 face = ticket.face;
        require(face != 0, ZeroFace());
        require(face <= type(uint96).max, FaceTooLarge(face, type(uint96).max));
        bytes32 secretHash = keccak256(abi.encode(secret));
        require(secretHash == claim.secretHash, WrongSecret(secretHash, claim.secretHash));
        bytes32 ofTicket = ticketDigest(ticket);
        uint256 drawn = TicketAccounts.draw(secret, ofTicket);
        require(drawn < ticket.odds, TicketLost(drawn, ticket.odds));
        _requireSigner(ofTicket, signature, claim.payer);
        require(!_isStopped(claim.worker), WorkerStopped(claim.worker));
        Deposit memory d = _deposits[claim.payer][claim.worker];
        uint256 all = uint256(d.free) + d.withdrawing;
        require(face <= all, InsufficientDeposit(claim.payer, claim.worker, all, face));
        (uint256 free, uint256 withdrawing) = TicketAccounts.reserve(d.free, d.withdrawing, face);
        _deposits[claim.payer][claim.worker] = Deposit(uint128(free), uint128(withdrawing), d.readyAt);
        _cashed[digest] = Cashed(claim.payer, uint96(face), claim.worker);
        emit TicketCashed(digest, claim.payer, claim.worker, face);
    }

    /* ---- Money ---- */

    /// @inheritdoc ITickets
    // SAFETY: nonReentrant, because a token that calls back between the two balance readings would be counted twice.
    function deposit(address payer, address worker, uint256 amount) external nonReentrant {
        require(payer != address(0) && worker != address(0), ZeroAddress());
        require(amount != 0, ZeroAmount());
        uint256 before = asset.balanceOf(address(this));
        asset.safeTransferFrom(msg.sender, address(this), amount);
        uint256 arrived = asset.balanceOf(address(this)) - before;
        _deposits[payer][worker].free += arrived.toUint128();
        emit Deposited(payer, worker, msg.sender, arrived);
    }

    /// @inheritdoc ITickets
    function requestWithdrawal(address worker, uint256 amount) external {
        require(amount != 0, ZeroAmount());
        Deposit memory d = _deposits[msg.sender][worker];
        require(amount <= d.free, InsufficientDeposit(msg.sender, worker, d.free, amount));
        (uint256 free, uint256 withdrawing) = TicketAccounts.request(d.free, d.withdrawing, amount);
        uint256 readyAt = block.timestamp + withdrawalDelay;
        _deposits[msg.sender][worker] = Deposit(uint128(free), withdrawing.toUint128(), uint64(readyAt));
        emit WithdrawalRequested(msg.sender, worker, amount, readyAt);
    }

    /// @inheritdoc ITickets
    function withdraw(address worker) external nonReentrant {
        Deposit memory d = _deposits[msg.sender][worker];
        require(d.withdrawing != 0, NothingRequested(msg.sender, worker));
        require(block.timestamp >= d.readyAt, WithdrawalNotReady(d.readyAt));
        _deposits[msg.sender][worker] = Deposit(d.free, 0, 0);
        emit Withdrawn(msg.sender, worker, d.withdrawing);
        asset.safeTransfer(msg.sender, d.withdrawing);
    }

    /// @inheritdoc ITickets
    function withdrawEarnings(address to) external nonReentrant {
        require(to != address(0), ZeroAddress());
        uint256 amount = earnings[msg.sender];
        require(amount != 0, NothingEarned(msg.sender));
        earnings[msg.sender] = 0;
        emit EarningsWithdrawn(msg.sender, to, amount);
        asset.safeTransfer(to, amount);
    }

    /* ---- Views ---- */

    /// @inheritdoc ITickets
    function depositOf(
        address payer,
        address worker
    ) external view returns (uint256 free, uint256 withdrawing, uint256 readyAt) {
        Deposit memory d = _deposits[payer][worker];
        return (d.free, d.withdrawing, d.readyAt);
    }

    /// @inheritdoc ITickets
    function cashed(bytes32 digest) external view returns (address payer, address worker, uint256 face) {
        Cashed memory record = _cashed[digest];
        return (record.payer, record.worker, record.face);
    }

    /// @inheritdoc ITickets
    function ticketDigest(Ticket calldata ticket) public view returns (bytes32) {
        // All fields have a fixed size, and the struct's words therefore equal EIP-712's.
        return _hashTypedDataV4(keccak256(abi.encode(TICKET_TYPE, ticket)));
    }

    /* ---- Helpers ---- */

    function _isStopped(address worker) private view returns (bool) {
        (PledgeStatus status, , , ) = claims.pledgeOf(worker);
        return status == PledgeStatus.Stopped;
    }
}
