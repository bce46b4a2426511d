// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Claim, ClaimKey, Job} from "../types/Job.sol";
import {PledgedEntry} from "../types/SignedClaim.sol";
import {ClaimStatus, Deployment} from "./IMarketEvents.sol";
import {IDisputeGame} from "./IDisputeGame.sol";
import {IStakeVault} from "./IStakeVault.sol";

/// @notice None: has not pledged. Active: backs claims. Releasing: backs what was issued before, and is asked back.
/// Stopped: a claim was refuted, for good.
enum PledgeStatus {
    None,
    Active,
    Releasing,
    Stopped
}

/// @notice A contract that may put claims of workers on chain, because it checks that they are bound to them.
/// @param account The contract.
/// @param lifetime Seconds after a claim was issued in which it can be put on chain.
struct Authoriser {
    address account;
    uint32 lifetime;
}

/// @title Claims that workers are bound to without having claimed a job: each is a job without a fee, with its claim,
/// in its window like any other. One collateral of its worker, the pledge, backs all of them.
/// @dev It is the market of a vault and a dispute game of its own. Its events are those of the job market, so that
/// watchers and workers follow both alike. The first claim that is refuted takes the pledge and stops the worker: none
/// of its claims is taken or becomes final afterwards, and no game is opened. Games that were open go on: whoever wins
/// gets its bond back, and its dues from what is left of the pledge.
/// Only contracts that were named at deployment put claims on chain. A worker's attestation is read when it pledges,
/// and never when a claim is put on chain.
interface IPledgedClaims {
    error NotAuthorised(address caller);
    error AuthoriserTwice(address account);
    error ZeroLifetime(address account);
    error WrongSink(address given, address expected);
    error ZeroSink();
    error AlreadyPledged(address worker, PledgeStatus status);
    error WrongPledgeStatus(address worker, PledgeStatus actual, PledgeStatus needed);
    error WorkerStopped(address worker, uint256 since);
    error NotIssuedYet(uint256 issued);
    error LifetimeOver(uint256 issued, uint256 until);
    error IssuedAfterRequest(uint256 issued, uint256 requested);
    error ClaimsOpen(address worker, uint256 claims);
    error NotYet(uint256 until);
    error NothingLeft(address worker);
    error WrongClaimRoot(bytes32 given, bytes32 actual);
    error NodesMissing();

    event Pledged(address indexed worker, uint256 collateral);
    event ReleaseRequested(address indexed worker, uint256 until);
    event PledgeReleased(address indexed worker, uint256 collateral);
    event WorkerHalted(address indexed worker, bytes32 indexed claimId, uint256 collateral);
    event RemainderSwept(address indexed worker, uint256 amount);

    /// @notice The caller pledges one collateral of its free stake: it backs the claims that it signs from now on.
    /// @dev Reverts with `AlreadyPledged`, the market's `NotLive`, or the vault's `InsufficientFreeStake`.
    function pledge() external;

    /// @notice The caller asks for its pledge back. It backs nothing that is issued from now on.
    /// @dev Reverts with `WrongPledgeStatus`.
    function requestRelease() external;

    /// @notice Unlocks the caller's pledge, once nothing that it backs can be put on chain and all its claims are final
    /// or refuted.
    /// @dev Reverts with `WrongPledgeStatus`, `NotYet` or `ClaimsOpen`.
    function release() external;

    /// @notice Puts a claim on chain: it is in its window from now on. Authorised contracts only.
    /// @dev Reverts with `NotAuthorised`, `WorkerStopped`, `WrongPledgeStatus`, `NotIssuedYet`, `LifetimeOver`,
    /// `IssuedAfterRequest`, `WrongClaimRoot` or `NodesMissing`, and with errors of the job market: of the term that is
    /// out of its range, `WrongInputCount`, `WrongInputLength`, `WrongInputRoot`, `ClaimExists`.
    /// @param entry The claim.
    /// @param nodes The nodes of its list that `IJobMarket.submit` takes. None is also taken for the roots of traces.
    /// @return claimId The claim's id.
    function enter(PledgedEntry calldata entry, bytes calldata nodes) external returns (bytes32 claimId);

    /// @notice Ends a claim whose window is over and which no open game disputes. Anyone may call.
    /// @dev Reverts with `WorkerStopped`, and the market's `WrongClaimStatus`, `WindowOpen` or `GamesOpen`.
    /// @param claim_ The whole claim.
    function finalise(Claim calldata claim_) external;

    /// @notice Sends what is left of a stopped worker's pledge to the sink, once every game about its claims is over or
    /// can be ended. Anyone may call.
    /// @dev Reverts with `WrongPledgeStatus`, `NotYet` or `NothingLeft`.
    /// @param worker Whose pledge it was.
    function sweep(address worker) external;

    /// @notice Game only: checks that a claim can be disputed and takes the challenger's bond.
    /// @dev Reverts with the market's `NotGame`, `WrongClaimStatus` or `WindowClosed`, with `WorkerStopped`, or the
    /// vault's `InsufficientCredit`.
    /// @param jobId The claim's job.
    /// @param claimId The claim.
    /// @param challenger Who opens the game.
    /// @param bond Smallest units of the stake asset.
    function gameOpened(bytes32 jobId, bytes32 claimId, address challenger, uint256 bond) external;

    /// @notice Game only: credits an account from what the games hold. What is due to nobody goes back to the pledge of
    /// the worker that was refuted, for its other games.
    /// @dev Reverts with the market's `NotGame`, or the vault's `InsufficientCustody`.
    /// @param account Who is paid.
    /// @param amount Smallest units of the stake asset.
    function pay(address account, uint256 amount) external;

    /// @notice Game only: a claim is refuted. The first one takes the worker's pledge and stops the worker.
    /// @dev Reverts with the market's `NotGame` or `WrongClaimStatus`.
    /// @param key The claim.
    /// @param claimId Its id.
    /// @return collateral What there is for the claim's games, in smallest units of the stake asset.
    /// @return bounty What of it the winner gets: nothing after the first one.
    function refuted(ClaimKey calldata key, bytes32 claimId) external returns (uint256 collateral, uint256 bounty);

    /// @notice What is kept of a worker's pledge.
    /// @param worker The worker.
    /// @return status Its status.
    /// @return time Since when it is pledged, or asked back, or the worker stopped (unix time); 0 without a pledge.
    /// @return claims Claims of the worker in their windows or disputed.
    /// @return left What is left of the pledge of a stopped worker, smallest units of the asset.
    function pledgeOf(
        address worker
    ) external view returns (PledgeStatus status, uint256 time, uint256 claims, uint256 left);

    /// @notice What is kept of a claim.
    /// @param claimId The claim.
    /// @return status Its status.
    /// @return time End of its window; of a final claim, since when it is final (unix time).
    /// @return worker Whose claim it is.
    function claimStatus(bytes32 claimId) external view returns (ClaimStatus status, uint256 time, address worker);

    /// @notice How long after it was issued a claim can be put on chain.
    /// @param account A contract.
    /// @return Seconds; 0 for a contract that may put none on chain.
    function lifetimeOf(address account) external view returns (uint256);

    /// @notice The id of a job with this content in this contract.
    /// @param job The whole job.
    /// @return The id.
    function jobIdOf(Job calldata job) external view returns (bytes32);

    /// @notice Who receives what is owed to nobody.
    /// @return Its address.
    function sink() external view returns (address);

    /// @notice The vault that holds all money of pledges and games.
    /// @return Its address.
    function vault() external view returns (IStakeVault);

    /// @notice The dispute game about these claims.
    /// @return Its address.
    function game() external view returns (IDisputeGame);

    /// @notice What this deployment is, as the job market says it of its own. The parameter `sink` is this contract.
    /// @return All of it.
    function deployment() external view returns (Deployment memory);
}
